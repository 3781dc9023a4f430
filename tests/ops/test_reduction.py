"""Reductions, scans and softmax."""

import math

import pytest
import torch
from differential import ALL, FLOATS, INTEGERS, SHAPE, check, check_out, layouts, pair, values
from torch.nn import functional

DTYPES = ALL
DIMS = (0, 1, -1)
EMPTY = [torch.zeros(0), torch.zeros(0, 3), torch.zeros(2, 0, 3), torch.zeros(0, dtype=torch.int64)]
# Sums in another order: room for the accumulated rounding of the CPU's own sums.
SUMS = {
    torch.float32: (2e-6, 2e-6),
    torch.float64: (1e-13, 1e-13),
    torch.float16: (5e-3, 2e-3),
    torch.bfloat16: (1.6e-2, 1e-2),
    torch.complex64: (5e-6, 5e-6),
    torch.complex128: (1e-13, 1e-13),
}

FULL = {
    "sum": torch.sum,
    "mean": torch.mean,
    "prod": torch.prod,
    "max": torch.max,
    "min": torch.min,
    "amax": torch.amax,
    "amin": torch.amin,
    "argmax": torch.argmax,
    "argmin": torch.argmin,
    "any": torch.any,
    "all": torch.all,
    "nansum": torch.nansum,
    "count_nonzero": torch.count_nonzero,
    "aminmax": torch.aminmax,
}
ALONG = {
    **FULL,
    "logsumexp": torch.logsumexp,
    "cumsum": torch.cumsum,
    "cumprod": torch.cumprod,
    "cummax": torch.cummax,
    "cummin": torch.cummin,
}
NO_KEEPDIM = ("count_nonzero", "cumsum", "cumprod", "cummax", "cummin")
FALLBACKS = {
    ("logsumexp", torch.complex64),
    ("logsumexp", torch.complex128),
    ("var", torch.complex64),
    ("var", torch.complex128),
}


def kind_of(name):
    return "finite" if name in ("prod", "cumprod") else "special"


def along(name, function, dim):
    return (lambda x: function(x, dim=dim)) if name == "aminmax" else (lambda x: function(x, dim))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", FULL)
def test_full(name, dtype):
    for layout in layouts():
        check(FULL[name], pair(layout, dtype, kind_of(name)), message=f"{name} {dtype} {layout.name}", tolerance=SUMS)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, dtype) for name in ALONG for dtype in DTYPES if (name, dtype) not in FALLBACKS],
    ids=str,
)
def test_along_a_dimension(name, dtype):
    for layout in layouts():
        for dim in DIMS:
            message = f"{name} {dtype} {layout.name} {dim}"
            check(along(name, ALONG[name], dim), pair(layout, dtype, kind_of(name)), message=message, tolerance=SUMS)


@pytest.mark.parametrize("name", [name for name in ALONG if name not in NO_KEEPDIM])
def test_keepdim(name):
    for layout in layouts()[:2]:
        for dim in DIMS:
            check(
                lambda x, dim=dim: ALONG[name](x, dim=dim, keepdim=True),
                pair(layout, torch.float32, kind_of(name)),
                message=f"{name} {layout.name} {dim}",
                tolerance=SUMS,
            )


DIMENSIONS = [(0, 1), (-1, 0), (), (0, 0), (3,), None, (0, 1, 2)]
BY_DIMENSIONS = ["sum", "mean", "amax", "amin", "any", "all", "nansum", "logsumexp", "var", "linalg_vector_norm"]
# amax, amin and logsumexp take no None; logsumexp of no dimension fails on the CPU.
NOT_TAKEN = {("amax", None), ("amin", None), ("logsumexp", None), ("logsumexp", ())}


@pytest.mark.parametrize(
    ("name", "dims"),
    [(name, dims) for name in BY_DIMENSIONS for dims in DIMENSIONS if (name, dims) not in NOT_TAKEN],
    ids=str,
)
def test_several_dimensions(name, dims):
    function = torch.linalg.vector_norm if name == "linalg_vector_norm" else getattr(torch, name)
    for layout in layouts()[:5]:
        check(
            lambda x: function(x, dim=dims),
            pair(layout, torch.float32, "finite"),
            message=f"{name} {layout.name}",
            tolerance=SUMS,
        )


@pytest.mark.parametrize("name", ALONG)
def test_of_nothing(name):
    for nothing in EMPTY:
        if name in FULL:
            check(FULL[name], nothing, message=f"{name} {tuple(nothing.shape)}")
        for dim in range(nothing.dim()):
            check(along(name, ALONG[name], dim), nothing, message=f"{name} {tuple(nothing.shape)} {dim}")


