"""Devices: how many, which one is current, what they are."""

import dataclasses
import re

import torch

from opentrn._extension import is_loaded, native
from opentrn.neuron._utils import _get_device_index


@dataclasses.dataclass(frozen=True)
class DeviceProperties:
    """What one device, a logical NeuronCore, is."""

    name: str
    target: str
    total_memory: int
    physical_cores: int
    logical_cores_per_chip: int


def is_available() -> bool:
    """Whether there is a device. Never raises and initialises nothing."""
    return is_loaded() and native.device_count() > 0


def is_initialized() -> bool:
    """Whether this process has used the device."""
    return is_loaded() and native.is_initialized() and not native.in_bad_fork()


def _is_in_bad_fork() -> bool:
    return is_loaded() and native.in_bad_fork()


def init() -> None:
    """Initialises the device now; otherwise its first use does."""
    _lazy_init()


def _lazy_init() -> None:
    # torch calls this before the first tensor on the device is made.
    native.initialize()


def device_count() -> int:
    """The number of devices; 0 when there is no usable device."""
    return native.device_count() if is_loaded() else 0


def current_device() -> int:
    """The index of the calling thread's current device."""
    return native.current_device()


def set_device(device: torch.types.Device) -> None:
    """Makes `device` the calling thread's current device."""
    index = _get_device_index(device, optional=True)
    if index >= 0:
        native.set_device(index)


class device:
    """Context in which another device is current. A negative index changes nothing, as in torch.cuda."""

    def __init__(self, device: torch.types.Device):
        self.idx = _get_device_index(device, optional=True)
        self.prev_idx = -1

    def __enter__(self) -> None:
        if self.idx >= 0:
            self.prev_idx = native.exchange_device(self.idx)

    def __exit__(self, *exception: object) -> None:
        if self.idx >= 0:
            native.set_device(self.prev_idx)


class device_of(device):
    """Context in which the device of a tensor or storage is current; nothing changes when it is on the CPU."""

    def __init__(self, obj: torch.Tensor | torch.UntypedStorage):
        super().__init__(obj.get_device() if obj.device.type == "neuron" else -1)


def synchronize(device: torch.types.Device = None) -> None:
    """Waits until all work of the device is done; an error of that work is raised here."""
    native.synchronize(_get_device_index(device, optional=True))


def get_device_properties(device: torch.types.Device = None) -> DeviceProperties:
    """Name, target, memory and cores of the device."""
    facts = native.device_properties(_get_device_index(device, optional=True))
    return DeviceProperties(**{field.name: facts[field.name] for field in dataclasses.fields(DeviceProperties)})


def get_device_name(device: torch.types.Device = None) -> str:
    """The name of the device, for example 'NeuronCore-v3 (trn2, LNC=2)'."""
    return get_device_properties(device).name


def get_device_capability(device: torch.types.Device = None) -> tuple[int, int]:
    """The generation of the NeuronCore as (major, minor): (3, 0) for NeuronCore-v3."""
    name = get_device_name(device)
    generation = re.match(r"NeuronCore-v(\d+)", name)
    if generation is None:
        raise RuntimeError(f"[neuron] the generation is not part of the device's name, got '{name}'")
    return int(generation[1]), 0


def get_amp_supported_dtype() -> list[torch.dtype]:
    """The dtypes torch.autocast may choose: none yet, so that it warns and stays off, not silently without effect."""
    return []


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """True for every target: bfloat16 is the chip's main dtype."""
    return is_available()
