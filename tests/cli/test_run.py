"""`opentrn run`: the script behaves as under python, and a summary and a report follow."""

import json
import signal
import subprocess
import sys

ADD = """
import torch
x = torch.ones(8, device="neuron")
for _ in range(10):
    x = x + x
print(x.sum().item())
"""


def summary_of(result) -> str:
    return " ".join(result.stderr.split())


def test_summary_and_report(command, tmp_path):
    (tmp_path / "add.py").write_text(ADD)
    result = command("run", "add.py")
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "8192.0"
    summary = summary_of(result)
    assert "Command add.py" in summary
    assert "Fallbacks none" in summary
    assert "add.py:6" in summary
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["schema"] == 1
    assert report["command"] == ["add.py"]
    assert report["exit_status"] == 0
    assert report["exception"] is None
    assert report["target"] == "trn2"
    calls = {row["name"]: row["calls"] for row in report["statistics"]["operators"]}
    assert calls["aten::add.Tensor"] == 10
    assert report["statistics"]["fallbacks"] == []
    assert report["statistics"]["programs"]["cache_hits"] >= 9
    assert report["statistics"]["memory"]["peak_allocated"] > 0
    waits = report["statistics"]["synchronisations"]
    assert [(row["line"], row["kind"], row["count"]) for row in waits] == [("add.py:6", "item", 1)]
    kinds = report["statistics"]["milliseconds"]
    assert 0 < kinds["engine"] < report["wall_milliseconds"]


def test_dump_writes_graph_and_program(command, tmp_path):
    (tmp_path / "add.py").write_text(ADD)
    result = command("run", "--dump", "programs", "add.py")
    assert result.returncode == 0, result.stderr
    names = sorted(path.name for path in (tmp_path / "programs").iterdir())
    graphs = [name for name in names if name.endswith(".mlir")]
    assert [name.removesuffix(".mlir") for name in graphs] == [
        name.removesuffix(".program") for name in names if name.endswith(".program")
    ]
    add = next(name for name in graphs if "add.Tensor" in name)
    assert "stablehlo.add" in (tmp_path / "programs" / add).read_text()
    program = (tmp_path / "programs" / add).with_suffix(".program").read_text()
    assert "tensor_tensor" in program
    assert "dma_copy" in program


def test_the_target_changes_limits_and_programs(command, tmp_path):
    """Rows that fit in the SBUF of one chip and not in that of another are computed in one pass and in several."""
    script = "import torch\nfor n in (12000, 13500, 16000):\n    torch.softmax(torch.ones(2, n, device='neuron'), -1)\n"
    (tmp_path / "softmax.py").write_text(script)
    programs = {}
    for target in ("trn1", "trn2", "trn3"):
        result = command("run", "--dump", target, "softmax.py", OPENTRN_TARGET=target)
        assert result.returncode == 0, result.stderr
        texts = [path.read_text() for path in sorted((tmp_path / target).glob("*softmax*.program"))]
        assert len(texts) == 3
        assert all(f'target "{target}"' in text for text in texts)
        programs[target] = [text.replace(f'target "{target}"', "") for text in texts]
    same = {
        pair: [left == right for left, right in zip(programs[pair[0]], programs[pair[1]], strict=True)]
        for pair in (("trn1", "trn2"), ("trn2", "trn3"))
    }
    assert same == {("trn1", "trn2"): [True, False, True], ("trn2", "trn3"): [True, True, False]}


def test_arguments_and_main_are_those_of_python(command, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "helper.py").write_text("value = 7\n")
    script = "import sys, helper\nprint(sys.argv, __name__, helper.value)\nassert sys.modules['__main__'].sys is sys\n"
    (tmp_path / "folder" / "show.py").write_text(script)
    result = command("run", "--report", "r.json", "folder/show.py", "-m", "--report", "x")
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "['folder/show.py', '-m', '--report', 'x'] __main__ 7"
    assert (tmp_path / "r.json").exists()


def test_module(command, tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "__main__.py").write_text("import sys\nprint(sys.argv[1:], __package__)\n")
    result = command("run", "-m", "package", "one", "--two")
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "['one', '--two'] package"


def test_script_without_device(command, tmp_path):
    (tmp_path / "plain.py").write_text("print('plain')\n")
    result = command("run", "plain.py")
    assert "never used" in result.stderr
    assert json.loads((tmp_path / "report.json").read_text())["statistics"] is None


