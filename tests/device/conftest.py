import pytest
import torch


@pytest.fixture
def strict():
    """Any fallback fails the test."""
    with torch.neuron.fallback("error"):
        yield
