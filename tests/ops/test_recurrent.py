"""LSTM, GRU and plain recurrent networks, forward and backward, through torch's own modules."""

import pytest
import torch
from differential import check

CELLS = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "rnn": torch.nn.RNN}
# Gates in another order of additions.
CLOSE = {torch.float32: (1e-5, 1e-5), torch.float64: (1e-12, 1e-12), torch.bfloat16: (5e-2, 5e-2)}
MODULES = [
    {},
    {"bias": False},
    {"num_layers": 2},
    {"bidirectional": True, "num_layers": 2},
    {"batch_first": True},
]


def numbers(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def network(kind, dtype, device, **given):
    module = CELLS[kind](5, 7, **given)
    for seed, parameter in enumerate(module.parameters()):
        parameter.data = 0.3 * numbers(*parameter.shape, seed=seed)
    return module.to(dtype).to(device)


def flat(results):
    output, state = results
    return [output, *(state if isinstance(state, tuple) else (state,))]


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("dtype", CLOSE, ids=str)
def test_forward(kind, dtype):
    for given in MODULES:
        check(
            lambda x, g=given: flat(network(kind, dtype, x.device, **g)(x)),
            numbers(4, 3, 5).to(dtype),
            message=str(given),
            tolerance=CLOSE,
        )


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_gradients(kind, dtype):
    def gradients(x, given, last_only):
        module = network(kind, dtype, x.device, **given)
        leaf = x.detach().clone().requires_grad_()
        output, *states = flat(module(leaf))
        loss = output[-1].square().sum() if last_only else sum(result.square().sum() for result in (output, *states))
        loss.backward()
        return [leaf.grad, *(parameter.grad for parameter in module.parameters())]

    tolerance = {torch.float32: (1e-4, 1e-4), torch.float64: (1e-11, 1e-11)}
    for given in MODULES:
        for last_only in (False, True):
            check(
                lambda x, g=given, o=last_only: gradients(x, g, o),
                numbers(4, 3, 5).to(dtype),
                message=f"{given} {last_only}",
                tolerance=tolerance,
                strides=False,
            )


@pytest.mark.parametrize("cell", [torch.nn.LSTMCell, torch.nn.GRUCell, torch.nn.RNNCell])
def test_single_cells(cell):
    def run(x):
        module = cell(5, 7)
        for seed, parameter in enumerate(module.parameters()):
            parameter.data = 0.3 * numbers(*parameter.shape, seed=seed).float()
        result = module.to(x.device)(x)
        return list(result) if isinstance(result, tuple) else result

    check(run, numbers(3, 5).float(), tolerance=CLOSE)


def test_packed_sequences():
    def run(x):
        packed = torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor([4, 3, 1]))
        output, _ = network("lstm", torch.float32, x.device)(packed)
        return torch.nn.utils.rnn.pad_packed_sequence(output)[0]

    check(run, numbers(4, 3, 5).float(), tolerance=CLOSE)
