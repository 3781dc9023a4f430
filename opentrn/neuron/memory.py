"""Device memory: what is used, what it peaked at, what is free. Names and keys are those of torch.cuda."""

from typing import Any

import torch

from opentrn._extension import native
from opentrn.neuron._utils import _get_device_index


def memory_stats(device: torch.types.Device = None) -> dict[str, Any]:
    """Statistics of the allocator as a flat dictionary, for example 'allocated_bytes.all.peak'."""
    return dict(sorted(native.memory_stats(_get_device_index(device, optional=True)).items()))


def memory_allocated(device: torch.types.Device = None) -> int:
    """Bytes in use by tensors."""
    return _statistic("allocated_bytes.all.current", device)


def max_memory_allocated(device: torch.types.Device = None) -> int:
    """The most bytes tensors have used since the start or the last reset."""
    return _statistic("allocated_bytes.all.peak", device)


def memory_reserved(device: torch.types.Device = None) -> int:
    """Bytes in use or cached for reuse."""
    return _statistic("reserved_bytes.all.current", device)


def max_memory_reserved(device: torch.types.Device = None) -> int:
    """The most bytes in use or cached since the start or the last reset."""
    return _statistic("reserved_bytes.all.peak", device)


def mem_get_info(device: torch.types.Device = None) -> tuple[int, int]:
    """(free, total) bytes of the device's HBM."""
    free, total = native.memory_info(_get_device_index(device, optional=True))
    return free, total


def empty_cache() -> None:
    """Gives cached blocks back."""
    native.empty_cache()


def reset_peak_memory_stats(device: torch.types.Device = None) -> None:
    """Makes the peaks start from what is in use now."""
    native.reset_peak_memory_stats(_get_device_index(device, optional=True))


def reset_accumulated_memory_stats(device: torch.types.Device = None) -> None:
    """Sets the counts of allocations and frees to zero."""
    native.reset_accumulated_memory_stats(_get_device_index(device, optional=True))


def reset_max_memory_allocated(device: torch.types.Device = None) -> None:
    """The older name of reset_peak_memory_stats."""
    reset_peak_memory_stats(device)


def reset_max_memory_reserved(device: torch.types.Device = None) -> None:
    """The older name of reset_peak_memory_stats."""
    reset_peak_memory_stats(device)


def memory_summary(device: torch.types.Device = None, abbreviated: bool = False) -> str:
    """A table of the allocator's statistics for people."""
    index = _get_device_index(device, optional=True)
    statistics = memory_stats(index)
    free, total = mem_get_info(index)
    lines = [
        f"Memory of neuron:{index}: {_readable(total - free)} of {_readable(total)} reserved, "
        f"{statistics.get('num_ooms', 0)} out-of-memory errors",
        f"{'':<10}{'current':>12}{'peak':>12}" + ("" if abbreviated else f"{'allocated':>12}{'freed':>12}"),
    ]
    columns = ("current", "peak") if abbreviated else ("current", "peak", "allocated", "freed")
    for title, prefix in (("tensors", "allocated_bytes.all"), ("reserved", "reserved_bytes.all")):
        cells = [_cell(statistics.get(f"{prefix}.{column}")) for column in columns]
        lines.append(f"{title:<10}" + "".join(cells))
    return "\n".join(lines)


def _statistic(key: str, device: torch.types.Device) -> int:
    return native.memory_stats(_get_device_index(device, optional=True))[key]


def _cell(count: int | None) -> str:
    return ("-" if count is None else _readable(count)).rjust(12)


def _readable(count: int) -> str:
    amount = float(count)
    for unit in ("B", "KiB", "MiB"):
        if abs(amount) < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"
