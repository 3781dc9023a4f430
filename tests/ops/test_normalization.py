"""Layer, group and batch normalisation, forward and backward."""

import pytest
import torch
from differential import FLOATS, check, layouts, pair, values
from torch.nn import functional

aten = torch.ops.aten
# The CPU keeps the statistics of 16-bit inputs in 16 bits between forward and backward.
TOLERANCE = {
    torch.float32: (1e-5, 5e-6),
    torch.float64: (1e-12, 1e-12),
    torch.float16: (1e-2, 1e-2),
    torch.bfloat16: (4e-2, 4e-2),
}


def parameters(size, dtype):
    return values((size,), dtype, "finite", 5), values((size,), dtype, "finite", 6)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_layer_norm(dtype):
    for layout in layouts()[:5]:
        weight, bias = parameters(5, dtype)
        operand = pair(layout, dtype, "finite")
        check(
            lambda x, w, b: aten.native_layer_norm(x, [5], w, b, 1e-5),
            operand,
            weight,
            bias,
            message=layout.name,
            tolerance=TOLERANCE,
        )
        check(
            lambda x: aten.native_layer_norm(x, [3, 5], None, None, 1e-3),
            operand,
            message=layout.name,
            tolerance=TOLERANCE,
        )


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_layer_norm_with_float32_parameters(dtype):
    weight, bias = parameters(5, torch.float32)
    check(
        lambda x, w, b: aten.native_layer_norm(x, [5], w, b, 1e-5),
        pair(layouts()[1], dtype, "finite"),
        weight,
        bias,
        tolerance=TOLERANCE,
    )


def test_layer_norm_of_tiny_numbers_and_of_nothing():
    check(
        lambda x: functional.layer_norm(x, (3,)),
        torch.tensor([[1e-10, -2e-10, 3e-10]]),
        tolerance={torch.float32: (1e-6, 1e-12)},
    )
    check(lambda x: functional.layer_norm(x, (5,)), torch.ones(0, 5))


def test_layer_norm_around_a_large_mean():
    x = values((4, 256), torch.float64, "finite").mul(1e-2).add(1e3).float()
    actual = functional.layer_norm(x.to("neuron"), (256,)).cpu()
    exact = functional.layer_norm(x.double(), (256,)).float()
    torch.testing.assert_close(actual, exact, rtol=1e-5, atol=1e-6)


def test_layer_norm_refusals():
    x = torch.ones(2, 5)
    check(lambda t, w: aten.native_layer_norm(t, [4], w, None, 1e-5), x, torch.ones(5))
    check(lambda t: aten.native_layer_norm(t, [], None, None, 1e-5), x)
    check(lambda t: functional.layer_norm(t, (4,)), x)
    check(lambda t: aten.native_layer_norm(t, [5], None, None, 1e-5), x.long())
    check(lambda t, w: aten.native_layer_norm(t, [5], w, None, 1e-5), x.double(), torch.ones(5))


def gradients(module_call, *tensors):
    leaves = [tensor.detach().clone().requires_grad_() for tensor in tensors]
    result = module_call(*leaves)
    (
        result * torch.linspace(-1, 1, result.numel()).to(result.device, result.dtype).reshape(result.shape)
    ).sum().backward()
    return [leaf.grad for leaf in leaves]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_layer_norm_gradients(dtype):
    for layout in layouts()[:4]:
        weight, bias = parameters(5, dtype)
        check(
            lambda x, w, b: gradients(lambda x, w, b: functional.layer_norm(x, (5,), w, b), x, w, b),
            pair(layout, dtype, "finite"),
            weight,
            bias,
            message=layout.name,
            tolerance=TOLERANCE,
        )
        check(
            lambda x: gradients(lambda x: functional.layer_norm(x, (3, 5)), x),
            pair(layout, dtype, "finite"),
            message=layout.name,
            tolerance=TOLERANCE,
        )