@pytest.mark.parametrize("function", [torch.sum, torch.prod, torch.mean, torch.all, torch.any, torch.count_nonzero])
def test_of_nothing_expanded(function):
    for operand in (torch.zeros(1).expand(0), torch.zeros(1, 3).expand(0, 3), torch.zeros(1, 1, 2).expand(4, 0, 2)):
        check(function, operand)
        check(lambda x: function(x, 0), operand)


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "nansum", "cumsum", "cumprod"])
def test_dtype_argument(name):
    function = getattr(torch, name)
    arguments = (0,) if name.startswith("cum") else ()
    for dtype in DTYPES:
        for wanted in (
            torch.float32,
            torch.float64,
            torch.int64,
            torch.int8,
            torch.bfloat16,
            torch.bool,
            torch.complex64,
        ):
            x = values((6,), dtype, "positive")
            if dtype.is_complex and not wanted.is_complex:
                continue
            check(
                lambda t, w=wanted: function(t, *arguments, dtype=w),
                x,
                message=f"{name} {dtype} {wanted}",
                tolerance=SUMS,
            )


@pytest.mark.parametrize("name", ["sum", "mean", "amax", "any", "argmax", "cumsum", "all", "prod", "logsumexp"])
def test_out(name):
    for dtype in (torch.float32, torch.int64):
        check_out(
            lambda x, out=None: ALONG[name](x, 1, out=out) if out is not None else ALONG[name](x, 1),
            pair(layouts()[1], dtype, "finite"),
            message=f"{name} {dtype}",
            tolerance=SUMS,
        )


def test_sum_into_another_type():
    check(lambda x: torch.sum(x, 0, out=torch.zeros(3, dtype=torch.float64, device=x.device)), torch.ones(2, 3))


def test_ties_and_nans():
    x = torch.tensor([[3, 3, 1], [0, 2, 2]])
    nan = torch.tensor([[1, math.nan, 3], [math.nan, math.nan, math.nan]])
    for function in (torch.argmax, torch.argmin, torch.max, torch.min):
        check(lambda t, f=function: f(t, 1), x)
        check(lambda t, f=function: f(t, 0), x)
        check(lambda t, f=function: f(t, 1), nan)
        check(lambda t, f=function: f(t, 1), nan.bfloat16())
        check(function, nan)
        check(function, nan.half())


def test_cumulative_extremes_take_the_last_of_equals():
    for x in (
        torch.tensor([1.0, 3, 3, math.nan, 2, math.nan, 5]),
        torch.tensor([1, 1, 0, 0]),
        torch.tensor([True, False]),
    ):
        check(lambda t: torch.cummax(t, 0), x)
        check(lambda t: torch.cummin(t, 0), x)


def test_dimension_out_of_range():
    for name in ALONG:
        check(along(name, ALONG[name], 3), torch.ones(2, 3), message=name)
        check(along(name, ALONG[name], -3), torch.ones(2, 3), message=name)


@pytest.mark.parametrize("correction", [None, 0, 1, 2, 0.5, 100], ids=str)
@pytest.mark.parametrize("name", ["var", "std", "var_mean", "std_mean"])
@pytest.mark.filterwarnings("ignore")
def test_variance(name, correction):
    function = getattr(torch, name)
    keywords = {} if correction is None else {"correction": correction}
    for dtype in (*FLOATS, torch.int64):
        for layout in layouts():
            for dim in (None, 0, (0, 2)):
                check(
                    lambda x, d=dim: function(x, d, **keywords),
                    pair(layout, dtype, "finite"),
                    message=f"{name} {dtype} {layout.name} {dim}",
                    tolerance=SUMS,
                )


def test_variance_around_a_large_mean():
    x = torch.randn(1000, generator=torch.Generator().manual_seed(1)) * 1e-2 + 1e4
    torch.testing.assert_close(torch.var(x.to("neuron")).cpu(), torch.var(x.double()).float(), rtol=1e-6, atol=0)


@pytest.mark.parametrize("order", [0, 1, 2, 3, 0.5, -1, -2.5, math.inf, -math.inf], ids=str)
def test_vector_norm(order):
    for dtype in (*FLOATS, torch.complex64, torch.int64):
        for layout in layouts():
            for dim in (None, 1):
                if layout.name == "scalar" and dim == 1:
                    continue
                check(
                    lambda x, d=dim: torch.linalg.vector_norm(x, order, d),
                    pair(layout, dtype, "nonzero"),
                    message=f"{dtype} {layout.name} {dim}",
                    tolerance={**SUMS, torch.float32: (5e-6, 5e-6)},
                )
    for wanted in (torch.float64, torch.float16, torch.complex64):
        check(lambda x, w=wanted: torch.linalg.vector_norm(x, order, dtype=w), torch.ones(3))


