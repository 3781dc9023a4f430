import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))  # for differential.py


@pytest.fixture(autouse=True)
def strict():
    """Any fallback fails the test."""
    with torch.neuron.fallback("error"):
        yield
