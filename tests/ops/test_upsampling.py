"""Resizing by interpolation, patches as columns, and their gradients."""

import pytest
import torch
from differential import ALL, FLOATS, Layout, check, pair, values
from torch.nn import functional

aten = torch.ops.aten

# Weighted sums of up to 16 numbers; the CPU rounds 16-bit sums on the way.
LOOSE = {
    torch.float32: (1e-5, 1e-5),
    torch.float64: (1e-12, 1e-12),
    torch.float16: (1e-2, 1e-2),
    torch.bfloat16: (5e-2, 5e-2),
    torch.complex64: (1e-5, 1e-5),
}
SUMS = {**LOOSE, torch.float16: (2e-2, 5e-2), torch.bfloat16: (1e-1, 3e-1)}

SIZES = {1: (5,), 2: (4, 5), 3: (3, 4, 5)}
TARGETS = {
    1: [(10,), (15,), (5,), (3,), (8,), (1,), (13,)],
    2: [(8, 10), (12, 5), (4, 5), (2, 3), (7, 8), (1, 1), (3, 12)],
    3: [(6, 8, 10), (3, 4, 5), (2, 2, 3), (4, 7, 1), (9, 5, 6)],
}
NEAREST = ["upsample_nearest", "_upsample_nearest_exact"]
SMOOTH = {"upsample_linear1d": 1, "upsample_bilinear2d": 2, "upsample_trilinear3d": 3, "upsample_bicubic2d": 2}


def layouts_of(rank):
    shape = (2, 3, *SIZES[rank])
    found = [
        Layout("contiguous", shape, lambda t: t),
        Layout("transposed", (*shape[:-2], shape[-1], shape[-2]), lambda t: t.transpose(-1, -2)),
        Layout("strided", (*shape[:-1], 2 * shape[-1]), lambda t: t[..., ::2]),
        Layout("expanded", (1, *shape[1:]), lambda t: t.expand(shape)),
        Layout("empty batch", (0, *shape[1:]), lambda t: t),
    ]
    if rank > 1:
        last = (shape[0], *shape[2:], shape[1])
        found.append(Layout("channels last", last, lambda t: t.movedim(-1, 1)))
    return found


def flags(name):
    return [()] if "nearest" in name else [(True,), (False,)]


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("name", NEAREST)
def test_nearest(name, rank):
    function = getattr(aten, f"{name}{rank}d")
    for layout in layouts_of(rank):
        for dtype in (*FLOATS, torch.uint8):
            for size in TARGETS[rank]:
                message = f"{layout.name} {dtype} {size}"
                check(lambda x, s=size: function(x, s), pair(layout, dtype), message=message)


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth(name):
    rank = SMOOTH[name]
    function = getattr(aten, name)
    for layout in layouts_of(rank):
        for dtype in FLOATS:
            for size in TARGETS[rank]:
                for flag in flags(name):
                    message = f"{layout.name} {dtype} {size} {flag}"
                    check(
                        lambda x, s=size, f=flag: function(x, s, *f),
                        pair(layout, dtype, "finite"),
                        message=message,
                        tolerance=LOOSE,
                    )


@pytest.mark.parametrize("name", [f"{name}{rank}d" for name in NEAREST for rank in (1, 2, 3)] + list(SMOOTH))
def test_backward(name):
    rank = SMOOTH.get(name) or int(name[-2])
    function = getattr(aten, name + "_backward")
    for layout in layouts_of(rank):
        for dtype in FLOATS:
            for size in TARGETS[rank]:
                for flag in flags(name):
                    gradient = pair(layout, dtype, "finite")
                    shape = (*gradient.cpu.shape[:2], *size)
                    check(
                        lambda g, s=shape, f=flag: function(g, SIZES[rank], s, *f),
                        gradient,
                        message=f"{layout.name} {dtype} {size} {flag}",
                        tolerance=SUMS,
                    )


MODES = {
    "nearest": (1, 2, 3),
    "nearest-exact": (1, 2, 3),
    "linear": (1,),
    "bilinear": (2,),
    "trilinear": (3,),
    "bicubic": (2,),
}


@pytest.mark.parametrize("factor", [2, 3, 2.05, 1.07, 0.4, 1.9], ids=str)
@pytest.mark.parametrize("mode", MODES)
def test_interpolate_and_its_gradient(mode, factor):
    def gradient(x):
        leaf = x.detach().clone().requires_grad_()
        result = functional.interpolate(leaf, scale_factor=factor, mode=mode)
        (result * torch.arange(result.shape[-1], device=x.device)).sum().backward()
        return result.detach(), leaf.grad

    for rank in MODES[mode]:
        for dtype in (torch.float32, torch.float64):
            check(gradient, values((2, 3, *SIZES[rank]), dtype, "finite"), message=str(rank), tolerance=LOOSE)


def test_places_of_many_sizes():
    """Where rounding decides which element is the nearest."""
    for size in (1, 4, 7, 24, 37):
        for target in (1, 5, 31, 74, 82, 2 * size, 3 * size):
            for scale in (None, target / size, 1.03 * target / size):
                for dtype in (torch.float32, torch.float64):
                    x = torch.arange(size, dtype=dtype).reshape(1, 1, size)
                    for function in (aten.upsample_nearest1d, aten._upsample_nearest_exact1d):
                        check(
                            lambda t, f=function, o=target, s=scale: f(t, [o], s), x, message=f"{size} {target} {scale}"
                        )
                    for function in (aten.upsample_nearest2d, aten._upsample_nearest_exact2d):
                        check(
                            lambda t, f=function, o=target, s=scale: f(t[None], [1, o], None, s),
                            x,
                            message=f"{size} {target} {scale}",
                        )


