"""Every order of imports ends with one registered device."""

import pytest

USE = "print(torch.neuron.is_available(), (torch.ones(2, device='neuron') + 1).tolist())"


@pytest.mark.parametrize(
    ("imports", "autoload"),
    [
        ("import torch", "1"),
        ("import opentrn; import torch", "1"),
        ("import torch; import opentrn", "1"),
        ("import opentrn; import torch", "0"),
        ("import torch; import opentrn", "0"),
        ("from opentrn import cli; import torch", "1"),
        ("import opentrn.neuron; import torch", "0"),
        ("import torch; import torch.neuron", "1"),
    ],
)
def test_device_works(installation, imports, autoload):
    result = installation.python("-c", f"{imports}\n{USE}", TORCH_DEVICE_BACKEND_AUTOLOAD=autoload)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "True [2.0, 2.0]"
    assert result.stderr == ""


def test_autoload_off_leaves_torch_alone(installation):
    code = "import torch; print(hasattr(torch, 'neuron'), torch._C._get_privateuse1_backend_name())"
    result = installation.python("-c", code, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert result.stdout.split() == ["False", "privateuseone"]


def test_import_initialises_nothing(installation):
    code = "import torch; torch.manual_seed(3); print(torch.neuron.is_initialized())"
    result = installation.python("-c", code, OPENTRN_TARGET="xyz")
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "False"


def test_device_module_is_one_module(installation):
    code = "import torch, torch.neuron.random, opentrn.neuron; print(torch.neuron.random is opentrn.neuron.random)"
    result = installation.python("-c", code)
    assert result.stdout.strip() == "True", result.stderr


def test_methods_are_generated(installation):
    code = """
import torch
x = torch.arange(3.0).neuron()
print(x.is_neuron, x.untyped_storage().is_neuron, torch.nn.Linear(2, 2).neuron().weight.is_neuron)
print(torch.accelerator.current_accelerator(), torch.get_device_module("neuron") is torch.neuron)
"""
    result = installation.python("-c", code)
    assert result.stdout.split() == ["True", "True", "True", "neuron", "True"], result.stderr
