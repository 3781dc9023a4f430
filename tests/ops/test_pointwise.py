"""Element-wise operators: arithmetic, comparison, logic, math, selection."""

import math

import pytest
import torch
from differential import (
    ALL,
    FLOATS,
    INTEGERS,
    REAL,
    SHAPE,
    check,
    check_in_place,
    check_out,
    host_scalar,
    layouts,
    pair,
    values,
)

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


def kinds(kind, names):
    """The kind of values that suits these functions."""
    return dict.fromkeys(names.split(), kind)


UNARY = {
    **kinds(
        "special",
        "abs neg sign sgn reciprocal ceil floor round trunc exp exp2 expm1 log log1p sqrt rsqrt sin cos atan "
        "sinh cosh tanh asinh erf erfc angle isnan isinf isneginf isposinf isfinite signbit logical_not "
        "bitwise_not nan_to_num sigmoid relu square deg2rad rad2deg positive conj_physical",
    ),
    **kinds("finite", "frac tan sinc"),
    **kinds("positive", "log2 log10 acosh lgamma digamma"),
    **kinds("unit", "asin acos atanh erfinv logit"),
}

# Functions whose CPU form itself is only good to a few ulp, or rounds 16-bit intermediates.
LOOSE = {
    "logit": {torch.float16: (2e-3, 2e-3), torch.bfloat16: (1.6e-2, 2e-2)},
    "lgamma": {torch.float32: (5e-6, 2e-6), torch.float64: (1e-12, 1e-12)},
    "digamma": {torch.float32: (5e-6, 2e-6), torch.float64: (1e-12, 1e-12)},
    "erfinv": {torch.float32: (2e-6, 2e-7), torch.float64: (1e-13, 1e-13)},
    "erfc": {torch.float32: (2e-6, 2e-7)},
}

# In place, CPU PyTorch does not look at overlapping memory where these leave the numbers as they are.
COPIES_UNCHANGED = ("nan_to_num", "conj_physical")

# Combinations that run as a fallback.
FALLBACKS = {("logaddexp", torch.complex64)}

BINARY = {
    **kinds(
        "special",
        "add sub mul div maximum minimum fmax fmin atan2 hypot copysign logical_and logical_or logical_xor eq "
        "ne lt le gt ge bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift logaddexp "
        "logaddexp2 xlogy heaviside",
    ),
    **kinds("nonzero", "floor_divide remainder fmod"),
    **kinds("positive", "pow"),
}
NATIVE_BINARY = [(name, dtype) for name in BINARY for dtype in DTYPES if (name, dtype) not in FALLBACKS]


def spelled(name, dtype, layout):
    return f"{name} {dtype} {layout.name}"


def loose(name):
    return LOOSE.get(name)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name, dtype):
    function = getattr(torch, name)
    for layout in layouts():
        check(function, pair(layout, dtype, UNARY[name]), message=spelled(name, dtype, layout), tolerance=loose(name))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", [name for name in UNARY if hasattr(torch.Tensor, name + "_")])
def test_unary_in_place(name, dtype):
    for layout in layouts():
        if layout.name == "expanded" and name in COPIES_UNCHANGED:
            continue
        operand = pair(layout, dtype, UNARY[name])
        method = getattr(torch.Tensor, name + "_")
        check_in_place(method, operand, message=spelled(name, dtype, layout), tolerance=loose(name))


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", ["abs", "neg", "exp", "sqrt", "floor", "sigmoid", "isneginf", "logical_not", "sgn"])
def test_unary_out(name, dtype):
    for layout in layouts():
        check_out(getattr(torch, name), pair(layout, dtype, UNARY[name]), message=spelled(name, dtype, layout))


@pytest.mark.parametrize(("name", "dtype"), NATIVE_BINARY, ids=str)
def test_binary(name, dtype):
    function = getattr(torch, name)
    kind = BINARY[name]
    for layout in layouts():
        check(function, pair(layout, dtype, kind), pair(layout, dtype, kind, 1), message=spelled(name, dtype, layout))


