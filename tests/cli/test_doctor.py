"""`opentrn doctor` and the tables."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_healthy(command):
    result = command("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(result.stdout)}
    problems = [check for check in checks.values() if check["status"] == "problem"]
    assert problems == []
    assert result.returncode == 0
    assert set(checks) >= {"torch", "build", "AWS package", "autoload", "device", "engine self-test", "memory", "CPU"}
    assert checks["engine self-test"]["status"] == "ok"


def test_text_says_what_to_do(command):
    result = command("doctor", OPENTRN_TARGET="xyz")
    assert result.returncode == 1
    text = " ".join(result.stdout.split())
    assert "problem device" in text
    assert "trn2" in text
    assert "do: " in text


def test_environment(command):
    result = command("env")
    assert result.returncode == 0, result.stderr
    for name in ("OPENTRN_TARGET", "OPENTRN_ENGINE", "OPENTRN_FALLBACK"):
        assert name in result.stdout


def test_piped_tables_have_one_line_a_row(command):
    lines = command("env").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]].count("OPENTRN_NUM_THREADS") == 1
    fused = [line for line in command("operators").stdout.splitlines() if "_fused_adamw_.tensor_lr" in line]
    assert len(fused) == 1
    assert "aten::_fused_adamw_.tensor_lr" in fused[0]


@pytest.mark.parametrize(
    ("name", "file"),
    [("env", "docs/environment.md"), ("operators", "docs/operators.md"), ("coverage", "docs/coverage.md")],
)
def test_documentation_is_current(command, name, file):
    result = command(name, "--markdown")
    assert result.returncode == 0, result.stderr
    assert (ROOT / file).read_text() == result.stdout, f"run: opentrn {name} --markdown > {file}"


def test_documentation_of_instructions_is_current(command):
    result = command("instructions", "--markdown")
    assert result.returncode == 0, result.stderr
    text = (ROOT / "docs/neuroncore.md").read_text()
    begin, end = "<!-- begin: opentrn instructions --markdown -->\n", "<!-- end -->\n"
    current = text[text.index(begin) + len(begin) : text.index(end)]
    assert current == result.stdout, f"put the output of `opentrn instructions --markdown` behind {begin}"


def test_instructions(command):
    lines = command("instructions").stdout.splitlines()
    matmul = [line for line in lines if line.startswith("nc_matmul")]
    assert len(matmul) == 1
    assert "stationary" in matmul[0]
