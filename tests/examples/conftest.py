"""The examples as modules, and their models loaded once."""

import copy
import sys
from pathlib import Path

import pytest

import opentrn  # noqa: F401  registers the device even where autoload is off

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))


@pytest.fixture(scope="session")
def chat_models():
    """Tokenizer, model on the CPU and model on neuron."""
    import torch
    from _weights import load_chat

    tokenizer, model = load_chat(torch.float32)
    return tokenizer, model, copy.deepcopy(model).to("neuron")


@pytest.fixture(scope="session")
def embedding_models():
    """Tokenizer, model on the CPU and model on neuron."""
    from _weights import load_embedding

    tokenizer, model = load_embedding()
    return tokenizer, model, copy.deepcopy(model).to("neuron")


@pytest.fixture
def strict():
    """A fallback raises, and in the end none may have been counted while operators did run natively."""
    import torch

    torch.neuron.clear_op_tracking()
    with torch.neuron.fallback("error"):
        yield
    assert torch.neuron.get_fallback_ops() == []
    assert torch.neuron.get_executed_ops() != []
