"""Activation functions and their gradients."""

import pytest
import torch
from differential import FLOATS, check, check_in_place, layouts, pair
from torch.nn import functional

DTYPES = (*FLOATS, torch.int64, torch.bool, torch.complex64)
aten = torch.ops.aten

FORWARD = {
    "relu": functional.relu,
    "silu": functional.silu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "softplus": functional.softplus,
    "softplus_beta": lambda x: functional.softplus(x, beta=0.5, threshold=3),
    "hardtanh": functional.hardtanh,
    "hardtanh_bounds": lambda x: functional.hardtanh(x, -2.5, 0.5),
    "relu6": functional.relu6,
    "leaky_relu": functional.leaky_relu,
    "leaky_relu_slope": lambda x: functional.leaky_relu(x, 0.3),
    "elu": functional.elu,
    "elu_alpha": lambda x: functional.elu(x, alpha=1.7),
    "selu": functional.selu,
    "celu": lambda x: functional.celu(x, alpha=0.7),
    "mish": functional.mish,
    "hardswish": functional.hardswish,
    "hardsigmoid": functional.hardsigmoid,
    "threshold": lambda x: functional.threshold(x, 0.3, 20.0),
    "logsigmoid": functional.logsigmoid,
    "hardshrink": functional.hardshrink,
    "softshrink": functional.softshrink,
    "softsign": functional.softsign,
    "tanhshrink": functional.tanhshrink,
    "glu": lambda x: functional.glu(x, 0) if x.dim() else functional.glu(x),
}

BACKWARD = {
    "silu": lambda g, x: aten.silu_backward(g, x),
    "gelu": lambda g, x: aten.gelu_backward(g, x),
    "gelu_tanh": lambda g, x: aten.gelu_backward(g, x, approximate="tanh"),
    "sigmoid": lambda g, x: aten.sigmoid_backward(g, x),
    "tanh": lambda g, x: aten.tanh_backward(g, x),
    "softplus": lambda g, x: aten.softplus_backward(g, x, 0.5, 3),
    "hardtanh": lambda g, x: aten.hardtanh_backward(g, x, -1, 1),
    "leaky_relu": lambda g, x: aten.leaky_relu_backward(g, x, 0.1, False),
    "elu": lambda g, x: aten.elu_backward(g, 1.5, 0.7, 1, False, x),
    "elu_result": lambda g, x: aten.elu_backward(g, 1.5, 0.7, 1, True, x),
    "mish": lambda g, x: aten.mish_backward(g, x),
    "hardswish": lambda g, x: aten.hardswish_backward(g, x),
    "hardsigmoid": lambda g, x: aten.hardsigmoid_backward(g, x),
    "threshold": lambda g, x: aten.threshold_backward(g, x, 0.3),
    "hardshrink": lambda g, x: aten.hardshrink_backward(g, x, 0.5),
    "softshrink": lambda g, x: aten.softshrink_backward(g, x, 0.5),
    "logit": lambda g, x: aten.logit_backward(g, x, 0.1),
    "log_sigmoid": lambda g, x: aten.log_sigmoid_backward(g, x, torch.exp(-x.abs())),
}

# Absolute room for formulas that cancel in the CPU's own arithmetic.
TOLERANCE = {
    torch.float32: (2e-6, 1e-6),
    torch.float64: (1e-13, 1e-13),
    torch.float16: (4e-3, 2e-3),
    torch.bfloat16: (1.6e-2, 1e-2),
    torch.complex64: (1e-5, 1e-5),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", FORWARD)
def test_forward(name, dtype):
    # CPU PyTorch's vectorised float32 gelu makes NaN of infinity.
    kind = "finite" if name == "gelu" else "special"
    for layout in layouts():
        check(FORWARD[name], pair(layout, dtype, kind), message=f"{name} {dtype} {layout.name}", tolerance=TOLERANCE)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", BACKWARD)
def test_backward(name, dtype):
    for layout in layouts():
        for other in (layout, layouts()[0]) if layout.name in ("transposed", "strided") else (layout,):
            pairs = pair(layout, dtype, "finite"), pair(other, dtype, "finite", 1)
            check(BACKWARD[name], *pairs, message=f"{name} {dtype} {layout.name} {other.name}", tolerance=TOLERANCE)


@pytest.mark.parametrize("name", ["relu_", "silu", "hardtanh_", "leaky_relu_", "elu_", "threshold_"])
def test_in_place(name):
    function = (
        {
            "silu": lambda x: functional.silu(x, inplace=True),
            "threshold_": lambda x: functional.threshold_(x, 0.1, 2.0),
        }.get(name)
        or getattr(functional, name, None)
        or getattr(torch, name)
    )
    for dtype in (torch.float32, torch.bfloat16):
        for layout in layouts():
            if name == "threshold_" and layout.name == "expanded":
                continue  # CPU PyTorch lets this one write overlapping memory
            check_in_place(function, pair(layout, dtype), message=f"{name} {dtype} {layout.name}", tolerance=TOLERANCE)


@pytest.mark.parametrize(
    "name",
    [
        "relu",
        "silu",
        "gelu",
        "sigmoid",
        "tanh",
        "softplus",
        "hardtanh",
        "leaky_relu",
        "elu",
        "mish",
        "hardswish",
        "logsigmoid",
        "glu",
    ],
)
def test_gradient_through_autograd(name):
    def gradient(x):
        leaf = x.detach().clone().requires_grad_()
        FORWARD[name](leaf).sum().backward()
        return leaf.grad

    for layout in layouts()[:4]:
        check(gradient, pair(layout, torch.float32, "finite"), message=f"{name} {layout.name}", tolerance=TOLERANCE)


def test_prelu():
    for dtype in FLOATS:
        for weight in (torch.tensor([0.25], dtype=dtype), torch.tensor([0.1, 0.2, 0.3], dtype=dtype)):
            check(
                functional.prelu,
                pair(layouts()[1], dtype),
                weight[: weight.numel()] if weight.numel() == 1 else weight.repeat(2)[:5],
            )
    x = torch.randn(2, 3, 4)
    check(lambda x, w: aten._prelu_kernel_backward(torch.ones_like(x), x, w), x, torch.tensor(0.25).expand(2, 3, 4))


def test_refusals():
    check(functional.gelu, torch.ones(2), approximate="other")
    check(lambda x: functional.softshrink(x, -1.0), torch.ones(2))
    check(functional.glu, torch.ones(2, 3))
    check(functional.glu, torch.tensor(1.0))
