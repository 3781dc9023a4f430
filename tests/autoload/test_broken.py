"""Whatever state the installation is in, `import torch` works and says once what is wrong and what to do."""

from collections.abc import Callable

import pytest

# Prints what a user would notice: torch works, the device does not, and each function says why.
PROBE = """
import torch
assert torch.equal(torch.ones(2) + 1, torch.full((2,), 2.0))
torch.manual_seed(0)
print("file", __import__("opentrn").__file__)
print("available", torch.neuron.is_available(), torch.neuron.device_count(), torch.neuron.is_initialized())
for function in (torch.neuron.synchronize, torch.neuron.current_device, torch.neuron.memory_stats,
                 torch.neuron.get_executed_ops, torch.neuron.fallback_report, torch.neuron.current_stream):
    try:
        function()
    except RuntimeError as error:
        print("error", error)
    else:
        print("no error from", function.__name__)
"""


def edit_build_info(old: str, new: str) -> Callable:
    def apply(installation):
        path = installation.package / "_build_info.py"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    return apply


def without_build_info(installation):
    (installation.package / "_build_info.py").unlink()


def garbage_build_info(installation):
    (installation.package / "_build_info.py").write_text("VERSION = (\n")


def without_library(installation):
    installation.library.unlink()


def garbage_library(installation):
    installation.library.unlink()
    installation.library.write_bytes(b"this is not a shared library\n" * 100)


def raising_library(installation):
    installation.library.unlink()
    (installation.package / "_C.py").write_text("raise RuntimeError('the moon is in the wrong phase')\n")


STATES = {
    "torch minor": (edit_build_info('TORCH_VERSION = "2.13', 'TORCH_VERSION = "2.12'), "built for torch 2.12"),
    "C++ ABI": (edit_build_info("TORCH_CXX11_ABI = 1", "TORCH_CXX11_ABI = 0"), "C++11 ABI 0"),
    "no build record": (without_build_info, "record of its build cannot be read"),
    "garbage build record": (garbage_build_info, "SyntaxError"),
    "no library": (without_library, "library cannot be loaded"),
    "garbage library": (garbage_library, "library cannot be loaded"),
    "library that raises": (raising_library, "the moon is in the wrong phase"),
}


@pytest.mark.parametrize("state", STATES)
def test_torch_works_and_one_warning_names_cause_and_remedy(installation, state):
    damage, cause = STATES[state]
    damage(installation)
    result = installation.python("-c", PROBE)
    assert result.returncode == 0, result.stderr
    assert str(installation.package) in result.stdout
    assert result.stderr.count("OpenTrnWarning") == 1, result.stderr
    assert cause in result.stderr
    assert ", do: " in result.stderr
    assert "available False 0 False" in result.stdout
    assert "no error" not in result.stdout
    errors = [line for line in result.stdout.splitlines() if line.startswith("error")]
    assert len(errors) == 6
    assert all("[neuron] the device is not available" in line and cause in line for line in errors)


def test_warnings_as_errors_do_not_break_torch(installation):
    without_library(installation)
    result = installation.python("-W", "error::opentrn._warning.OpenTrnWarning", "-c", PROBE)
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("the device 'neuron' is not available") == 1


def test_warning_filter_of_the_program_does_not_break_torch(installation):
    without_library(installation)
    result = installation.python("-c", "import warnings; warnings.simplefilter('error')\n" + PROBE)
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("the device 'neuron' is not available") == 1


def test_doctor_explains_a_broken_library(installation):
    garbage_library(installation)
    result = installation.python("-W", "ignore", "-m", "opentrn.cli", "doctor", "--json")
    assert result.returncode == 1
    assert "library cannot be loaded" in result.stdout


def test_run_still_runs_the_script(installation):
    without_library(installation)
    (installation.root / "script.py").write_text("print('hello')\n")
    result = installation.python("-m", "opentrn.cli", "run", "script.py")
    assert result.returncode == 0, result.stderr
    assert "hello" in result.stdout
    assert "not available: its library cannot be loaded" in " ".join(result.stderr.split())


def test_another_backend_has_the_device(installation):
    code = "import torch; torch.utils.rename_privateuse1_backend('other'); import opentrn\n" + PROBE
    result = installation.python("-c", code, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("OpenTrnWarning") == 1
    assert "under the name 'other'" in result.stderr
    assert "available False" in result.stdout


def test_aws_package_keeps_the_device(installation):
    package = installation.root / "torch_neuronx"
    package.mkdir()
    (package / "__init__.py").write_text("")
    result = installation.python("-c", "import torch; print(hasattr(torch, 'neuron'), torch.ones(1).item())")
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["False", "1.0"]
    assert result.stderr == ""
    doctor = installation.python("-m", "opentrn.cli", "doctor")
    assert doctor.returncode == 1
    assert "torch_neuronx is installed" in " ".join(doctor.stdout.split())
