"""Neighbours and parts of floats, divisors of integers, cross products, Bessel functions."""

import math

import pytest
import torch
from differential import check, check_in_place, check_out, layouts, pair

DTYPES = (
    torch.float32,
    torch.bfloat16,
    torch.float16,
    torch.float64,
    torch.int64,
    torch.int32,
    torch.int8,
    torch.uint8,
    torch.bool,
    torch.complex64,
)


def spelled(name, dtype, layout):
    return f"{name} {dtype} {layout.name}"


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_neighbours_of_floats(dtype):
    for layout in layouts():
        pairs = pair(layout, dtype), pair(layout, dtype, "special", 1)
        check(torch.nextafter, *pairs, message=spelled("nextafter", dtype, layout))
        check_in_place(torch.Tensor.nextafter_, *pairs, message=spelled("nextafter_", dtype, layout))
        check(torch.frexp, pair(layout, dtype), message=spelled("frexp", dtype, layout))
    if dtype.is_floating_point:
        limits = torch.finfo(dtype)
        numbers = [0.0, -0.0, 1.0, -3.5, limits.tiny, limits.max, limits.smallest_normal, -limits.eps, math.inf]
        x = torch.tensor([*numbers, limits.tiny * 0.375, limits.tiny / 8, -math.inf, math.nan], dtype=dtype)
        check(torch.frexp, x)
        for other in (math.inf, -math.inf, 0.0, math.nan):
            check(torch.nextafter, x, torch.full_like(x, other))
    check(torch.nextafter, torch.ones(3, 1, dtype=dtype), torch.zeros(2, dtype=torch.float64))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_divisors(name, dtype):
    function = getattr(torch, name)
    for layout in layouts():
        pairs = pair(layout, dtype), pair(layout, dtype, "special", 1)
        check(function, *pairs, message=spelled(name, dtype, layout))
        check_in_place(getattr(torch.Tensor, name + "_"), *pairs, message=spelled(name, dtype, layout))
    check(function, torch.tensor([[12], [-18], [0]], dtype=torch.int16), torch.tensor([8, 27, 0, -5, 2**40]))
    numbers = torch.tensor([2**62, 832040, -(2**63), 6, 2**31 - 1])
    check(function, numbers, torch.tensor([2**40, 514229, 0, -9, 2]))


def test_exponentially_scaled_bessel():
    tolerance = {torch.float64: (1e-13, 1e-13), torch.float32: (1e-6, 1e-6)}
    for dtype in DTYPES:
        for layout in layouts():
            check(torch.special.i1e, pair(layout, dtype, "finite"), message=str(dtype), tolerance=tolerance)


def test_cross_product():
    tolerance = {torch.float32: (1e-6, 1e-5), torch.float16: (1e-2, 3e-2), torch.bfloat16: (5e-2, 3e-1)}
    tolerance |= {torch.complex64: (1e-6, 1e-5), torch.float64: (1e-14, 1e-13)}
    for dtype in DTYPES:
        for layout in layouts()[:5]:
            pairs = pair(layout, dtype, "finite"), pair(layout, dtype, "finite", 1)
            for dim in (1, 2, 5):
                check(lambda x, y, d=dim: torch.linalg.cross(x, y, dim=d), *pairs, tolerance=tolerance)
        row = torch.ones(3).to(dtype)
        check(
            torch.linalg.cross, pair(layouts((2, 4, 3))[1], dtype, "finite"), row.expand(1, 1, 3), tolerance=tolerance
        )
        check(torch.linalg.cross, row[None][:0], row[None])
    check(torch.linalg.cross, torch.ones(2, 3), torch.ones(3))
    check(torch.linalg.cross, torch.ones(2, 1), torch.ones(2, 3))
    check(torch.linalg.cross, torch.ones(2, 3), torch.ones(2, 3, dtype=torch.float64))
    check(torch.linalg.cross, torch.ones(()), torch.ones(()))
    out = layouts((4, 5, 3))
    check_out(torch.linalg.cross, pair(out[0], torch.float32, "finite"), pair(out[0], torch.float32, "finite", 1))
