"""Padding with what lies at the border, forward and backward."""

import pytest
import torch
from differential import COMPLEX, FLOATS, INTEGERS, check, layouts, pair, values
from torch.nn import functional

aten = torch.ops.aten
# The CPU adds up gradients of 16-bit floats in 16 bits.
TOLERANCE = {
    torch.float32: (2e-6, 1e-6),
    torch.float64: (1e-13, 1e-13),
    torch.float16: (1e-2, 1e-2),
    torch.bfloat16: (6e-2, 6e-2),
    torch.complex64: (2e-6, 1e-6),
}
KINDS = ("reflection", "replication")
PADDINGS = {
    1: ([1, 2], [0, 0], [2, 0], [-1, 1], [2, -2], [-1, -1]),
    2: ([1, 2, 2, 1], [0, 1, 0, 0], [2, -1, 0, 2], [-1, 0, 1, -1], [0, 0, 0, 0]),
    3: ([1, 2, 2, 1, 1, 0], [0, 0, 0, 0, 1, 1], [1, -1, 0, 2, -1, 0]),
}
SHAPES = {1: (4, 3, 5), 2: (2, 3, 4, 5), 3: (2, 3, 3, 4, 5)}


def operator(kind, spatial):
    return getattr(aten, f"{kind}_pad{spatial}d")


def operands(spatial, dtype):
    for layout in layouts(SHAPES[spatial])[:5]:
        yield layout.name, pair(layout, dtype).cpu
    x = values(SHAPES[spatial], dtype)
    yield "unbatched", x[0]
    if spatial > 1:
        last = torch.channels_last if spatial == 2 else torch.channels_last_3d
        yield "channels last", x.contiguous(memory_format=last)
        yield "channels last memory of one image", x.contiguous(memory_format=last)[0]
    if spatial == 3:
        yield "image of planes", x[0].contiguous(memory_format=torch.channels_last)
    yield "no batch", x[:0]


@pytest.mark.parametrize("spatial", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, *COMPLEX, torch.bool], ids=str)
def test_padding(dtype, kind, spatial):
    for name, x in operands(spatial, dtype):
        for padding in PADDINGS[spatial]:
            check(
                lambda x, p=padding: operator(kind, spatial)(x, p), x, message=f"{name}, {padding}", tolerance=TOLERANCE
            )


@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_replication_beyond_the_size(spatial):
    for name, x in operands(spatial, torch.float32):
        for padding in ([9, 7] * spatial, [9, -2] * spatial):
            check(lambda x, p=padding: operator("replication", spatial)(x, p), x, message=f"{name}, {padding}")


def gradients(x, call):
    leaf = x.detach().requires_grad_()
    result = call(leaf)
    weights = torch.linspace(-1, 1, result.numel()).to(result.device, result.dtype).reshape(result.shape)
    (result * weights).sum().abs().backward()
    return leaf.grad


@pytest.mark.parametrize("spatial", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [*FLOATS, torch.complex64], ids=str)
def test_padding_backward(dtype, kind, spatial):
    backward = getattr(aten, f"{kind}_pad{spatial}d_backward")
    for name, x in operands(spatial, dtype):
        for padding in PADDINGS[spatial]:
            shape = operator(kind, spatial)(x, padding).shape
            gradient = values(shape, dtype, "finite", 3)
            check(
                lambda g, x, p=padding: backward(g, x, p),
                gradient,
                x,
                message=f"{name}, {padding}",
                tolerance=TOLERANCE,
            )


@pytest.mark.parametrize("mode", ["reflect", "replicate"])
def test_gradients(mode):
    for spatial in (1, 2, 3):
        x = values(SHAPES[spatial], torch.float32, "finite")
        check(
            lambda x, s=spatial: gradients(x, lambda x: functional.pad(x, [1, 2] * s, mode=mode)),
            x,
            tolerance=TOLERANCE,
        )


def test_refusals():
    x = torch.ones(2, 3, 4, 4)
    for kind in KINDS:
        for padding in ([1], [1, 1, 1], [4, 0], [0, 5], [-5, 1], [-3, -2]):
            check(lambda x, k=kind, p=padding: operator(k, 1)(x, p), x[0], message=f"{kind}, {padding}")
        for padding in ([1, 1], [4, 1, 1, 1], [0, 0, -3, -1], [-2, -2, -3, -3], [-9, 0, 0, 0]):
            check(lambda x, k=kind, p=padding: operator(k, 2)(x, p), x, message=f"{kind}, {padding}")
        for padding in ([1, 1], [0, 0, 0, 0, 3, 3], [0, 0, 0, 0, -3, 0]):
            check(lambda x, k=kind, p=padding: operator(k, 3)(x, p), x, message=f"{kind}, {padding}")
        for shape in ((), (4,), (0, 4), (3, 0), (2, 0, 4), (2, 2, 2, 2)):
            check(lambda x, k=kind: operator(k, 1)(x, [1, 1]), torch.ones(shape), message=f"{kind}, {shape}")


def test_refusals_of_gradients():
    x = torch.ones(3, 4, 4)
    for kind in KINDS:
        backward = [getattr(aten, f"{kind}_pad{spatial}d_backward") for spatial in (1, 2)]
        for gradient in (torch.ones(3, 4, 5), torch.ones(3, 4, 6).double()):
            check(lambda g, x, f=backward: f[0](g, x, [1, 1]), gradient, x)
        for gradient in (torch.ones(3, 4, 5), torch.ones(3, 6, 6).double()):
            check(lambda g, x, f=backward: f[1](g, x, [1, 1, 1, 1]), gradient, x)


def test_given_results():
    def run(x):
        out = x.new_zeros(2, 3, 6, 7)
        aten.reflection_pad2d.out(x, [1, 1, 1, 1], out=out)
        gradient = x.new_zeros(0)
        aten.reflection_pad2d_backward.grad_input(out, x, [1, 1, 1, 1], grad_input=gradient)
        return out, gradient

    check(run, values((2, 3, 4, 5), torch.float32, "finite"), tolerance=TOLERANCE)