@pytest.mark.parametrize(("name", "dtype"), NATIVE_BINARY, ids=str)
def test_binary_broadcasts_and_mixes_layouts(name, dtype):
    function = getattr(torch, name)
    kind = BINARY[name]
    contiguous, transposed, *_ = layouts()
    row = layouts((1, SHAPE[-1]))[0]
    scalar = layouts()[5]
    for left, right in [
        (contiguous, transposed),
        (transposed, contiguous),
        (transposed, row),
        (row, contiguous),
        (transposed, scalar),
        (scalar, transposed),
    ]:
        message = f"{name} {dtype} {left.name} {right.name}"
        check(function, pair(left, dtype, kind), pair(right, dtype, kind, 1), message=message)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", [name for name in BINARY if hasattr(torch.Tensor, name + "_")])
def test_binary_in_place(name, dtype):
    kind = BINARY[name]
    for layout in layouts():
        pairs = pair(layout, dtype, kind), pair(layout, dtype, kind, 1)
        check_in_place(getattr(torch.Tensor, name + "_"), *pairs, message=spelled(name, dtype, layout))


@pytest.mark.parametrize("name", BINARY)
def test_binary_out(name):
    for dtype in (torch.float32, torch.int64):
        for layout in layouts():
            pairs = pair(layout, dtype, BINARY[name]), pair(layout, dtype, BINARY[name], 1)
            check_out(getattr(torch, name), *pairs, message=spelled(name, dtype, layout))


@pytest.mark.parametrize("number", [2, 0.3, -3, True, 0, 1e10, 2.0 + 1j], ids=str)
@pytest.mark.parametrize(
    "name",
    [
        "add",
        "sub",
        "mul",
        "div",
        "floor_divide",
        "remainder",
        "fmod",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "pow",
        "rsub",
        "bitwise_and",
        "bitwise_or",
        "xlogy",
    ],
)
def test_python_numbers(name, number):
    for dtype in DTYPES:
        for layout in layouts()[:1] + layouts()[5:]:
            operand = pair(layout, dtype, "positive" if name == "pow" else "special")
            check(getattr(torch, name), operand, number, message=f"{spelled(name, dtype, layout)} {number}")


@pytest.mark.parametrize(
    "name", ["add", "sub", "mul", "div", "remainder", "floor_divide", "pow", "eq", "maximum", "atan2"]
)
def test_promotion_of_every_pair(name):
    function = getattr(torch, name)
    for left in DTYPES:
        for right in DTYPES:
            for one, other in [((3,), (3,)), ((3,), ()), ((), (3,))]:
                first = pair_of(one, left)
                second = pair_of(other, right)
                check(
                    function, first, second, message=f"{name} {left}{one} {right}{other}", tolerance=pow_tolerance(name)
                )


def pow_tolerance(name):
    return {torch.float32: (2e-6, 1e-6), torch.complex64: (5e-6, 5e-6)} if name == "pow" else None


def pair_of(shape, dtype):
    from differential import Layout

    return pair(Layout("plain", shape, lambda t: t), dtype, "nonzero")


def test_host_scalars_take_part_like_cpu_tensors():
    for dtype in REAL:
        for scalar in (host_scalar(3, torch.int64), host_scalar(0.3, torch.float32), host_scalar(2.5, torch.float64)):
            for function in (torch.add, torch.mul, torch.div):
                check(function, pair(layouts()[0], dtype, "finite"), scalar, message=f"{function} {dtype} {scalar}")


@pytest.mark.parametrize("alpha", [1, 2, -1.5, True, 2.0], ids=str)
def test_alpha(alpha):
    for function in (torch.add, torch.sub):
        for dtype in DTYPES:
            pairs = pair(layouts()[0], dtype, "finite"), pair(layouts()[1], dtype, "finite", 1)
            tolerance = {
                torch.float32: (1e-6, 1e-6),
                torch.complex64: (1e-5, 1e-5),
                torch.bfloat16: (1.6e-2, 1e-2),
                torch.float16: (2e-3, 1e-3),
            }
            check(function, *pairs, alpha=alpha, message=f"{function} {dtype} {alpha}", tolerance=tolerance)


