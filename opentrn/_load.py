"""Loads the C++ extension and registers the device `neuron` with torch, or says why it cannot."""

import dataclasses
import importlib
import importlib.metadata
import importlib.util
import sys
import types
import warnings

from opentrn import _extension
from opentrn._warning import OpenTrnWarning

DEVICE_NAME = "neuron"
AWS_PACKAGE = "torch_neuronx"


@dataclasses.dataclass(frozen=True)
class LoadState:
    """How loading went. `registered` means that torch knows the device; a state that is not final is tried again."""

    registered: bool
    cause: str = ""
    remedy: str = ""
    final: bool = True


class LoadError(Exception):
    """Why the device cannot be registered, and what the user can do about it."""

    def __init__(self, cause: str, remedy: str, final: bool = True):
        super().__init__(cause)
        self.state = LoadState(registered=False, cause=cause, remedy=remedy, final=final)


_state: LoadState | None = None


def load() -> None:
    """Registers the device once. A failure costs one warning and leaves `torch.neuron` present but unavailable."""
    global _state
    if _is_settled():
        return
    # Importing torch may call this function again through the entry point; the inner call then has done the work.
    torch, error = _import_torch()
    if _is_settled():
        return
    if error is None and importlib.util.find_spec(AWS_PACKAGE) is not None:
        _state = _deferred_to_aws()
        return
    _state = LoadState(registered=False, cause="loading has not finished", remedy="do: report this as a fault")
    try:
        if error is not None:
            raise error
        _register(torch)
        _state = LoadState(registered=True)
    except LoadError as failure:
        _state = failure.state
    except Exception as failure:
        _state = LoadState(
            registered=False,
            cause=f"loading it raised {type(failure).__name__}: {failure}",
            remedy="do: run `opentrn doctor`, or reinstall opentrn",
        )
    if not _state.registered:
        _offer_unavailable_module(torch, _state)
    # Without torch its own import will fail and say so.
    if not _state.registered and _state.final:
        _warn(_state)


def _is_settled() -> bool:
    return _state is not None and _state.final


def state() -> LoadState:
    """How loading went."""
    load()
    assert _state is not None
    return _state


def installed_version() -> str:
    """The version of this package, from the build when there was one."""
    try:
        return importlib.import_module("opentrn._build_info").VERSION
    except Exception:
        pass
    try:
        return importlib.metadata.version("opentrn")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def build_info() -> types.ModuleType:
    """The record of the build. Raises LoadError when it is missing or unreadable."""
    try:
        info = importlib.import_module("opentrn._build_info")
    except Exception as error:
        raise LoadError(
            f"the record of its build cannot be read ({type(error).__name__}: {error})",
            "do: build opentrn (`make build`) or reinstall it",
        ) from error
    missing = [name for name in ("VERSION", "TORCH_VERSION", "TORCH_CXX11_ABI") if not hasattr(info, name)]
    if missing:
        raise LoadError(f"the record of its build lacks {', '.join(missing)}", "do: reinstall opentrn")
    return info


def minor_version(version: str) -> str:
    """'2.13' of '2.13.0+cpu'."""
    return ".".join(version.split("+")[0].split(".")[:2])


def _import_torch():
    try:
        return importlib.import_module("torch"), None
    except Exception as error:
        cause = f"torch cannot be imported ({type(error).__name__}: {error})"
        # Python imports the categories of -W options before it knows where packages are.
        return None, LoadError(cause, "do: install the torch version that opentrn was built for", final=False)


def _deferred_to_aws() -> LoadState:
    cause = f"AWS's package {AWS_PACKAGE} is installed and provides the device"
    remedy = f"do: uninstall {AWS_PACKAGE} to use OpenTrn in this environment"
    _extension.native = _extension.Unavailable(cause, remedy)
    return LoadState(registered=False, cause=cause, remedy=remedy)


def _register(torch) -> None:
    from opentrn import torch_versions

    info = build_info()
    _check_torch(torch, info)
    hooks = torch_versions.select(torch.__version__)
    if hooks is None:
        raise LoadError(
            f"torch {torch.__version__} is not supported",
            f"do: install torch {' or '.join(torch_versions.SUPPORTED)}",
        )
    taken = hooks.backend_name()
    if taken != hooks.UNNAMED_BACKEND or hasattr(torch, DEVICE_NAME):
        raise LoadError(
            f"another backend holds torch's private-use device under the name '{taken}'",
            "do: uninstall it, or set TORCH_DEVICE_BACKEND_AUTOLOAD=0 and import only the one you need",
        )
    _extension.native = _import_extension()
    hooks.register(DEVICE_NAME, importlib.import_module("opentrn.neuron"))
    importlib.import_module("opentrn._exit").install()


def _check_torch(torch, info) -> None:
    if minor_version(torch.__version__) != minor_version(info.TORCH_VERSION):
        raise LoadError(
            f"it was built for torch {info.TORCH_VERSION} and this is torch {torch.__version__}",
            f"do: install torch {minor_version(info.TORCH_VERSION)}, or rebuild opentrn for this torch",
        )
    if int(torch.compiled_with_cxx11_abi()) != int(info.TORCH_CXX11_ABI):
        raise LoadError(
            f"it was built with C++11 ABI {int(info.TORCH_CXX11_ABI)} and this torch has the other one",
            "do: rebuild opentrn for this torch",
        )


def _import_extension():
    try:
        return importlib.import_module("opentrn._C")
    except Exception as error:
        raise LoadError(
            f"its library cannot be loaded ({type(error).__name__}: {error})",
            "do: run `opentrn doctor`, then rebuild (`make build`) or reinstall opentrn",
        ) from error


def _offer_unavailable_module(torch, failure: LoadState) -> None:
    _extension.native = _extension.Unavailable(failure.cause, failure.remedy)
    if torch is None or hasattr(torch, DEVICE_NAME):
        return
    # torch's own registration insists on a device type of that name, which does not exist now.
    try:
        module = importlib.import_module("opentrn.neuron")
    except Exception:
        return
    setattr(torch, DEVICE_NAME, module)
    sys.modules[f"torch.{DEVICE_NAME}"] = module


def _warn(failure: LoadState) -> None:
    text = f"[opentrn] the device '{DEVICE_NAME}' is not available, {failure.cause}, {failure.remedy}"
    try:
        warnings.warn(text, OpenTrnWarning, stacklevel=2)
    except OpenTrnWarning:
        # Under `-W error` the warning would break `import torch`.
        print(f"OpenTrnWarning: {text}", file=sys.stderr)
