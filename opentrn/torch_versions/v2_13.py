"""Hooks into torch 2.13. Each note says why a public interface does not do."""

import sys
import types

import torch

# What torch calls the private-use device before a backend names it.
UNNAMED_BACKEND = "privateuseone"


def backend_name() -> str:
    """The name of the private-use device. torch has no public question for it."""
    return torch._C._get_privateuse1_backend_name()


def autoload_enabled() -> bool:
    """Whether `import torch` loads backends. Asked of torch, so that its reading of the variable counts."""
    return torch._is_device_backend_autoload_enabled()


def register(name: str, module: types.ModuleType) -> None:
    """Names the private-use device, makes `module` torch.<name> and gives tensors, modules and storages methods."""
    torch.utils.rename_privateuse1_backend(name)
    # The documented way to attach a device module, though its name begins with an underscore.
    torch._register_device_module(name, module)
    torch.utils.generate_methods_for_privateuse1_backend(
        for_tensor=True, for_module=True, for_packed_sequence=True, for_storage=True
    )
    # torch.neuron is a package under another name: without these, `import torch.neuron.random` would run the module a
    # second time and split its state.
    for key, value in list(sys.modules.items()):
        if key.startswith(module.__name__ + "."):
            sys.modules[f"torch.{name}." + key.removeprefix(module.__name__ + ".")] = value


def stream_arguments(stream_id: int, device_index: int) -> dict[str, int]:
    """What torch.Stream takes to name an existing stream. The device type is its number in c10::DeviceType."""
    device_type = int(torch._C._autograd.DeviceType.PrivateUse1)
    return {"stream_id": stream_id, "device_index": device_index, "device_type": device_type}
