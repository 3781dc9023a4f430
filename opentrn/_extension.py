"""The C++ extension, or what stands in for it when it could not be loaded."""

from typing import Any, NoReturn

# What a fallback to the CPU may do.
FALLBACK_MODES = ("warn", "error", "silent")


class Unavailable:
    """Raises the reason why there is no device from whatever is asked of it."""

    def __init__(self, cause: str, remedy: str):
        self._message = f"[neuron] the device is not available, {cause}, {remedy}"

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise RuntimeError(self._message)


# Set by opentrn._load before anything that uses it is imported.
native: Any = Unavailable("opentrn was not loaded", "do: import opentrn")


def is_loaded() -> bool:
    """Whether the C++ extension is there."""
    return not isinstance(native, Unavailable)
