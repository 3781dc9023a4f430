"""Fourier transforms over any dimensions."""

import pytest
import torch
from differential import SHAPE, check, layouts, pair, values

# A transform adds up as many numbers as it has points.
SUMS = {
    torch.float32: (1e-5, 5e-5),
    torch.complex64: (1e-5, 5e-5),
    torch.float64: (1e-12, 1e-12),
    torch.complex128: (1e-12, 1e-12),
}
NORMS = (None, "ortho", "forward", "backward")
ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
SEVERAL = ["fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn"]
DIMENSIONS = [(0,), (1,), (-1,), (0, 1), (1, 0), (2, 0), (0, 1, 2), (2, 1, 0), None]
FROM_REAL = ("rfft", "ihfft", "rfftn", "ihfftn")
DTYPES = (torch.float32, torch.float64, torch.complex64, torch.complex128)


def taken(name):
    return [dtype for dtype in DTYPES if not (dtype.is_complex and name in FROM_REAL)]


@pytest.mark.parametrize("name", ONE)
def test_one_dimension(name):
    function = getattr(torch.fft, name)
    for dtype in taken(name):
        for layout in layouts()[:5]:
            for dim in (0, 1, -1):
                message = f"{name} {dtype} {layout.name} {dim}"
                check(
                    lambda x, d=dim: function(x, dim=d), pair(layout, dtype, "finite"), message=message, tolerance=SUMS
                )


@pytest.mark.parametrize("dims", DIMENSIONS, ids=str)
@pytest.mark.parametrize("name", SEVERAL)
def test_several_dimensions(name, dims):
    function = getattr(torch.fft, name)
    for dtype in taken(name):
        for layout in layouts()[:5]:
            message = f"{name} {dtype} {layout.name}"
            check(lambda x: function(x, dim=dims), pair(layout, dtype, "finite"), message=message, tolerance=SUMS)


@pytest.mark.parametrize("norm", NORMS, ids=str)
@pytest.mark.parametrize("name", ONE + SEVERAL)
def test_normalization(name, norm):
    function = getattr(torch.fft, name)
    for dtype in taken(name):
        check(lambda x: function(x, norm=norm), values((4, 6, 5), dtype, "finite"), message=name, tolerance=SUMS)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 16, 97])
@pytest.mark.parametrize("name", ONE)
def test_lengths(name, length):
    function = getattr(torch.fft, name)
    for dtype in taken(name):
        if name in ("irfft", "hfft") and length == 1:
            continue
        check(function, values((3, length), dtype, "finite"), message=name, tolerance=SUMS)
        check(lambda x: function(x, n=length), values((3, 6), dtype, "finite"), message=name, tolerance=SUMS)


@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("dims", [[0], [1], [1, 0], [0, 2, 1]], ids=str)
def test_operators(dims, mode):
    aten = torch.ops.aten
    for layout in layouts()[:5]:
        real, number = pair(layout, torch.float32, "finite"), pair(layout, torch.complex64, "finite")
        for flag in (True, False):
            check(lambda x, f=flag: aten._fft_r2c(x, dims, mode, f), real, message=layout.name, tolerance=SUMS)
            check(lambda x, f=flag: aten._fft_c2c(x, dims, mode, f), number, message=layout.name, tolerance=SUMS)
        half = number.cpu.shape[dims[-1]]
        for size in (2 * half - 2, 2 * half - 1):
            check(lambda x, s=size: aten._fft_c2r(x, dims, mode, s), number, message=layout.name, tolerance=SUMS)


def test_more_dimensions_than_three():
    x = values((2, 3, 4, 2, 3), torch.complex64, "finite")
    check(torch.fft.fftn, x, tolerance=SUMS)
    check(torch.fft.ifftn, x, tolerance=SUMS)
    check(torch.fft.rfftn, x.real, tolerance=SUMS)
    check(torch.fft.irfftn, x, tolerance=SUMS)


def test_no_dimension():
    check(lambda x: torch.ops.aten._fft_c2c(x, [], 0, True), values(SHAPE, torch.complex64).transpose(0, 1))
    check(lambda x: torch.ops.aten._fft_c2c(x, [], 0, True), values((), torch.complex64))
    check(lambda x: torch.ops.aten._fft_r2c(x, [], 0, True), values(SHAPE, torch.float32))
    check(lambda x: torch.ops.aten._fft_c2r(x, [], 0, 4), values(SHAPE, torch.complex64))


def test_integers_become_floats():
    for dtype in (torch.int64, torch.uint8, torch.bool):
        check(torch.fft.fft, values(SHAPE, dtype), tolerance=SUMS)
        check(torch.fft.rfft, values(SHAPE, dtype), tolerance=SUMS)
        check(torch.fft.irfft, values(SHAPE, dtype), tolerance=SUMS)


def test_refused():
    aten = torch.ops.aten
    for dtype in (torch.float16, torch.bfloat16, torch.int64, torch.complex64, torch.bool):
        check(lambda x: aten._fft_r2c(x, [0], 0, True), torch.ones(4, 4).to(dtype)) if dtype != torch.float32 else None
    for dtype in (torch.float16, torch.float32, torch.int64):
        check(lambda x: aten._fft_c2c(x, [0], 0, True), torch.ones(4, 4).to(dtype))
        check(lambda x: aten._fft_c2r(x, [0], 0, 6), torch.ones(4, 4).to(dtype))
    number = torch.ones(4, 4, dtype=torch.complex64)
    check(lambda x: aten._fft_c2r(x, [0], 0, 0), number)
    check(lambda x: aten._fft_c2r(x, [0], 0, 9), number)
    check(lambda x: aten._fft_c2c(x, [2], 0, True), number)
    for function in (torch.fft.fft, torch.fft.rfft, torch.fft.irfft):
        check(function, torch.ones(0, 3))
        check(function, torch.ones(3, 0))
        check(function, torch.ones(()))
        check(lambda x, f=function: f(x, dim=2), torch.ones(2, 3))


@pytest.mark.parametrize("name", ["fft", "rfft", "irfft", "fftn", "rfftn", "irfftn"])
def test_gradient(name):
    def gradient(x):
        leaf = x.detach().clone().requires_grad_()
        result = getattr(torch.fft, name)(leaf, norm="ortho")
        (result.abs() ** 2 * torch.arange(result.shape[-1], device=x.device)).sum().backward()
        return leaf.grad

    for dtype in taken(name):
        check(gradient, values(SHAPE, dtype, "finite"), message=f"{name} {dtype}", tolerance=SUMS, strides=False)


def test_out():
    x = values(SHAPE, torch.complex64, "finite")

    def into(x):
        out = torch.zeros(3, 4, 5, dtype=torch.complex64, device=x.device).transpose(0, 1)
        torch.fft.fft(x, dim=1, out=out)
        return out

    check(into, x, tolerance=SUMS)


def test_round_trip():
    x = values((3, 1000), torch.float32, "finite").to("neuron")
    torch.testing.assert_close(torch.fft.irfft(torch.fft.rfft(x), 1000).cpu(), x.cpu(), rtol=1e-5, atol=1e-5)


def test_shifts_and_spectrograms():
    x = values((4, 64), torch.float32, "finite")
    check(torch.fft.fftshift, x)
    window = torch.hann_window(16)
    check(
        lambda x, w: torch.stft(x, 16, 4, window=w, center=False, return_complex=True),
        x,
        window,
        tolerance=SUMS,
        strides=False,
    )
