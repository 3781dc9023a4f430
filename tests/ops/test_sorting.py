"""Sorting, selection by rank, bins and searches."""

import pytest
import torch
from differential import ALL, FLOATS, check, check_out, layouts, pair, values

LAYOUTS = layouts()
REAL = tuple(dtype for dtype in ALL if not dtype.is_complex)
NAN = float("nan")


def distinct(layout, dtype):
    """Values without ties, where which index an unstable CPU kernel picks would be its own affair."""
    result = pair(layout, dtype, "finite")
    count = result.cpu_base.numel()
    order = torch.randperm(count, generator=torch.Generator().manual_seed(1)).view(result.cpu_base.shape)
    result.cpu_base.copy_(order - count // 2)
    result.device_base.copy_(result.cpu_base)
    return result


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_sort(layout, dtype):
    self = pair(layout, dtype)
    for dim in range(-self.cpu.dim() or -1, 0):
        for descending in (False, True):
            check(
                lambda x, d=dim, r=descending: torch.sort(x, dim=d, descending=r, stable=True),
                self,
                message=f"{dim} {descending}",
            )


@pytest.mark.parametrize("dtype", (torch.float32, torch.float64, torch.int64, torch.int16, torch.bfloat16))
@pytest.mark.parametrize("layout", LAYOUTS[:4], ids=lambda layout: layout.name)
def test_selection(layout, dtype):
    self = distinct(layout, dtype)
    for dim in (0, 1, -1):
        check(lambda x, d=dim: x.topk(2, d), self)
        check(lambda x, d=dim: x.topk(3, d, largest=False), self)
        check(lambda x, d=dim: x.kthvalue(2, d), self)
        check(lambda x, d=dim: x.kthvalue(3, d, keepdim=True), self)
        check(lambda x, d=dim: x.median(d), self)
        check(lambda x, d=dim: x.nanmedian(d, keepdim=True), self)
        check(lambda x, d=dim: x.argsort(d), self)
    check(torch.median, self)
    check(torch.nanmedian, self)
    check(torch.msort, self)


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan(dtype):
    x = torch.tensor([1, NAN, -float("inf"), 2, float("inf"), NAN, -0.0, 0.0]).to(dtype)
    x[1] = -x[1]
    for descending in (False, True):
        check(lambda x, r=descending: x.sort(descending=r, stable=True), x)
    check(lambda x: x.topk(1).values, x)
    check(torch.median, x)
    check(torch.nanmedian, x)
    check(lambda x: x.median(0), torch.tensor([1.0, NAN, 0.0, NAN]).to(dtype))
    check(lambda x: x.nanmedian(0), torch.tensor([NAN, NAN]).to(dtype))


def test_integers_beyond_float():
    check(lambda x: x.topk(2), torch.tensor([2**24, 2**24 + 1, 5]))
    check(lambda x: x.sort(), torch.tensor([2**60 + 1, 2**60, -(2**60) - 1]))


def test_long_second_dimension():
    x = torch.randn(3, 5000).abs()
    order = x.to("neuron").argsort(0).cpu()
    assert (x.gather(0, order).diff(dim=0) >= 0).all()


X = torch.arange(6.0).view(2, 3)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.topk(4),
        lambda x: x.topk(-1),
        lambda x: x.topk(0),
        lambda x: (x * 1j).topk(1),
        lambda x: (x > 1).topk(1),
        lambda x: x.topk(1, 5),
        lambda x: x.sum().topk(1),
        lambda x: x.kthvalue(4),
        lambda x: x.kthvalue(0),
        lambda x: x[:, :0].kthvalue(1),
        lambda x: x[:, :0].median(1),
        lambda x: x[:0].median(),
        lambda x: (x * 1j).sort(),
        lambda x: x.sort(4),
        lambda x: torch.histc(x, 0),
        lambda x: torch.histc(x, 3, 5, 2),
        lambda x: torch.histc(x / 0, 3),
        lambda x: torch.bucketize(x, x),
        lambda x: torch.searchsorted(x, x[:1, :1].expand(3, 1)),
        lambda x: torch.searchsorted(x[0], x, right=True, side="left"),
        lambda x: torch.searchsorted(x[0], x, side="middle"),
        lambda x: torch.searchsorted(x, 1.0),
    ],
)
def test_errors(call):
    check(call, X)


