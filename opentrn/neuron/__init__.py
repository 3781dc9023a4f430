"""The device module `torch.neuron`: the surface of `torch.cuda` that applies, plus op tracking and fallback control."""

import torch as _torch

from opentrn._warning import OpenTrnWarning
from opentrn.neuron import _utils, memory, random, streams, tracking
from opentrn.neuron._device import (
    DeviceProperties,
    _is_in_bad_fork,
    _lazy_init,
    current_device,
    device,
    device_count,
    device_of,
    get_amp_supported_dtype,
    get_device_capability,
    get_device_name,
    get_device_properties,
    init,
    is_available,
    is_bf16_supported,
    is_initialized,
    set_device,
    synchronize,
)
from opentrn.neuron.memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_stats,
    memory_summary,
    reset_accumulated_memory_stats,
    reset_max_memory_allocated,
    reset_max_memory_reserved,
    reset_peak_memory_stats,
)
from opentrn.neuron.random import (
    _get_generator,
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from opentrn.neuron.streams import Event, Stream, StreamContext, current_stream, default_stream, set_stream, stream
from opentrn.neuron.tracking import (
    FallbackRecord,
    clear_op_tracking,
    fallback,
    fallback_report,
    get_executed_ops,
    get_fallback_ops,
)

__all__ = [
    "DeviceProperties",
    "Event",
    "FallbackRecord",
    "OpenTrnWarning",
    "Stream",
    "StreamContext",
    "clear_op_tracking",
    "current_device",
    "current_stream",
    "default_generators",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "fallback",
    "fallback_report",
    "get_amp_supported_dtype",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_executed_ops",
    "get_fallback_ops",
    "get_rng_state",
    "get_rng_state_all",
    "init",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "random",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_reserved",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stream",
    "streams",
    "synchronize",
    "tracking",
]

# Names generic code looks up without calling them.
_private_surface = (_get_generator, _is_in_bad_fork, _lazy_init, _utils)


def __getattr__(name: str) -> tuple[_torch.Generator, ...]:
    # The number of generators is known only when the device is there.
    if name == "default_generators":
        return random.default_generators()
    raise AttributeError(f"module 'torch.neuron' has no attribute '{name}'")
