"""The set-up scripts find what is installed, and say exactly what is missing when they may not install it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"
ORDINARY_TOOLS = ("sh", "dirname", "cut", "env")


@pytest.fixture
def machine(tmp_path):
    """A PATH with ordinary tools only: no compiler, no Python, no right to install anything."""
    for tool in ORDINARY_TOOLS:
        (tmp_path / tool).symlink_to(shutil.which(tool))
    put(tmp_path, "id", "echo 1000")
    put(tmp_path, "apt-get", f'echo "apt-get $*" >> {tmp_path}/log')
    return tmp_path


def put(machine: Path, name: str, script: str) -> None:
    """Puts a command on the machine's PATH."""
    path = machine / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def run(script: str, machine: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess:
    environment = {"PATH": str(machine), "PYTHON": sys.executable, **variables}
    return subprocess.run(["/bin/sh", TOOLS / script, *arguments], capture_output=True, text=True, env=environment)


def test_a_missing_compiler_is_named_with_the_command_that_installs_it(machine):
    result = run("setup_system.sh", machine, "build")
    assert result.returncode == 1
    assert "sudo apt-get install -y --no-install-recommends g++\n" in result.stderr
    assert not (machine / "log").exists()


def test_optional_packages_stop_nothing(machine):
    put(machine, "g++", "echo 12")
    result = run("setup_system.sh", machine, "build")
    assert result.returncode == 0, result.stderr
    assert "optional system packages that are missing: ccache" in result.stdout


def test_nothing_is_said_when_nothing_is_missing(machine):
    put(machine, "g++", "echo 12")
    put(machine, "ccache", "")
    result = run("setup_system.sh", machine, "build")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_root_installs_what_is_missing(machine):
    put(machine, "id", "echo 0")
    result = run("setup_system.sh", machine, "build")
    assert result.returncode == 0, result.stderr
    assert (machine / "log").read_text().splitlines() == [
        "apt-get update -q",
        "apt-get install -y --no-install-recommends g++",
        "apt-get install -y --no-install-recommends ccache",
    ]


def test_sudo_without_a_password_installs_what_is_missing(machine):
    put(machine, "sudo", '[ "$1" = -n ] && exit 0; exec "$@"')
    result = run("setup_system.sh", machine, "build")
    assert result.returncode == 0, result.stderr
    assert "apt-get install -y --no-install-recommends g++" in (machine / "log").read_text()


def test_a_failed_installation_stops_the_set_up(machine):
    put(machine, "sudo", '[ "$1" = -n ] && exit 0; exec "$@"')
    put(machine, "apt-get", '[ "$1" = update ] || exit 100')
    assert run("setup_system.sh", machine, "build").returncode == 100


def test_an_old_compiler_is_passed_over(machine):
    put(machine, "g++", "echo 11")
    put(machine, "g++-13", "echo 13")
    assert run("find_cxx.sh", machine).stdout.strip() == str(machine / "g++-13")


def test_the_compiler_of_the_user_wins(machine):
    put(machine, "g++", "echo 13")
    assert run("find_cxx.sh", machine, CXX="my-compiler").stdout.strip() == "my-compiler"


def test_an_old_python_is_refused(machine):
    put(machine, "python3", "exit 1")
    result = run("find_python.sh", machine, PYTHON="")
    assert result.returncode == 1
    assert "no Python 3.11 or newer found" in result.stderr


def test_python_is_found_on_the_path(machine):
    (machine / "python3").symlink_to(sys.executable)
    assert run("find_python.sh", machine, PYTHON="").stdout.strip() == str(machine / "python3")
