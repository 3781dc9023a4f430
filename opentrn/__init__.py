"""OpenTrn: an open PyTorch backend for the device `neuron` that runs with or without a Trainium chip.

`import torch` loads this package through the entry point group `torch.backends`; `import opentrn` loads it by hand.
"""

from opentrn._warning import OpenTrnWarning

__all__ = ["OpenTrnWarning", "__version__"]


def _autoload() -> None:
    """Registers the device with torch. Never raises: a broken installation must not break `import torch`."""
    from opentrn._load import load

    load()


def __getattr__(name: str) -> object:
    if name == "__version__":
        from opentrn._load import installed_version

        return installed_version()
    if name == "InternalError":
        from opentrn import _extension

        if _extension.is_loaded():
            return _extension.native.InternalError
    raise AttributeError(f"module 'opentrn' has no attribute '{name}'")


# torch imports this package while torch itself is still being imported, and this call imports torch, which then calls
# _autoload: it stands last, so that either order finds everything above defined.
_autoload()
