"""Random generators of the device. Their state is on the host, so seeding never initialises the device."""

import secrets

import torch

from opentrn._extension import native
from opentrn.neuron._utils import _get_device_index


def default_generators() -> tuple[torch.Generator, ...]:
    """The default generator of each device."""
    return tuple(native.default_generator(index) for index in range(native.device_count()))


def _get_generator(device: torch.types.Device) -> torch.Generator:
    index = _get_device_index(device, optional=True)
    count = native.device_count()
    if not 0 <= index < count:
        raise RuntimeError(f"[neuron] there is no such device, got neuron:{index}, expected an index below {count}")
    return native.default_generator(index)


def manual_seed(seed: int) -> None:
    """Seeds the current device."""
    _get_generator(None).manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seeds every device."""
    for generator in default_generators():
        generator.manual_seed(int(seed))


def seed() -> None:
    """Gives the current device a random seed."""
    manual_seed(secrets.randbits(63))


def seed_all() -> None:
    """Gives every device the same random seed."""
    manual_seed_all(secrets.randbits(63))


def initial_seed() -> int:
    """The seed the current device was given last."""
    return _get_generator(None).initial_seed()


def get_rng_state(device: torch.types.Device = "neuron") -> torch.Tensor:
    """The state of the device's generator as a tensor of bytes."""
    return _get_generator(device).get_state()


def get_rng_state_all() -> list[torch.Tensor]:
    """The state of every device's generator."""
    return [generator.get_state() for generator in default_generators()]


def set_rng_state(new_state: torch.Tensor, device: torch.types.Device = "neuron") -> None:
    """Sets the state of the device's generator."""
    _get_generator(device).set_state(new_state)


def set_rng_state_all(new_states: list[torch.Tensor]) -> None:
    """Sets the state of every device's generator."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)