@pytest.mark.parametrize("mode", [None, "trunc", "floor", "bad"])
def test_rounding_modes(mode):
    for dtype in DTYPES:
        for layout in layouts():
            pairs = pair(layout, dtype, "special"), pair(layout, dtype, "nonzero", 1)
            check(torch.div, *pairs, rounding_mode=mode, message=spelled("div", dtype, layout))


def test_integer_division_signs():
    left = torch.tensor([-7, 7, -7, 7])
    right = torch.tensor([2, 2, -2, -2])
    for function in (torch.floor_divide, torch.remainder, torch.fmod):
        check(function, left, right)


def test_integer_division_by_zero_raises():
    for function in (torch.floor_divide, torch.remainder, torch.fmod):
        check(function, torch.tensor([1, 2]), torch.tensor([1, 0]))


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, -2, 0.5, -0.5, 2.5, -3, 4, float("nan"), float("inf")], ids=str)
def test_power_of_numbers(exponent):
    for dtype in DTYPES:
        for layout in layouts():
            tolerance = {torch.float32: (2e-6, 1e-6), torch.complex64: (1e-5, 1e-5)}
            check(
                torch.pow,
                pair(layout, dtype),
                exponent,
                message=f"{spelled('pow', dtype, layout)} {exponent}",
                tolerance=tolerance,
            )


@pytest.mark.parametrize("base", [1, 2, 0.5, -1, 0], ids=str)
def test_numbers_to_powers(base):
    for dtype in (torch.float32, torch.int64, torch.bfloat16, torch.bool):
        operand = pair(layouts()[1], dtype, "finite")
        check(torch.pow, base, operand, message=f"{base} {dtype}", tolerance=pow_tolerance("pow"))


def test_large_integers_are_exact():
    check(torch.add, torch.tensor([2**40 + 1, 2**24 + 1]), 0)
    check(torch.mul, torch.tensor([2**31 + 5]), 3)
    check(torch.pow, torch.tensor([2]), 40)
    check(torch.eq, torch.tensor([2**53 + 1]), 2**53 + 1)
    check(torch.maximum, torch.tensor([2**53 + 1]), torch.tensor([2**53]))


def test_integers_wrap():
    check(torch.add, torch.tensor([250], dtype=torch.uint8), torch.tensor(10))
    check(torch.add, torch.tensor([1], dtype=torch.int8), 300)
    check(torch.mul, torch.tensor([2**62]), 4)
    check(torch.neg, torch.tensor([-128], dtype=torch.int8))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_where(dtype):
    condition = torch.tensor([[True], [False], [True]])
    for layout in layouts()[:5]:
        pairs = pair(layout, dtype), pair(layouts()[1], dtype, "special", 1)
        check(torch.where, condition, *pairs, message=spelled("where", dtype, layout))
        check(torch.where, condition, pairs[0], 2.5, message=spelled("where", dtype, layout))
        check(torch.where, condition, 3, pairs[0], message=spelled("where", dtype, layout))
    check(torch.where, torch.tensor([1.0]), torch.ones(1), torch.ones(1))


@pytest.mark.parametrize("value", [0, 2.7, -1, 300, 1e300, True, -float("inf"), 1j], ids=str)
def test_masked_fill(value):
    for dtype in DTYPES:
        for layout in layouts():
            mask = torch.tensor([True, False, True, False, True])
            if layout.name == "scalar":
                mask = torch.tensor(True)
            operand = pair(layout, dtype)
            check(torch.masked_fill, operand, mask, value, message=f"{spelled('masked_fill', dtype, layout)} {value}")
            if layout.name == "transposed":
                device_mask = mask.to("neuron")
                check_in_place(lambda t, m=mask, d=device_mask: t.masked_fill_(d if t.is_neuron else m, value), operand)


def test_masked_fill_refuses_what_the_cpu_refuses():
    x = torch.ones(2, 3)
    check(torch.masked_fill, x, torch.ones(2, 3), 1.0)
    check(torch.masked_fill, x, torch.ones(2, 3, dtype=torch.bool), torch.ones(3))
    check(torch.masked_fill, x, torch.ones(2, 3, dtype=torch.bool), torch.tensor(7.0))
    check(torch.masked_fill, x, torch.ones(4, dtype=torch.bool), 1.0)


