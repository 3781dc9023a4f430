"""Joining, shifting, padding, filling, triangles."""

import pytest
import torch
from differential import ALL, FLOATS, check, check_in_place, check_out, layouts, pair, values

LAYOUTS = layouts()
FULL = LAYOUTS[:5]
NARROW = (torch.float8_e4m3fn, torch.float8_e5m2, torch.uint16, torch.uint32, torch.uint64)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_every_layout(layout, dtype):
    self = pair(layout, dtype)
    check(lambda x: torch.flip(x, (0,)), self)
    check(lambda x: torch.flip(x, (-1,)), self)
    check(lambda x: torch.roll(x, 2), self)
    check(lambda x: torch.stack([x, x]), self)
    check(lambda x: torch.stack([x, x], -1), self)
    check(lambda x: x.repeat(*[2] * (x.dim() + 1)), self)
    check(lambda x: torch.full_like(x, 1), self)
    check(torch.zeros_like, self)
    if self.cpu.dim() == 0:
        return
    check(lambda x: torch.roll(x, (1, -7), (0, -1)), self)
    check(lambda x: torch.cat([x, x], -1), self)
    check(lambda x: torch.cat([x, x[:1], x]), self)
    check(lambda x: torch.cat([x, x.new_ones(0)]), self)
    check(lambda x: torch.cat([x, x.float()], 1), self) if self.cpu.dim() > 1 else None
    check(lambda x: torch.nn.functional.pad(x, (1, 2), value=1), self)
    if self.cpu.dim() > 1:
        check(lambda x: torch.nn.functional.pad(x, (-1, 0, 1, 1)), self)
        check(torch.tril, self)
        check(lambda x: torch.triu(x, 1), self)
        check(lambda x: torch.tril(x, -2), self)
        check_out(torch.triu, self)
        check_out(lambda x, **out: torch.cat([x, x], 1, **out), self)


@pytest.mark.parametrize("dtype", NARROW)
def test_types_that_only_move(dtype):
    bits = values((3, 4 * dtype.itemsize), torch.uint8)
    x = bits.view(dtype)

    def moved(x, call):
        return call(x).contiguous().view(torch.uint8)

    for call in (
        lambda x: x.flip(0),
        lambda x: torch.cat([x, x]),
        lambda x: x.roll(1, 1),
        lambda x: torch.stack([x, x], 1),
    ):
        check(lambda x, call=call: moved(x, call), x)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("layout", FULL[:4], ids=lambda layout: layout.name)
def test_in_place(layout, dtype):
    for call in (
        lambda x: x.fill_(1),
        lambda x: x.zero_(),
        lambda x: x.tril_(),
        lambda x: x.triu_(1),
        lambda x: x.fill_(x.new_ones(())),
        lambda x: x[1].zero_(),
        lambda x: x[..., 1:3].fill_(True),
    ):
        check_in_place(call, pair(layout, dtype))


@pytest.mark.parametrize("dtype", ALL)
def test_filling_checks_the_range(dtype):
    for value in (
        300,
        -1,
        2.5,
        1e6,
        1e39,
        1e300,
        -300.5,
        True,
        3,
        2**40,
        float("nan"),
        float("inf"),
        -0.0,
        1.5 + 0j,
        1j,
    ):
        check(lambda x, v=value: x.fill_(v), torch.zeros(2, dtype=dtype), message=str(value))


def test_memory_formats():
    image = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    video = torch.randn(2, 3, 4, 5, 6).to(memory_format=torch.channels_last_3d)
    for x in (image, video, image[:1], image[:, :1], image[..., :1], image.transpose(0, 1)):
        check(lambda x: torch.cat([x, x], 1), x)
        check(lambda x: torch.cat([x, x.contiguous()], 1), x)
        check(lambda x: torch.stack([x, x]), x, strides=1 not in x.shape)  # those of size 1 mean nothing
        check(lambda x: torch.nn.functional.pad(x, (1, 1)), x)
        check(lambda x: x.flip(1), x)


def test_cat_of_slices():
    x = torch.randn(1, 4, 6, 8)
    check(lambda x: torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2), x)
    check(lambda t: torch.stack([t[:2], t[2:]], -1), torch.tensor([1.0, 2, 3, 4]))
    check(lambda y: torch.flip(y, (0,)) * 2 * 3, torch.arange(1.0, 9))


@pytest.mark.parametrize("dtype", FLOATS)
def test_unfold_backward(dtype):
    for step in (1, 2, 3):
        x = values((2, 8, 3), dtype, "finite")
        for device in ("cpu", "neuron"):
            leaf = x.clone().to(device).requires_grad_()
            leaf.unfold(1, 3, step).mul(2).sum().backward()
            if device == "cpu":
                expected = leaf.grad
        torch.testing.assert_close(leaf.grad.cpu(), expected)


@pytest.mark.parametrize("dtype", (torch.float32, torch.bfloat16, torch.int32, torch.complex64))
def test_trace(dtype):
    for shape in ((3, 3), (2, 5), (5, 2), (0, 3)):
        check(torch.trace, values(shape, dtype, "finite"), tolerance={torch.float32: (1e-6, 1e-6)})


X = torch.ones(2, 3)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: torch.cat([x, x[0]]),
        lambda x: torch.cat([x, x[:, :2]]),
        lambda x: torch.cat([x, x], 2),
        lambda x: torch.cat([x.sum(), x]),
        lambda x: torch.cat([x, x], out=x.new_empty(0, dtype=torch.int64)),
        lambda x: torch.stack([x, x[0]]),
        lambda x: torch.stack([x], 4),
        lambda x: x.roll((1, 1), 0),
        lambda x: x.roll(1, 3),
        lambda x: x.flip(0, 0),
        lambda x: x.flip(3),
        lambda x: torch.constant_pad_nd(x, (1,)),
        lambda x: torch.constant_pad_nd(x, (1,) * 6),
        lambda x: torch.constant_pad_nd(x, (-2, -2)),
        lambda x: torch.constant_pad_nd(x.to(torch.int8), (1, 1), 300),
        lambda x: x[0].tril(),
        lambda x: x.repeat(2),
        lambda x: x.repeat(2, -1),
        lambda x: x.fill_(x),
        lambda x: torch.trace(x[0]),
    ],
)
def test_errors(call):
    check(call, X)


def test_repeat_interleave():
    repeat = torch.repeat_interleave
    counts = torch.tensor([1, 0, 3])
    for repeats in (
        counts,
        counts.int(),
        counts[:0],
        torch.tensor([0, 0]),
        torch.tensor([1, -1]),
        counts[None],
        counts.float(),
        counts[:0].float(),
        torch.tensor([2, 9, 1, 9])[::2],
    ):
        check(repeat, repeats)
    for size in (4, 5, 3):
        check(lambda t, s=size: repeat(t, output_size=s), counts)
    x = torch.arange(12.0).reshape(3, 4)
    check(lambda t, n: repeat(t, n, 0), x, counts)
    check(lambda t, n: repeat(t, n, 1), x.t(), counts)
    check(repeat, x, torch.tensor(2))
    check(lambda t: repeat(t, 2, 1), x)
    check(lambda t, n: repeat(t, n, 1), x, counts)
