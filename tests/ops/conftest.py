import pytest
import torch


@pytest.fixture(autouse=True)
def strict():
    """Any fallback fails the test."""
    with torch.neuron.fallback("error"):
        yield
