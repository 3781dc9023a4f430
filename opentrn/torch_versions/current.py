"""The hooks for the torch in this process."""

import torch

from opentrn import torch_versions

hooks = torch_versions.select(torch.__version__)
