"""Convolutions, transposed convolutions and their gradients."""

import pytest
import torch
from differential import FLOATS, check
from torch.nn import functional as F

# Sums in another order; narrow floats, whose windows the CPU's transposed convolution adds in their own type.
SUMS = {
    torch.float32: (1e-4, 1e-4),
    torch.float64: (1e-12, 1e-12),
    torch.float16: (2e-2, 6e-2),
    torch.bfloat16: (5e-2, 3e-1),
}
CONVOLUTIONS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}
SPACE = {1: (13,), 2: (9, 11), 3: (5, 6, 7)}
KERNEL = {1: (3,), 2: (3, 2), 3: (2, 3, 2)}

WINDOWS = [
    {},
    {"stride": 2},
    {"padding": 1},
    {"dilation": 2, "padding": 2},
    {"stride": 3, "padding": 1, "dilation": 2},
    {"groups": 2},
    {"groups": 4, "stride": 2, "padding": 1},
]
TRANSPOSED_WINDOWS = [*WINDOWS, {"stride": 3, "output_padding": 2}, {"stride": 2, "padding": 1, "output_padding": 1}]


def numbers(*shape, dtype=torch.float32, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def operands(rank, window, transposed, dtype=torch.float32):
    inputs, outputs, groups = 4, 8, window.get("groups", 1)
    shape = (inputs, outputs // groups) if transposed else (outputs, inputs // groups)
    return (
        numbers(2, inputs, *SPACE[rank], dtype=dtype, seed=1),
        numbers(*shape, *KERNEL[rank], dtype=dtype, seed=2),
        numbers(outputs, dtype=dtype, seed=3),
    )


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("transposed", [False, True], ids=["convolution", "transposed"])
def test_windows(rank, transposed):
    function = (TRANSPOSED if transposed else CONVOLUTIONS)[rank]
    for window in TRANSPOSED_WINDOWS if transposed else WINDOWS:
        x, weight, bias = operands(rank, window, transposed)
        check(lambda *o, w=window: function(*o, **w), x, weight, bias, message=str(window), tolerance=SUMS)
        check(lambda *o, w=window: function(*o, **w), x, weight, message=str(window), tolerance=SUMS)


@pytest.mark.parametrize("dtype", [*FLOATS, torch.int64, torch.int32, torch.uint8, torch.bool], ids=str)
@pytest.mark.parametrize("transposed", [False, True], ids=["convolution", "transposed"])
def test_types(dtype, transposed):
    function = (TRANSPOSED if transposed else CONVOLUTIONS)[2]
    x, weight, bias = (3 * t for t in operands(2, {}, transposed, torch.float64))
    check(function, x.to(dtype), weight.to(dtype), bias.to(dtype), tolerance=SUMS)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("transposed", [False, True], ids=["convolution", "transposed"])
def test_gradients(rank, transposed):
    function = (TRANSPOSED if transposed else CONVOLUTIONS)[rank]
    for window in TRANSPOSED_WINDOWS if transposed else WINDOWS:

        def gradients(*given, w=window):
            leaves = [tensor.detach().clone().requires_grad_() for tensor in given]
            result = function(*leaves, **w)
            weights = torch.arange(result.numel(), dtype=result.dtype, device=result.device).reshape(result.shape)
            (result * (weights / result.numel())).sum().backward()
            return [leaf.grad for leaf in leaves]

        check(gradients, *operands(rank, window, transposed), message=str(window), tolerance=SUMS)


def test_channels_last():
    x, weight, bias = operands(2, {}, False)
    check(F.conv2d, x.to(memory_format=torch.channels_last), weight, bias, tolerance=SUMS)
    check(F.conv2d, x, weight.to(memory_format=torch.channels_last), bias, tolerance=SUMS)


def test_without_batch_and_without_elements():
    x, weight, bias = operands(2, {}, False)
    check(F.conv2d, x[0], weight, bias, tolerance=SUMS)
    check(F.conv2d, x[:0], weight, bias, tolerance=SUMS)


def test_named_padding():
    x, weight, bias = operands(2, {}, False)
    for padding in ("valid", "same"):
        check(lambda *o, p=padding: F.conv2d(*o, padding=p), x, weight, bias, tolerance=SUMS)


def test_wrong_shapes():
    x, weight, bias = operands(2, {}, False)
    check(F.conv2d, x[:, :3], weight, bias)
    check(F.conv2d, x, weight, bias[:5])
    check(F.conv2d, x[:, :, :2], weight, bias)
    check(lambda a, b: F.conv2d(a, b, groups=3), x, weight)


def test_second_derivative():
    def penalty(x, weight):
        leaf = x.detach().clone().requires_grad_()
        kernel = weight.detach().clone().requires_grad_()
        (gradient,) = torch.autograd.grad(F.conv2d(leaf, kernel, padding=1).square().sum(), leaf, create_graph=True)
        gradient.square().sum().backward()
        return kernel.grad

    x, weight, _ = operands(2, {}, False)
    check(penalty, 0.1 * x, 0.1 * weight, tolerance=SUMS)
