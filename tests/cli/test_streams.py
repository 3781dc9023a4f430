"""`opentrn run` when output streams are missing, closed or unread, and options that belong to a module."""

import json
import subprocess
import sys

import pytest

ADD = "import torch\nx = torch.ones(3, device='neuron') + 1\nprint('sum', x.sum().item())\n"


def run_in_shell(redirection, script, tmp_path, environment):
    (tmp_path / "script.py").write_text(script)
    command = f"'{sys.executable}' -m opentrn.cli run script.py {redirection}"
    return subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("redirection", [">&-", "<&-", "2>&-", ">&- 2>&-"])
def test_closed_streams(redirection, tmp_path, environment):
    result = run_in_shell(redirection, ADD, tmp_path, environment)
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr
    assert json.loads((tmp_path / "report.json").read_text())["exit_status"] == 0


def test_summary_never_goes_to_stdout(tmp_path, environment):
    result = run_in_shell("2>&-", ADD, tmp_path, environment)
    assert result.stdout == "sum 6.0\n"


def test_script_that_closes_its_output(tmp_path, environment):
    result = run_in_shell("", ADD + "import sys\nsys.stdout.close()\n", tmp_path, environment)
    assert result.returncode == 0, result.stderr
    assert "Command" in result.stderr


def test_unread_pipe_still_gives_report(tmp_path, environment):
    script = "import sys\nfor i in range(100000):\n    print(i)\n"
    result = run_in_shell("| head -1; exit ${PIPESTATUS[0]}", script, tmp_path, environment)
    assert result.returncode == 1
    assert result.stdout == "0\n"
    assert json.loads((tmp_path / "report.json").read_text())["exception"] == "BrokenPipeError"


@pytest.mark.parametrize("option", [["-m", "show"], ["-mshow"], ["--report", "r.json", "-m", "show"]])
def test_options_behind_a_module_are_its_own(option, command, tmp_path):
    (tmp_path / "show.py").write_text("import sys\nprint(sys.argv[1:])\n")
    words = ["-m", "slow", "--report", "other.json", "-h", "--", "--fallback", "x"]
    result = command("run", *option, *words)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == str(words)
    assert not (tmp_path / "other.json").exists()


def test_module_without_a_name(command):
    result = command("run", "-m")
    assert result.returncode == 2
    assert "requires an argument" in result.stderr
