"""Each source check finds a violation in a tree made for it, and finds none in a clean one."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"
CLEAN_HEADER = "#pragma once\n"
CLEAN_SOURCE = '#include "ir/graph.h"\n\n#include <vector>\n\nint twice(int x) { return 2 * x; }\n'
CLEAN_PYTHON = '"""A module."""\n\nANSWER = 42\n'


def run_check(name: str, root: Path) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, TOOLS / name, root], capture_output=True, text=True)


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def tree(tmp_path):
    """A repository that every check accepts."""
    write(tmp_path, "csrc/ir/graph.h", CLEAN_HEADER)
    write(tmp_path, "csrc/ir/graph.cpp", CLEAN_SOURCE)
    write(tmp_path, "opentrn/module.py", CLEAN_PYTHON)
    return tmp_path


def complains(check: str, root: Path, *expected: str) -> None:
    result = run_check(check, root)
    assert result.returncode == 1, result.stdout + result.stderr
    for text in expected:
        assert text in result.stdout


def test_a_clean_tree_passes(tree):
    result = run_check("check.py", tree)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count(": ok") == 4


def test_all_checks_are_run(tree):
    write(tree, "csrc/base/a.cpp", '#include "ir/graph.h"\n')
    write(tree, "csrc/base/long.cpp", "\n" * 501)
    write(tree, "docs/a.md", "see " + "/" + "tmp/notes\n")
    write(tree, "opentrn/a.py", "import os\n")
    complains("check.py", tree, "layer includes: 1", "file length: 1", "machine paths: 1", "format and lint: 2")


@pytest.mark.parametrize(
    ("name", "header", "complaint"),
    [
        ("csrc/base/a.cpp", '"ir/graph.h"', "base includes ir/graph.h, a later layer"),
        ("csrc/runtime/a.h", '"torch/guard.h"', "a later layer"),
        ("csrc/neuroncore/a.h", '"ir/graph.h"', "must know nothing of ir"),
        ("csrc/ir/a.h", '"graph.h"', "does not start with a layer"),
        ("csrc/lowering/a.cpp", "<ATen/core/Tensor.h>", "outside csrc/torch"),
        ("csrc/runtime/a.cpp", "<Python.h>", "outside csrc/torch"),
        ("tests/cpp/ir/a_test.cpp", "<c10/core/Device.h>", "outside csrc/torch"),
        ("csrc/torch/a.cpp", "<torch/extension.h>", "torch/extension.h"),
        ("csrc/strange/a.cpp", "<vector>", "'strange' is no layer"),
    ],
)
def test_layers_finds(tree, name, header, complaint):
    write(tree, name, f"#include {header}\n")
    complains("check_layers.py", tree, name, complaint)


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("csrc/torch/a.cpp", "<ATen/core/Tensor.h>"),
        ("csrc/torch/a.cpp", '"base/error.h"'),
        ("csrc/compiler/a.cpp", '"neuroncore/machine.h"'),
        ("csrc/ir/a.cpp", '"ir/graph.h"'),
        ("csrc/runtime/a.cpp", "<vector>"),
    ],
)
def test_layers_allows(tree, name, header):
    write(tree, name, f"#include {header}\n")
    assert run_check("check_layers.py", tree).returncode == 0


def test_length_finds_501_lines(tree):
    write(tree, "csrc/ir/long.cpp", "\n" * 501)
    complains("check_length.py", tree, "long.cpp: 501 lines")


def test_length_allows_500_lines_or_a_reason(tree):
    write(tree, "csrc/ir/full.cpp", "\n" * 500)
    write(tree, "csrc/ir/long.cpp", "// long file: one table\n" + "\n" * 600)
    assert run_check("check_length.py", tree).returncode == 0


def test_length_wants_the_reason_near_the_top(tree):
    write(tree, "csrc/ir/long.cpp", "\n" * 600 + "// long file: one table\n")
    complains("check_length.py", tree, "long.cpp")


@pytest.mark.parametrize("path", ["/" + "tmp/x", "/" + "work/main", "/" + "home/me/x", "../" + "shared/design.md"])
def test_paths_finds(tree, path):
    write(tree, "docs/notes.md", f"fine\nsee `{path}`\n")
    complains("check_paths.py", tree, "notes.md:2")


@pytest.mark.parametrize("path", ["/usr/src/googletest", "tests/tmp/x", "https://example.org/home/page", "a / tmp"])
def test_paths_allows(tree, path):
    write(tree, "docs/notes.md", f"{path}\n")
    assert run_check("check_paths.py", tree).returncode == 0


def test_format_finds_cpp_layout(tree):
    write(tree, "csrc/ir/a.cpp", "int  f( ){return 1;}\n")
    complains("check_format.py", tree, "a.cpp:1", "clang-format-violations")


def test_format_finds_python_layout(tree):
    write(tree, "opentrn/a.py", "x = [1,2]\n")
    complains("check_format.py", tree, "a.py")


def test_format_finds_python_faults(tree):
    write(tree, "opentrn/a.py", "import os\n")
    complains("check_format.py", tree, "F401")


def test_only_files_that_git_does_not_ignore_are_checked(tree):
    subprocess.run(["git", "init", "--quiet", tree], check=True)
    write(tree, ".gitignore", "build/\n")
    write(tree, "build/generated.cpp", "\n" * 501)
    assert run_check("check_length.py", tree).returncode == 0
    write(tree, "csrc/ir/long.cpp", "\n" * 501)
    complains("check_length.py", tree, "long.cpp")


def test_clang_finds_a_warning(tree):
    write(tree, "csrc/base/pch.h", "#pragma once\n")
    write(tree, "csrc/ir/a.cpp", "int f(long x) { return x; }\n")
    result = run_check("check_clang.py", tree)
    if "not run" in result.stdout:
        pytest.skip("clang is not installed")
    assert result.returncode == 1
    assert "shorten-64-to-32" in result.stdout