def test_accumulation_is_wide():
    ones = torch.ones(512, dtype=torch.bfloat16)
    check(torch.sum, ones)
    check(lambda x: torch.cumsum(x, 0)[-1], ones[:300])
    check(lambda x: torch.cumsum(x, 0)[-1], torch.ones(128, dtype=torch.bool))
    check(torch.sum, torch.full((3,), 2**31 - 1, dtype=torch.int32))
    check(lambda x: torch.cumsum(x, 0, dtype=torch.int8), torch.ones(4, dtype=torch.int64))


def test_expanded_gradient_of_a_sum():
    def gradient(x):
        leaf = x.detach().clone().requires_grad_()
        torch.sin(leaf).sum().backward()
        return leaf.grad

    check(gradient, pair(layouts()[1], torch.float32, "finite"))


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax(name):
    function = getattr(torch, name)
    for dtype in (*FLOATS, torch.int64, torch.bool):
        for layout in layouts():
            for dim in DIMS:
                message = f"{name} {dtype} {layout.name} {dim}"
                check(lambda x, d=dim: function(x, d), pair(layout, dtype, "finite"), message=message, tolerance=SUMS)
                check(
                    lambda x, d=dim: function(x, d, dtype=torch.float32),
                    pair(layout, dtype, "finite"),
                    message=message,
                    tolerance=SUMS,
                )
    for row in ([math.inf, 0.0], [-math.inf, -math.inf], [math.nan, 1.0], [1000.0, -1000.0]):
        check(lambda x: function(x, 0), torch.tensor(row))
    check(lambda x: function(x, 1), torch.ones(2, 0))
    check(lambda x: function(x, 2), torch.ones(2, 3))


def test_safe_softmax():
    for dtype in FLOATS:
        for layout in layouts():
            for dim in DIMS:
                x = pair(layout, dtype, "finite")
                check(lambda x, d=dim: torch._safe_softmax(x, d), x, tolerance=SUMS)
                check(lambda x, d=dim: torch._safe_softmax(x, d, torch.float32), x, tolerance=SUMS)
        x = torch.randn(4, 5, generator=torch.Generator().manual_seed(0)).to(dtype)
        x[0] = -math.inf
        x[1, 1:] = -math.inf
        x[2, 2] = math.inf
        x[3, 3] = math.nan
        for dim in (0, 1):
            check(lambda x, d=dim: torch._safe_softmax(x, d), x, tolerance=SUMS)
        check(lambda x: torch._safe_softmax(x, 0), torch.tensor(-math.inf, dtype=dtype))
    for empty in EMPTY[:3]:
        check(lambda x: torch._safe_softmax(x, 0), empty)
    check(lambda x: torch._safe_softmax(x, 0), torch.ones(2, 3, dtype=torch.int64))
    check(lambda x: torch._safe_softmax(x, 2), torch.ones(2, 3))


def test_safe_softmax_gradient():
    def gradient(x):
        leaf = x.detach().clone().requires_grad_()
        result = torch._safe_softmax(leaf.masked_fill(torch.eye(4, 5, device=x.device) > 0, -math.inf), 1)
        (result * torch.arange(20.0, device=x.device).reshape(4, 5)).sum().backward()
        return leaf.grad

    x = torch.randn(4, 5, generator=torch.Generator().manual_seed(1))
    check(gradient, x, tolerance={torch.float32: (1e-5, 1e-5)})


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_gradient(name):
    def gradient(x):
        leaf = x.detach().clone().requires_grad_()
        result = getattr(functional, name)(leaf, dim=1)
        (result * torch.arange(result.numel(), device=x.device).reshape(result.shape).to(x.dtype)).sum().backward()
        return leaf.grad

    for dtype in FLOATS:
        for layout in layouts()[:4]:
            tolerance = {
                torch.float32: (1e-5, 1e-5),
                torch.float64: (1e-12, 1e-12),
                torch.float16: (1e-2, 2e-1),
                torch.bfloat16: (5e-2, 1.0),
            }
            check(gradient, pair(layout, dtype, "finite"), message=f"{name} {dtype} {layout.name}", tolerance=tolerance)


def test_equal_results_every_time():
    x = values((16, 21, 32), torch.float32, "finite").to("neuron")
    results = {torch.mean(x).item() for _ in range(50)}
    assert len(results) == 1


def test_integers_reduce_exactly():
    for dtype in INTEGERS:
        check(torch.sum, values(SHAPE, dtype))
        check(torch.amax, values(SHAPE, dtype))
    check(torch.max, torch.tensor([2**53 + 1, 2**53]))