@pytest.mark.parametrize(
    "bounds", [(-1, 1), (0.1, None), (None, 2), (None, None), (2, -2), (float("nan"), 1), (True, 3)], ids=str
)
def test_clamp(bounds):
    for dtype in DTYPES:
        for layout in layouts():
            check(torch.clamp, pair(layout, dtype), *bounds, message=f"{spelled('clamp', dtype, layout)} {bounds}")


def test_clamp_with_tensors():
    for dtype in DTYPES:
        for layout in layouts()[:5]:
            low, high = pair(layouts()[1], dtype, "special", 1), pair(layouts()[2], dtype, "special", 2)
            check(torch.clamp, pair(layout, dtype), low, high, message=spelled("clamp", dtype, layout))
            check(torch.clamp_min, pair(layout, dtype), low, message=spelled("clamp_min", dtype, layout))
    check(torch.clamp, torch.ones(2, 3), torch.zeros(1, 2, 3), torch.ones(1, 2, 3))


@pytest.mark.parametrize("value", [1, 0.5, 2], ids=str)
def test_addcmul_addcdiv(value):
    for dtype in ALL:
        for layout in layouts():
            tensors = [pair(layout, dtype, "nonzero", seed) for seed in range(3)]
            tolerance = {torch.float32: (1e-6, 2e-6), torch.complex64: (1e-5, 1e-5), torch.complex128: (1e-13, 1e-13)}
            for function in (torch.addcmul, torch.addcdiv):
                check(
                    function,
                    *tensors,
                    value=value,
                    message=spelled(function.__name__, dtype, layout),
                    tolerance=tolerance,
                )


def test_addcdiv_in_place_on_transposed_memory():
    contiguous, transposed, *_ = layouts()
    operands = (
        pair(transposed, torch.float32),
        pair(contiguous, torch.float32, "finite"),
        pair(transposed, torch.float32, "nonzero"),
    )
    check_in_place(lambda a, b, c: a.addcdiv_(b, c, value=0.5), *operands)


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.5, 0.9, 1.0, 2.0], ids=str)
def test_lerp(weight):
    for dtype in (*FLOATS, torch.complex64, torch.int64):
        tolerance = {torch.float32: (1e-6, 1e-6), torch.complex64: (1e-5, 1e-5)}
        for layout in layouts():
            pairs = pair(layout, dtype, "finite"), pair(layout, dtype, "finite", 1)
            check(torch.lerp, *pairs, weight, message=spelled("lerp", dtype, layout), tolerance=tolerance)
            check(
                torch.lerp,
                *pairs,
                pair(layout, dtype, "unit", 2),
                message=spelled("lerp", dtype, layout),
                tolerance=tolerance,
            )
    check(torch.lerp, torch.ones(2), torch.ones(2, dtype=torch.bfloat16), 0.5)


def test_isin():
    elements = torch.tensor([[1, 2, 3], [4, 5, 6]])
    for invert in (False, True):
        check(torch.isin, elements, torch.tensor([2, 5, 9]), invert=invert)
        check(torch.isin, elements.t(), torch.tensor([2.0, 5.5]), invert=invert)
        check(torch.isin, elements, 3, invert=invert)
        check(torch.isin, 3, elements, invert=invert)
        check(torch.isin, elements, torch.tensor([], dtype=torch.int64), invert=invert)
    check(torch.isin, torch.tensor([True]), torch.tensor([True]))
    check(torch.isin, torch.tensor([1j]), torch.tensor([1j]))


def test_nan_to_num_replacements():
    for dtype in FLOATS + INTEGERS:
        check(torch.nan_to_num, pair(layouts()[0], dtype), 1.5, 7.0, -7.0)
        check(torch.nan_to_num, pair(layouts()[1], dtype), posinf=2.0)


def test_complex_parts():
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64):
        pairs = pair(layouts()[1], dtype, "finite"), pair(layouts()[0], dtype, "finite", 1)
        check(torch.complex, *pairs, message=f"complex {dtype}")
        check(torch.polar, *pairs, message=f"polar {dtype}")
    check(torch.complex, torch.ones(2), torch.ones(2, dtype=torch.float64))