@pytest.mark.parametrize("dtype", (torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.int32, torch.uint8))
def test_searches(dtype):
    wanted = values((4, 5), dtype, "finite")
    for size in (0, 1, 2, 5, 8, 9):
        boundaries = values((size,), dtype, "finite", 1).sort().values
        rows = values((4, size), dtype, "finite", 2)
        for right in (False, True):
            check(lambda x, b, r=right: torch.bucketize(x, b, right=r), wanted, boundaries)
            check(lambda x, b, r=right: torch.bucketize(x, b, right=r, out_int32=True), wanted, boundaries)
            check(lambda b, x, r=right: torch.searchsorted(b, x, right=r), rows.sort(-1).values, wanted)
            check(lambda b, x, s, r=right: torch.searchsorted(b, x, right=r, sorter=s), rows, wanted, rows.argsort(-1))


def test_searches_with_numbers_and_nan():
    boundaries = torch.tensor([1.0, 2, 3])
    check(lambda b: torch.bucketize(2, b), boundaries)
    check(lambda b: torch.bucketize(2.5, b), boundaries.long())
    check(lambda b: torch.searchsorted(b, 2, side="right"), boundaries)
    check(torch.bucketize, torch.tensor([NAN, 1.0]), boundaries)
    check(torch.bucketize, torch.tensor([1, 2, 5]), boundaries)


@pytest.mark.parametrize("dtype", FLOATS)
def test_histc(dtype):
    x = values((10, 5), dtype, "finite")
    for arguments in ((3, 0, 3), (3, 0, 0), (10, -2, 5), (100,), (1, 0, 1)):
        check(lambda x, a=arguments: torch.histc(x, *a), x)
        check(lambda x, a=arguments: torch.histc(x.t(), *a), x)
    check(lambda x: torch.histc(x, 3), torch.ones(3, dtype=dtype))
    check(lambda x: torch.histc(x, 3), torch.ones(0, dtype=dtype))


def test_histc_of_integers_which_the_cpu_lacks():
    x = torch.randint(0, 8, (50,), generator=torch.Generator().manual_seed(0))
    expected = torch.histc(x.double(), 8, 0, 7)
    for dtype in (torch.int32, torch.int64):
        actual = torch.histc(x.to(dtype).to("neuron"), 8, 0, 7)
        assert actual.dtype == dtype
        assert torch.equal(actual.cpu().double(), expected)


def test_out():
    check_out(
        lambda x, **out: torch.bucketize(
            x, x.new_tensor([0.0, 1.0]) if x.is_cpu else torch.tensor([0.0, 1.0]).to(x.device), **out
        ),
        pair(LAYOUTS[1], torch.float32, "finite"),
    )


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_mode(dtype):
    for layout in layouts((5, 6, 7)):
        for dim in (0, 1, -1, 3):
            x = pair(layout, dtype, "finite")
            if not (dtype.is_floating_point or dtype.is_complex):
                check(lambda x, d=dim: torch.mode(x, d), x, message=f"{layout.name} {dim}")
                check(lambda x, d=dim: torch.mode(x, d, True), x, message=f"{layout.name} {dim}")
            check(lambda x, d=dim: torch.mode(x, d)[0], x, message=f"{layout.name} {dim}")
            if dtype.is_floating_point:
                check(lambda x, d=dim: torch.mode(x.round(), d), x, message=f"{layout.name} {dim}")


def test_mode_of_nothing():
    check(lambda x: torch.mode(x, 0), torch.ones(0, 3))
    check(lambda x: torch.mode(x, 1), torch.ones(0, 3))
    check(torch.mode, torch.ones(0))
    check(torch.mode, torch.tensor([3, 1, 1, 3, 2]))
    check(torch.mode, torch.tensor([4.0]))
