"""Which operators ran on the device, which fell back to the CPU, where and at what cost."""

import contextlib
import dataclasses
from collections import Counter
from collections.abc import Iterator

from opentrn._extension import FALLBACK_MODES, native


@dataclasses.dataclass(frozen=True)
class FallbackRecord:
    """Calls of one operator that ran on the CPU for one reason from one line of user code."""

    operator: str
    reason: str
    line: str
    calls: int
    bytes_to_host: int
    bytes_to_device: int
    milliseconds: float


_cleared = {"operators": Counter(), "fallbacks": Counter()}


def get_executed_ops() -> list[str]:
    """The operators that ran on the device since clear_op_tracking(), one entry per call, sorted by name."""
    return sorted(_since_cleared("operators").elements())


def get_fallback_ops() -> list[str]:
    """The operators that fell back to the CPU since clear_op_tracking(), one entry per call, sorted by name."""
    return sorted(_since_cleared("fallbacks").elements())


def clear_op_tracking() -> None:
    """Makes get_executed_ops() and get_fallback_ops() begin anew. Reports of the whole run are not affected."""
    for kind in _cleared:
        _cleared[kind] = _calls(kind)


def fallback_report() -> list[FallbackRecord]:
    """Every fallback of this process, the costliest first."""
    names = [field.name for field in dataclasses.fields(FallbackRecord)]
    rows = [FallbackRecord(**{name: row[name] for name in names}) for row in native.statistics()["fallbacks"]]
    return sorted(rows, key=lambda row: row.milliseconds, reverse=True)


@contextlib.contextmanager
def fallback(mode: str) -> Iterator[None]:
    """Decides for the whole process what a fallback does inside the context: 'warn', 'error' or 'silent'."""
    if mode not in FALLBACK_MODES:
        expected = ", ".join(f"'{each}'" for each in FALLBACK_MODES)
        raise ValueError(f"[neuron.fallback] there is no such mode, got '{mode}', expected one of {expected}")
    previous = native.set_fallback_override(mode)
    try:
        yield
    finally:
        native.set_fallback_override(previous)


def _calls(kind: str) -> Counter:
    key = "name" if kind == "operators" else "operator"
    calls = Counter()
    for row in native.statistics()[kind]:
        calls[row[key]] += row["calls"]
    return calls


def _since_cleared(kind: str) -> Counter:
    calls = _calls(kind)
    # Counts below the mark mean that the statistics themselves were cleared in between.
    if any(calls[name] < count for name, count in _cleared[kind].items()):
        _cleared[kind] = Counter()
    return calls - _cleared[kind]
