"""Runs PyTorch's own sample inputs of an operator on the CPU and on neuron, and says how neuron did.

The class of a test (an operator, an element type, forward or backward) is

- `native`: everything ran through lowerings, and values, element types, shapes and strides are the CPU's;
- `fallback`: the results are right, but some operator of the test ran on the CPU;
- `refused`: neuron raises where the CPU does not;
- `fail`: a result differs.
"""

import contextlib
import dataclasses
import functools
import math
import warnings
from collections.abc import Callable, Iterator

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import OpInfo, SampleInput
from torch.utils._pytree import tree_flatten, tree_map

import opentrn  # noqa: F401  registers the device even where autoload is off
from opentrn._extension import native

FORWARD = (torch.float32, torch.bfloat16, torch.int64, torch.bool)
BACKWARD = (torch.float32,)
DEVICE = "neuron"
# Their contents are whatever was in memory.
UNDEFINED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}
# Every device draws its own numbers; types, shapes and strides are compared. Distributions: tests/ops/test_random.py.
RANDOM = {
    "bernoulli", "cauchy", "exponential", "geometric", "log_normal", "multinomial", "nn.functional.alpha_dropout",
    "nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d",
    "nn.functional.feature_alpha_dropout", "nn.functional.fractional_max_pool2d",
    "nn.functional.fractional_max_pool3d", "nn.functional.multi_head_attention_forward", "nn.functional.rrelu",
    "normal", "pca_lowrank", "rand_like", "randint", "randint_like", "randn", "randn_like", "svd_lowrank", "uniform",
}  # fmt: skip
# Their other tensors say how the result is cut, and stay on the CPU on any device.
HOST_ARGUMENTS = {"tensor_split"}
# The CPU's result is a slice of its work space.
OWN_STRIDES = {"linalg.lstsq"}
DROPOUT = ("dropout_p", "dropout")  # arguments that make a sample random
# Operators that may take equal elements in any order: how many results are defined all the same.
TIES = {"argsort": 0, "kthvalue": 1, "mode": 1, "sort": 1, "topk": 1}


@dataclasses.dataclass(frozen=True)
class Outcome:
    kind: str  # native, fallback, refused, fail
    detail: str = ""  # the operators that fell back, the error, or the difference


class Different(AssertionError):
    """A result of neuron is not the CPU's."""


def operator_name(op: OpInfo) -> str:
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name


def operators() -> dict[str, OpInfo]:
    return {operator_name(op): op for op in op_db}


def tests_of(op: OpInfo) -> Iterator[tuple[str, torch.dtype, bool]]:
    """(name, element type, whether the gradient is computed too) of each test."""
    supported = op.supported_dtypes("cpu")
    for dtype in FORWARD:
        if dtype in supported:
            yield f"{str(dtype).removeprefix('torch.')}", dtype, False
    if not op.supports_autograd:
        return
    for dtype in BACKWARD:
        if dtype in op.supported_backward_dtypes("cpu"):
            yield f"{str(dtype).removeprefix('torch.')} backward", dtype, True


def to_device(value: object) -> object:
    """The same argument on neuron: tensors as the same view of the same memory, and devices that are named."""
    if isinstance(value, torch.Tensor):
        if value.layout != torch.strided or value.device.type != "cpu" or value.is_nested:
            return value
        return moved(value).requires_grad_(value.requires_grad)
    if isinstance(value, (torch.device, str)) and str(value) == "cpu":
        return torch.device(DEVICE)
    return value