@pytest.mark.parametrize("decimals", [0, 2, -1])
def test_round_decimals(decimals):
    for dtype in (torch.float32, torch.float64, torch.int64):
        check(torch.round, pair(layouts()[1], dtype), decimals=decimals)


def test_threshold():
    for dtype in REAL:
        check(torch.threshold, pair(layouts()[1], dtype), 1.5, 2.5, message=str(dtype))


def test_shapes_that_do_not_broadcast():
    for function in (torch.add, torch.mul, torch.maximum, torch.eq, torch.where):
        arguments = (torch.ones(2), torch.ones(3))
        if function is torch.where:
            arguments = (torch.ones(2, dtype=torch.bool), *arguments)
        check(function, *arguments)


def test_in_place_refusals():
    def in_place(method, *arguments):
        return lambda t: getattr(t.clone(), method)(*arguments)

    check(in_place("add_", 1.5), torch.ones(2, dtype=torch.int64))
    check(in_place("div_", 2), torch.ones(2, dtype=torch.int64))
    check(in_place("sub_", True), torch.ones(2, dtype=torch.bool))
    check(lambda t: t.expand(3, 2).add_(1), torch.ones(2))
    check(lambda t: t.clone().add_(t.expand(3, 2)), torch.ones(2))


def test_overlapping_in_place():
    memory = torch.arange(8.0)
    device = memory.to("neuron")
    for base in (memory, device):
        base[:-1].add_(base.clone()[1:])
        base.mul_(base)
        base[::2].sub_(base[::2])
    check(lambda t: t, memory)
    assert torch.equal(device.cpu(), memory)


def test_rounding_happens_once_in_bfloat16():
    x = torch.tensor([256.0], dtype=torch.bfloat16)
    check(torch.add, x, 1)
    check(torch.mul, torch.tensor([1.5], dtype=torch.bfloat16), 0.3)


def test_special_points():
    nan, inf = math.nan, math.inf
    check(torch.logaddexp, torch.tensor([inf, nan, -inf]), torch.tensor([inf, 1.0, -inf]))
    check(torch.xlogy, torch.tensor([0.0, 0.0, nan]), torch.tensor([nan, inf, 0.0]))
    check(torch.floor_divide, torch.tensor([-0.5, 5, nan, inf, 1, -1]), torch.tensor([1.0, inf, 1, 1, 0, 0]))
    check(torch.remainder, torch.tensor([-0.0, 5, -5, inf, 1]), torch.tensor([1.0, inf, inf, 1, 0]))
    check(torch.hypot, torch.tensor([inf, 3e38, 1e-40]), torch.tensor([nan, 1e38, 1e-40]))
    check(torch.log, torch.tensor([-1.0, 0, 1, inf, nan]))


def test_in_place_on_nothing_expanded():
    nothing = torch.zeros(1, 0, device="neuron").expand(3, 0)
    assert nothing.add_(1).shape == (3, 0)
    assert nothing.fill_(1).pow_(2).shape == (3, 0)


# Of integers the CPU gives the product with the power, infinite or not a number.
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_ldexp_where_the_power_alone_is_no_number(dtype):
    x = torch.tensor([0.0, -0.0, 1e-38, 1e-30, 1.0, 3.0, -1e38, math.inf, math.nan]).to(dtype)
    for exponents in ([200] * 9, [128, 130, 140, 133, -126, -149, -200, 5, 5], [0, 1, -1, 2, -2, 3, -3, 4, 127]):
        check(torch.ldexp, x, torch.tensor(exponents))
        check(torch.ldexp, x, torch.tensor(exponents, dtype=torch.float64))


def test_truncated_quotients_of_narrow_floats():
    for dtype in (torch.bfloat16, torch.float16):
        x, y = 20 * values((500,), dtype, "finite", 1), values((500,), dtype, "nonzero", 2)
        for divisor in (y, y[3], 0.37, y[:1]):
            check(lambda a, b: torch.div(a, b, rounding_mode="trunc"), x, divisor, tolerance={dtype: (0, 0)})
