"""Streams and events. The work is done by torch.Stream and torch.Event through the device guard."""

import torch

from opentrn._extension import native
from opentrn.neuron._utils import _get_device_index
from opentrn.torch_versions.current import hooks

# c10 reserves this number for the stream that work goes to when no other was chosen.
_DEFAULT_STREAM_ID = 0


class Stream(torch.Stream):
    """A queue of work on one device, executed in order."""

    def __new__(cls, device: torch.types.Device = None, priority: int = 0, **kwargs: int) -> "Stream":
        if "stream_id" in kwargs:
            return super().__new__(cls, **kwargs)
        native.initialize()
        index = _get_device_index(device, optional=True)
        return super().__new__(cls, device=torch.device("neuron", index), priority=priority)


class _NeuronEvent(type):
    """Makes `isinstance(event, torch.neuron.Event)` ask for the device of a torch.Event."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, torch.Event) and instance.device.type == "neuron"


class Event(torch.Event, metaclass=_NeuronEvent):
    """A point in a stream that can be waited for and timed."""

    def __new__(cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> torch.Event:
        native.initialize()
        # Not an instance of this class: torch.Event.elapsed_time accepts nothing but torch.Event itself.
        return torch.Event("neuron", enable_timing=enable_timing, blocking=blocking, interprocess=interprocess)


class StreamContext:
    """Context in which work goes to another stream. None changes nothing."""

    def __init__(self, stream: torch.Stream | None):
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is None:
            return
        self._device = native.exchange_device(self.stream.device_index)
        self._previous = torch.accelerator.current_stream(self.stream.device_index)
        torch.accelerator.set_stream(self.stream)

    def __exit__(self, *exception: object) -> None:
        if self.stream is None:
            return
        torch.accelerator.set_stream(self._previous)
        native.set_device(self._device)


def stream(stream: torch.Stream | None) -> StreamContext:
    """`with torch.neuron.stream(s):` sends the work inside to stream `s`."""
    return StreamContext(stream)


def current_stream(device: torch.types.Device = None) -> Stream:
    """The stream that work of the calling thread goes to."""
    native.initialize()
    current = torch.accelerator.current_stream(_get_device_index(device, optional=True))
    return _existing_stream(current.stream_id, current.device_index)


def default_stream(device: torch.types.Device = None) -> Stream:
    """The stream that is current when no other was chosen."""
    native.initialize()
    return _existing_stream(_DEFAULT_STREAM_ID, _get_device_index(device, optional=True))


def set_stream(stream: torch.Stream | None) -> None:
    """Makes `stream` and its device current. None changes nothing."""
    if stream is not None:
        torch.accelerator.set_stream(stream)


def _existing_stream(stream_id: int, device_index: int) -> Stream:
    return Stream(**hooks.stream_arguments(stream_id, device_index))