def moved(tensor: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        if tensor.is_conj():
            return moved(tensor.detach().conj()).conj()
        if tensor.is_neg():
            return moved(tensor.detach().resolve_neg())
        memory = torch.empty(0, dtype=tensor.dtype).set_(tensor.detach().untyped_storage())
        return memory.to(DEVICE).as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


def call(
    op: OpInfo, sample: SampleInput, arguments: tuple[object, tuple, dict], backward: bool
) -> tuple[list[object], list[object]]:
    """Results, and gradients of the inputs that want one."""
    first, rest, named = arguments
    results = op(first, *rest, **named)
    if backward:
        results = sample.output_process_fn_grad(results)
    flat, _ = tree_flatten(results)
    if not backward:
        return flat, []
    leaves = [leaf for leaf in tree_flatten(arguments)[0] if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    outputs = [out for out in flat if isinstance(out, torch.Tensor) and out.requires_grad]
    if not leaves or not outputs:
        return flat, []
    ones = [torch.ones_like(out) for out in outputs]
    gradients = torch.autograd.grad(outputs, leaves, ones, allow_unused=True)
    return flat, list(gradients)


def to_double(value: object) -> object:
    """The same argument in float64 or complex128."""
    if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
        return value
    if not value.is_floating_point() and not value.is_complex():
        return value
    wide = value.detach().to(torch.complex128 if value.is_complex() else torch.float64)
    return wide.requires_grad_(value.requires_grad)


def compare_values(actual: torch.Tensor, expected: torch.Tensor, exact: Callable[[], object]) -> None:
    """PyTorch's default tolerance; else an error, against the same call in float64, no larger than the CPU's own and
    the rounding of the largest element."""
    actual, expected = actual.detach().cpu(), expected.detach()
    try:
        return torch.testing.assert_close(actual, expected, equal_nan=True)
    except AssertionError as error:
        message = " ".join(str(error).split())[:300]
    if not (expected.is_floating_point() or expected.is_complex()):
        raise Different(message)
    reference = exact()
    if not isinstance(reference, torch.Tensor) or reference.shape != expected.shape:
        raise Different(message)
    reference = reference.detach()
    kept = reference.isfinite() & expected.isfinite()
    wide = reference.dtype
    # What is not finite has no error: there both have to agree.
    torch_equal = torch.equal(actual[~kept].nan_to_num(7.0), expected[~kept].nan_to_num(7.0))
    own = (actual.to(wide) - reference)[kept].abs().amax().item() if kept.any() else 0.0
    cpus = (expected.to(wide) - reference)[kept].abs().amax().item() if kept.any() else 0.0
    rounding = torch.finfo(expected.dtype).eps * reference[kept].abs().amax().item() if kept.any() else 0.0
    if not torch_equal or not own <= cpus + rounding:
        raise Different(f"{message}; error {own:.3g}, the CPU's {cpus:.3g}")


def compare(
    actual: object, expected: object, exact: Callable[[], object], values_matter: bool, strides: bool = True
) -> None:
    """Raises Different. Values if they matter, element types, shapes and strides."""
    if not isinstance(expected, torch.Tensor):
        same = type(actual) is type(expected) and (
            not values_matter or actual == expected or (actual != actual and expected != expected)
        )
        if not same and isinstance(expected, float):
            same = math.isclose(actual, expected, rel_tol=1e-5, abs_tol=1e-5)
        if not same and not isinstance(expected, (torch.Generator,)):
            raise Different(f"{actual!r}, expected {expected!r}")
        return
    if not isinstance(actual, torch.Tensor):
        raise Different(f"{actual!r}, expected a tensor")
    for what in ("dtype", "shape", "layout"):
        if getattr(actual, what) != getattr(expected, what):
            raise Different(f"{what} {getattr(actual, what)}, expected {getattr(expected, what)}")
    if expected.layout != torch.strided:
        return compare(actual.to_dense(), expected.to_dense(), lambda: None, values_matter)
    if strides and expected.numel() > 0 and actual.stride() != expected.stride():
        raise Different(f"strides {actual.stride()}, expected {expected.stride()} of shape {tuple(expected.shape)}")
    if values_matter:
        compare_values(actual, expected, exact)


def values_are_defined(op: OpInfo, sample: SampleInput, result: int) -> bool:
    """Whether result number `result` is the same on every device."""
    if op.name in UNDEFINED or op.name in RANDOM or any(sample.kwargs.get(name) for name in DROPOUT):
        return False
    return op.name not in TIES or result < TIES[op.name]


def attempt(function: Callable[[], tuple[list[object], list[object]]]) -> tuple | Exception:
    try:
        return function()
    except Exception as error:
        return error


def run_sample(op: OpInfo, sample: SampleInput, backward: bool) -> None:
    # First, because the CPU's call may write its arguments.
    rest = (sample.args, sample.kwargs)
    arguments = (tree_map(to_device, sample.input), *(rest if op.name in HOST_ARGUMENTS else tree_map(to_device, rest)))
    wide = tree_map(to_double, (sample.input, *rest))
    actual = attempt(lambda: call(op, sample, arguments, backward))
    expected = attempt(lambda: call(op, sample, (sample.input, *rest), backward))
    if isinstance(expected, Exception):
        if isinstance(actual, type(expected)):
            return
        raise Different(f"{type(actual).__name__}, expected {type(expected).__name__}: {str(expected)[:200]}")
    if isinstance(actual, Exception):
        raise actual
    exact = functools.cache(lambda: attempt(lambda: call(op, sample, wide, backward)))

    def exact_result(part: int, i: int) -> object:
        results = exact()
        return results[part][i] if isinstance(results, tuple) and i < len(results[part]) else None

    for part, (found, wanted) in enumerate(zip(actual, expected, strict=True)):
        if len(found) != len(wanted):
            raise Different(f"{len(found)} results, expected {len(wanted)}")
        for i, (one, other) in enumerate(zip(found, wanted, strict=True)):
            # How gradients lie in memory is nobody's promise.
            strides = part == 0 and op.name not in OWN_STRIDES
            compare(one, other, functools.partial(exact_result, part, i), values_are_defined(op, sample, i), strides)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def run_test(op: OpInfo, dtype: torch.dtype, backward: bool) -> Outcome:
    native.clear_statistics()
    torch.manual_seed(0)
    with quiet():
        try:
            for sample in op.sample_inputs("cpu", dtype, requires_grad=backward):
                run_sample(op, sample, backward)
        except Different as error:
            return Outcome("fail", str(error))
        except Exception as error:
            return Outcome("refused", f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")
    fallbacks = sorted({row["operator"].removeprefix("aten::") for row in native.statistics()["fallbacks"]})
    return Outcome("fallback", ", ".join(fallbacks)) if fallbacks else Outcome("native")
