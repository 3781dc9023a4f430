"""Everything that touches a private part of torch, one module per torch minor version."""

import importlib
import types

_MODULES = {"2.13": "v2_13"}
SUPPORTED = tuple(_MODULES)


def select(torch_version: str) -> types.ModuleType | None:
    """The hooks for this torch, None when there are none."""
    minor = ".".join(torch_version.split("+")[0].split(".")[:2])
    name = _MODULES.get(minor)
    return importlib.import_module(f"opentrn.torch_versions.{name}") if name else None