# The CPU's own answer depends on where the infinity stands, so that its mean is the standard.
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_infinite_means(dtype):
    operand = torch.tensor([[math.inf, 1.0], [-math.inf, 2.0], [-math.inf, math.inf], [1.0, 2.0]], dtype=dtype)
    for function in (torch.var_mean, torch.std_mean):
        mean = function(operand.to("neuron"), 1)[1].cpu()
        torch.testing.assert_close(mean, operand.mean(1), equal_nan=True)


# Squares of these are no float32 numbers. Over all dimensions the CPU itself overflows.
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize(
    "operand", [[1e20, 2e20, 3e20], [1e-25, 2e-25, 3e-25], [3e38, 1, 2], [3e38] * 3, [1e-40, 3e-40]]
)
def test_spread_of_extreme_numbers(operand, dtype):
    x = torch.tensor([operand, [0.0] * len(operand), [1.0, 2.0, 3.0][: len(operand)]], dtype=dtype)
    for function in (torch.std, torch.var, torch.std_mean, torch.var_mean):
        check(lambda x, f=function: f(x, 1), x, tolerance=SUMS)


@pytest.mark.parametrize("order", [1, 2, 3, 0.5, math.inf, 0, -1, -math.inf], ids=str)
def test_renorm(order):
    for dtype in (*FLOATS, torch.complex64, torch.int64):
        for layout in layouts():
            for dim in (0, 1, -1, 3):
                check(
                    lambda x, d=dim: torch.renorm(x, order, d, 2.5),
                    pair(layout, dtype, "nonzero"),
                    message=f"{dtype} {layout.name} {dim}",
                    tolerance={**SUMS, torch.float32: (5e-6, 5e-6)},
                )
    x = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
    check(lambda x: torch.renorm(x, order, 0, 0), x)
    check(lambda x: torch.renorm(x, order, 0, 100), x)
    check(lambda x: torch.renorm(x, order, 0, -1), x)
    check(lambda x: torch.renorm(x, order, 0, 1), x[0])


@pytest.mark.parametrize("order", [None, 0, 1, 2, 3, -1, math.inf, -math.inf], ids=str)
def test_norm_operator(order):
    aten = torch.ops.aten
    for dtype in (*FLOATS, torch.complex64, torch.int64):
        for layout in layouts():
            x = pair(layout, dtype, "nonzero")
            message = f"{dtype} {layout.name}"
            tolerance = {**SUMS, torch.float32: (5e-6, 5e-6)}
            if order is not None:
                check(lambda t: aten.norm.Scalar(t, order), x, message=message, tolerance=tolerance)
            for dim in ([1], [0, 2], []):
                check(
                    lambda t, d=dim: aten.norm.ScalarOpt_dim(t, order, d, True), x, message=message, tolerance=tolerance
                )
                check(
                    lambda t, d=dim: aten.norm.ScalarOpt_dim_dtype(t, order, d, False, dtype=torch.float64),
                    x,
                    message=message,
                    tolerance=tolerance,
                )
    check(torch.dist, torch.ones(3, 4), torch.arange(4.0))
    check(lambda x: torch.norm(x, 2, 1, out=torch.zeros(3, device=x.device)), torch.ones(3, 4), tolerance=SUMS)


def test_equal():
    x = torch.tensor([1.0, 2, 3])
    nan = torch.tensor([math.nan])
    for left, right in (
        (x, x.clone()),
        (x, x + 1),
        (x, x.double()),
        (x, x[None]),
        (x, x[:2]),
        (nan, nan.clone()),
        (x[:0], x[:0]),
        (x[:0], x[None, :0]),
        (x[0], x[0]),
        (x.to(torch.complex64), x),
        (torch.eye(3)[:, ::2], torch.eye(3)[:, ::2].contiguous()),
    ):
        check(torch.equal, left, right)
    check(lambda t: torch.equal(t, t), nan)
    check(lambda t: torch.equal(t, t), x)


def test_bincount():
    for dtype in DTYPES:
        x = torch.tensor([1, 2, 2, 5]).to(dtype)
        check(torch.bincount, x)
        check(torch.bincount, x[:0])
        check(torch.bincount, torch.tensor([1, 2, 2, 5]), x, message=str(dtype))
    x = torch.tensor([1, 2, 2, 5])
    for least in (0, 3, 8, -1):
        check(lambda t, n=least: torch.bincount(t, minlength=n), x)
        check(lambda t, n=least: torch.bincount(t, minlength=n), x[:0])
        check(lambda t, n=least: torch.bincount(t, torch.ones(4, device=t.device), n), x)
    check(torch.bincount, x[:0], torch.ones(0))
    for operand in (torch.tensor([-1]), torch.tensor([[1]]), torch.tensor(1), torch.zeros(0, 2, dtype=torch.int64)):
        check(torch.bincount, operand)
    check(torch.bincount, x, torch.ones(3))
    check(torch.bincount, torch.arange(12).reshape(3, 4).t()[1])