@pytest.mark.parametrize("name", ["upsample_nearest2d", "upsample_bilinear2d", "upsample_bicubic2d"])
def test_resizing_refused(name):
    function, backward, flag = getattr(aten, name), getattr(aten, name + "_backward"), flags(name)[0]
    x = torch.ones(2, 3, 4, 5)
    for operand, size in (
        (x[0], [4, 4]),
        (x, [4]),
        (x, [0, 4]),
        (x, [-1, 4]),
        (x[:, :0], [4, 4]),
        (x[:, :, :0], [4, 4]),
    ):
        check(lambda t, s=size: function(t, s, *flag), operand)
    for dtype in (torch.int8, torch.int64, torch.bool, torch.complex64):
        check(lambda t: function(t, [4, 4], *flag), x.to(dtype))
        check(lambda t: backward(t, [4, 5], [2, 3, 2, 2], *flag), x.to(dtype))
    check(lambda t: backward(t, [4, 5], [2, 3, 2, 2], *flag), x.to(torch.uint8))
    check(lambda t: backward(t, [4, 4], [2, 3, 2, 2], *flag), x)
    check(lambda t: backward(t, [4, 5], [2, 3, 2], *flag), x)
    check(lambda t: backward(t, [4, 5], [2, 3, 2, 2], *flag), x[0])


def test_resizing_into_out():
    def into(function, *arguments):
        def call(x):
            out = torch.zeros(2, 3, 8, 10, device=x.device).transpose(0, 1).contiguous().transpose(0, 1)
            function(x, [8, 10], *arguments, out=out)
            return out

        return call

    x = values((2, 3, 4, 5), torch.float32, "finite")
    check(into(torch.ops.aten.upsample_nearest2d.out), x)
    check(into(torch.ops.aten.upsample_bilinear2d.out, False), x, tolerance=LOOSE)


WINDOWS = [
    ((2, 3), (1, 1), (0, 0), (1, 1)),
    ((2, 2), (2, 1), (1, 2), (1, 2)),
    ((1, 1), (1, 1), (0, 0), (3, 2)),
    ((3, 2), (1, 2), (2, 0), (2, 1)),
]


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_patches(dtype, window):
    for layout in layouts_of(2):
        x = pair(layout, dtype, "finite")
        check(lambda t: aten.im2col(t, *window), x, message=layout.name)
        if layout.name != "empty batch":
            check(lambda t: aten.im2col(t[0], *window), x, message=layout.name)
    blocks = aten.im2col(torch.zeros(1, 1, 4, 5), *window).shape
    for batch in ((2,), (), (0,)):
        columns = values((*batch, 3 * blocks[1], blocks[2]), dtype, "finite")
        check(lambda t: aten.col2im(t, [4, 5], *window), columns, tolerance=SUMS)
    columns = values((2, blocks[2], 3 * blocks[1]), dtype, "finite").transpose(1, 2)
    check(lambda t: aten.col2im(t, [4, 5], *window), columns, tolerance=SUMS)


def test_patches_refused():
    unfold, fold = functional.unfold, functional.fold
    x = torch.ones(2, 3, 4, 5)
    for operand in (x[:, :0], x[:, :, :0], x[0, 0], x[None]):
        check(lambda t: unfold(t, (2, 2)), operand)
    for arguments in (((9, 3),), ((0, 3),), ((2, 2), 0), ((2, 2), 1, -1), ((2, 2), 1, 0, 0)):
        check(lambda t, a=arguments: unfold(t, *a), x)
    columns = torch.ones(2, 12, 12)
    check(lambda t: fold(t, (4, 4), (2, 2)), columns)
    check(lambda t: fold(t, (4, 5), (2, 2)), columns[:, :11])
    check(lambda t: fold(t, (4, 5), (2, 2)), columns[0, 0])


def test_gradient_of_patches():
    def gradient(x):
        leaf = x.detach().clone().requires_grad_()
        columns = functional.unfold(leaf, (2, 3), padding=1)
        again = functional.fold(columns * columns, (4, 5), (2, 3), padding=1)
        (again * torch.arange(5, device=x.device)).sum().backward()
        return again.detach(), leaf.grad

    check(gradient, values((2, 3, 4, 5), torch.float32, "finite"), tolerance=LOOSE)


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_channel_shuffle(dtype):
    for layout in layouts_of(2):
        for groups in (1, 3):
            check(lambda x, g=groups: torch.channel_shuffle(x, g), pair(layout, dtype), message=layout.name)
            check(lambda x, g=groups: torch.native_channel_shuffle(x, g), pair(layout, dtype), message=layout.name)
    check(lambda x: torch.channel_shuffle(x, 2), values((3, 4, 5), dtype))
    check(lambda x: torch.channel_shuffle(x, 2), values((3, 5, 5), dtype))
    check(lambda x: torch.channel_shuffle(x, 0), values((3, 4, 5), dtype))
    check(lambda x: torch.channel_shuffle(x, 1), values((3, 4), dtype))
