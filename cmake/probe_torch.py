"""Prints, as JSON, where torch's headers and libraries are and how it was built."""

import json
from pathlib import Path

import torch

root = Path(torch.__file__).parent
facts = {
    "version": torch.__version__,
    "cxx11_abi": int(torch.compiled_with_cxx11_abi()),
    "library_dir": str(root / "lib"),
    "include_dirs": f"{root / 'include'};{root / 'include/torch/csrc/api/include'}",
}
print(json.dumps(facts))
