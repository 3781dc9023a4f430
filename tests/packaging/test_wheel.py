"""The wheel works in a fresh environment, and a broken installation leaves `import torch` working."""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
REPORT = """
import torch
print("available", torch.neuron.is_available())
print("sum", (torch.ones(2) + 1).tolist())
"""


def run(*command, **options) -> subprocess.CompletedProcess:
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel, built in a folder that later runs reuse, with the flags of `make build` so that ccache can help."""
    folder = tmp_path_factory.mktemp("wheel")
    build = f"build-dir={REPOSITORY / 'build' / 'wheel'}"
    pip_wheel = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation")
    run(*pip_wheel, "-C", build, "-C", "cmake.define.OPENTRN_WERROR=ON", "--wheel-dir", folder, REPOSITORY)
    (path,) = folder.glob("opentrn-*.whl")
    return path


class Environment:
    """A virtual environment with the wheel in it that finds torch where this interpreter does."""

    def __init__(self, folder: Path, wheel: Path):
        self.folder = folder
        run(sys.executable, "-m", "venv", "--without-pip", folder)
        self.python = folder / "bin" / "python"
        (self.site_packages,) = folder.glob("lib/python*/site-packages")
        (self.site_packages / "torch_of_parent.pth").write_text(sysconfig.get_path("purelib") + "\n")
        run(sys.executable, "-m", "pip", "--python", self.python, "install", "--no-deps", "--no-index", wheel)
        self.package = self.site_packages / "opentrn"

    def execute(self, *arguments) -> subprocess.CompletedProcess:
        """Runs Python outside the repository, with warnings shown and nothing inherited that would change loading."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TORCH_"))}
        return run(self.python, "-W", "default", *arguments, cwd=self.folder, env=inherited)

    def report(self) -> subprocess.CompletedProcess:
        return self.execute("-c", REPORT)


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory) -> Environment:
    return Environment(tmp_path_factory.mktemp("venv"), wheel)


@pytest.fixture
def package(environment) -> Path:
    """The installed package; whatever a test does to it is undone."""
    copy = environment.folder / "opentrn_as_installed"
    shutil.copytree(environment.package, copy)
    yield environment.package
    shutil.rmtree(environment.package)
    copy.rename(environment.package)


def assert_broken_but_harmless(result: subprocess.CompletedProcess, cause: str) -> None:
    """torch works, the device is unavailable, and one warning says why and what to do."""
    assert "available False" in result.stdout
    assert "sum [2.0, 2.0]" in result.stdout
    warnings = [line for line in result.stderr.splitlines() if "OpenTrnWarning: " in line]
    assert len(warnings) == 1, result.stderr
    assert cause in warnings[0]
    assert "do: " in warnings[0]


def test_wheel_holds_the_package_and_its_libraries_only(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    for name in ("opentrn/__init__.py", "opentrn/_build_info.py", "opentrn/libopentrn.so", f"opentrn/_C{suffix}"):
        assert names.count(name) == 1
    assert [name for name in names if name.endswith(".so") and not name.startswith("opentrn/")] == []
    assert {name.split("/")[0].split("-")[0] for name in names} == {"opentrn"}


def test_wheel_pins_the_torch_it_was_built_for(environment):
    requires = environment.execute("-c", "import importlib.metadata as m; print(m.requires('opentrn'))").stdout
    built_for = environment.execute("-c", "from opentrn import _build_info; print(_build_info.TORCH_VERSION)").stdout
    assert f"torch=={built_for.split('+')[0].strip()}" in requires


def test_device_works_in_a_fresh_environment(environment):
    result = environment.execute("-c", 'import torch; print((torch.ones(2, device="neuron") + 1).tolist())')
    assert result.stdout.strip() == "[2.0, 2.0]"
    assert "OpenTrnWarning" not in result.stderr


def test_the_installed_package_is_what_runs(environment):
    result = environment.execute("-c", "import opentrn._C; print(opentrn._C.__file__)")
    assert Path(result.stdout.strip()).parent == environment.package


def test_command_line_is_installed(environment):
    result = run(environment.folder / "bin" / "opentrn", "--help", cwd=environment.folder)
    assert "doctor" in result.stdout


def test_garbage_library(environment, package):
    (package / "libopentrn.so").write_bytes(b"not a library")
    assert_broken_but_harmless(environment.report(), "its library cannot be loaded")


def test_missing_library(environment, package):
    (package / "libopentrn.so").unlink()
    assert_broken_but_harmless(environment.report(), "its library cannot be loaded")


def test_missing_extension(environment, package):
    (extension,) = package.glob("_C*.so")
    extension.unlink()
    assert_broken_but_harmless(environment.report(), "its library cannot be loaded")


def test_wrong_torch_minor(environment, package):
    record = package / "_build_info.py"
    text = record.read_text()
    assert 'TORCH_VERSION = "2.13.' in text
    record.write_text(text.replace('TORCH_VERSION = "2.13.', 'TORCH_VERSION = "2.12.'))
    assert_broken_but_harmless(environment.report(), "built for torch 2.12")