def test_only_the_gradients_asked_for():
    x = torch.randn(4, 5).to("neuron")
    mean, rstd = torch.zeros(4, 1, device="neuron"), torch.ones(4, 1, device="neuron")
    weight = torch.ones(5, device="neuron")
    for mask in ([True, False, False], [False, True, False], [False, False, True], [True, False, True]):
        results = aten.native_layer_norm_backward(x, x, [5], mean, rstd, weight, weight, mask)
        assert [result is not None for result in results] == mask


SHAPES = [(4, 6, 3, 5), (2, 6, 7), (3, 6), (2, 6, 2, 3, 2)]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_group_norm(shape, dtype):
    x = values(shape, dtype, "finite")
    weight, bias = parameters(6, dtype)
    for groups in (1, 2, 3):
        check(lambda x, w, b, g=groups: functional.group_norm(x, g, w, b), x, weight, bias, tolerance=TOLERANCE)
        check(lambda x, g=groups: functional.group_norm(x, g), x, tolerance=TOLERANCE)
        check(
            lambda x, w, b, g=groups: gradients(lambda x, w, b: functional.group_norm(x, g, w, b), x, w, b),
            x,
            weight,
            bias,
            tolerance=TOLERANCE,
        )
    check(lambda x: functional.group_norm(x, 4), x)


def batch_norm(x, weight, bias, mean, variance, training, momentum=0.1):
    running_mean, running_var = mean.clone(), variance.clone()
    result = aten.native_batch_norm(x, weight, bias, running_mean, running_var, training, momentum, 1e-5)
    return (*result, running_mean, running_var)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_batch_norm(shape, dtype, training):
    x = values(shape, dtype, "finite")
    arguments = *parameters(6, dtype), values((6,), dtype, "finite", 7), values((6,), dtype, "positive", 8)
    check(lambda x, *a: batch_norm(x, *a, training), x, *arguments, tolerance=TOLERANCE)
    if dtype in (torch.bfloat16, torch.float16):
        wide = [argument.float() for argument in arguments]
        check(lambda x, *a: batch_norm(x, *a, training), x, *wide, tolerance=TOLERANCE)


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm_gradients(training):
    for shape in SHAPES:
        for dtype in (torch.float32, torch.float64):
            x = values(shape, dtype, "finite")
            weight, bias = parameters(6, dtype)
            mean, variance = values((6,), dtype, "finite", 7), values((6,), dtype, "positive", 8)
            check(
                lambda x, w, b, m, v: gradients(
                    lambda x, w, b: functional.batch_norm(x, m.clone(), v.clone(), w, b, training), x, w, b
                ),
                x,
                weight,
                bias,
                mean,
                variance,
                message=str(shape),
                tolerance={**TOLERANCE, torch.float32: (2e-5, 2e-5)},
            )


def test_batch_norm_channels_last():
    x = values((4, 3, 8, 8), torch.float32, "finite").contiguous(memory_format=torch.channels_last)

    def run(x):
        leaf = x.detach().requires_grad_()
        layer = torch.nn.BatchNorm2d(3).to(x.device)
        result = layer(leaf)
        (result**2).mean().backward()
        return result.detach(), leaf.grad, layer.weight.grad, layer.bias.grad, layer.running_var

    check(run, x, tolerance={torch.float32: (2e-4, 2e-6)})


def test_running_statistics_in_strided_memory():
    def run(x):
        memory = torch.stack([torch.zeros(2), torch.full((2,), 9.0)], 1).to(x.device)
        variances = torch.ones(2, 2).to(x.device)
        functional.batch_norm(x, memory[:, 0], variances[:, 0], training=True, momentum=0.1)
        return memory, variances

    check(run, torch.tensor([[0.0, 0.0], [2.0, 4.0]]))


def test_batch_norm_refusals():
    check(lambda x: aten.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5), torch.ones(0, 3))


def test_without_parameters():
    x = values((4, 3, 5), torch.float32, "finite")
    check(lambda x: aten.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5), x, tolerance=TOLERANCE)


def test_rms_norm():
    for dtype in FLOATS:
        for layout in layouts()[:5]:
            weight, _ = parameters(5, dtype)
            check(
                lambda x, w: functional.rms_norm(x, (5,), w, 1e-6),
                pair(layout, dtype, "finite"),
                weight,
                tolerance=TOLERANCE,
            )
