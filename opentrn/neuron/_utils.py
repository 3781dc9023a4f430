"""Device arguments: an index, 'neuron:1', torch.device, or None for the current device."""

import torch

from opentrn._extension import native


def _get_device_index(device: torch.types.Device, optional: bool = False, allow_cpu: bool = False) -> int:
    """The index that `device` names; -1 is the CPU. None and "neuron" mean the current device and need `optional`."""
    if isinstance(device, int):
        return device
    if isinstance(device, str):
        device = torch.device(device)
    if isinstance(device, torch.device):
        if device.type == "cpu" and allow_cpu:
            return -1
        if device.type != "neuron":
            raise ValueError(f"[neuron] the device is of another kind, got {device}, expected a neuron device")
        if device.index is not None:
            return device.index
    elif device is not None:
        raise TypeError(
            f"[neuron] the device is not understood, got {type(device).__name__}, "
            "expected an index, a string, torch.device or None"
        )
    if not optional:
        raise ValueError(f"[neuron] the device has no index, got {device}, expected for example neuron:0")
    return native.current_device()
