"""A small GPT learns on neuron exactly as on the CPU."""

from pathlib import Path

import pytest
import torch
import train

DOCUMENTATION = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def text():
    return train.read_text(DOCUMENTATION)


def test_loss_curve_equals_that_of_the_cpu(text, strict):
    expected = train.train(text, "cpu", steps=50)
    result = train.train(text, "neuron", steps=50)
    difference = (torch.tensor(result, dtype=torch.float64) - torch.tensor(expected, dtype=torch.float64)).abs()
    assert difference.max() <= 1e-4
    assert result[-1] < result[0] - 1


def test_dropout_trains_and_follows_the_seed(text, strict):
    shape = train.Shape(layers=1, width=32, context=16, dropout=0.2)
    curves = [train.train(text, "neuron", steps=5, seed=seed, shape=shape) for seed in (1, 1, 2)]
    assert curves[0] == curves[1]
    assert curves[0] != curves[2]