def test_failing_script_keeps_traceback_and_exit_code(command, tmp_path):
    text = ADD + "def f():\n    raise ValueError('boom')\nf()\n"
    (tmp_path / "fail.py").write_text(text)
    result = command("run", "fail.py")
    plain = subprocess.run(
        [sys.executable, "-c", "raise ValueError('boom')"], capture_output=True, text=True, check=False
    )
    assert result.returncode == plain.returncode == 1
    traceback = result.stderr[: result.stderr.index("ValueError: boom")]
    assert traceback.startswith("Traceback (most recent call last):")
    assert traceback.count("File ") == 2
    assert traceback.count("fail.py") == 2
    assert "10 calls" in summary_of(result) or "calls of" in summary_of(result)
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["exit_status"], report["exception"]) == (1, "ValueError")
    assert report["statistics"]["operators"]


def test_syntax_error_looks_as_under_python(command, tmp_path):
    (tmp_path / "broken.py").write_text("x = (\n")
    result = command("run", "broken.py")
    plain = subprocess.run([sys.executable, "broken.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == plain.returncode
    assert "SyntaxError: '(' was never closed" in result.stderr
    assert "runpy" not in result.stderr


def test_exit_codes(command, tmp_path):
    (tmp_path / "three.py").write_text("import sys\nsys.exit(3)\n")
    (tmp_path / "text.py").write_text("import sys\nsys.exit('no more')\n")
    assert command("run", "three.py").returncode == 3
    result = command("run", "text.py")
    assert result.returncode == 1
    assert result.stderr.startswith("no more\n")


def test_interrupt_stops_promptly_with_summary(environment, tmp_path):
    script = """
import torch
x = torch.ones(64, 64, device="neuron")
print("ready", flush=True)
while True:
    x = torch.tanh(x @ x)
"""
    (tmp_path / "forever.py").write_text(script)
    child = subprocess.Popen(
        [sys.executable, "-m", "opentrn.cli", "run", "forever.py"],
        cwd=tmp_path,
        env=environment,
        # Background jobs of a shell ignore SIGINT and hand that down; a user's shell does not.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout.readline().strip() == "ready"
        child.send_signal(signal.SIGINT)
        _, stderr = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == 130
    assert "KeyboardInterrupt" in stderr
    assert "Command forever.py" in " ".join(stderr.split())
    assert "exit status 130" in stderr
    assert json.loads((tmp_path / "report.json").read_text())["exception"] == "KeyboardInterrupt"


FALLBACK = """
import torch
x = torch.linspace(0, 1, 8).to("neuron")
y = torch.special.airy_ai(x)
print(y.device)
"""


def test_fallback_is_shown_with_its_line(command, tmp_path):
    (tmp_path / "airy.py").write_text(FALLBACK)
    result = command("run", "airy.py")
    assert result.returncode == 0, result.stderr
    assert "special_airy_ai" in result.stderr
    rows = json.loads((tmp_path / "report.json").read_text())["statistics"]["fallbacks"]
    assert [(row["calls"], row["line"]) for row in rows] == [(1, "airy.py:4")]
    assert rows[0]["bytes_to_host"] == 32


def test_strict_mode_raises(command, tmp_path):
    (tmp_path / "airy.py").write_text(FALLBACK)
    result = command("run", "--fallback", "error", "airy.py")
    assert result.returncode == 1
    assert "special_airy_ai" in result.stderr


def test_one_line_at_exit_without_the_command(environment, tmp_path):
    (tmp_path / "airy.py").write_text(FALLBACK)
    script = [sys.executable, "-W", "ignore", "-c", "import opentrn, runpy; runpy.run_path('airy.py')"]
    result = subprocess.run(script, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    lines = [line for line in result.stderr.splitlines() if "ran on the CPU instead" in line]
    assert len(lines) == 1
    assert "1 call " in lines[0]


def test_bad_usage(command):
    assert command("run").returncode == 2
    result = command("run", "missing.py")
    assert result.returncode == 2
    assert "there is no such script, got missing.py" in result.stderr


def test_report_that_cannot_be_written(command, tmp_path):
    (tmp_path / "plain.py").write_text("print('plain')\n")
    (tmp_path / "taken").write_text("")
    result = command("run", "--report", "taken/report.json", "plain.py")
    assert result.returncode == 0
    assert "could not be written" in result.stderr


def test_report_of_a_plain_process(environment, tmp_path):
    (tmp_path / "add.py").write_text("import opentrn\n" + ADD)
    variables = {**environment, "OPENTRN_REPORT": "plain.json"}
    subprocess.run([sys.executable, "add.py"], cwd=tmp_path, env=variables, check=True, capture_output=True)
    report = json.loads((tmp_path / "plain.json").read_text())
    assert report["exit_status"] is None
    assert {row["name"]: row["calls"] for row in report["statistics"]["operators"]}["aten::add.Tensor"] == 10
    assert report["statistics"]["milliseconds"]["engine"] > 0
