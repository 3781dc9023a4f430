"""Bad input raises what the CPU raises, and the device stays usable."""

import os
import subprocess
import sys
import textwrap

import pytest
import torch

pytestmark = pytest.mark.usefixtures("strict")

VALUES = torch.arange(12.0).view(3, 4)

BAD_CALLS = {
    "broadcast": lambda x: x + x[:, :3],
    "mm": lambda x: torch.mm(x, x),
    "mm_rank": lambda x: torch.mm(x, x[0]),
    "bmm": lambda x: torch.bmm(x[None], x[None]),
    "cat": lambda x: torch.cat([x, x[:, :2]]),
    "view": lambda x: x.view(5, 5),
    "dimension": lambda x: x.sum(dim=5),
    "softmax_dimension": lambda x: torch.softmax(x, 3),
    "index_high": lambda x: x[torch.tensor([0, 3]).to(x.device)],
    "index_low": lambda x: x[torch.tensor([-4]).to(x.device)],
    "index_select": lambda x: x.index_select(0, torch.tensor([7]).to(x.device)),
    "embedding": lambda x: torch.nn.functional.embedding(torch.tensor([3]).to(x.device), x),
    "gather": lambda x: x.gather(1, torch.tensor([[9]]).to(x.device)),
    "select": lambda x: x[5],
    "mask_shape": lambda x: x[torch.tensor([True, False]).to(x.device)],
    "in_place_shape": lambda x: x[0].add_(x),
    "in_place_dtype": lambda x: x.long().div_(2),
    "mm_dtype": lambda x: torch.mm(x, x.t().double()),
    "bitwise_float": lambda x: x & x,
    "mean_integer": lambda x: x.long().mean(),
    "max_empty": lambda x: x[:0].max(),
    "expand": lambda x: x.expand(2, 2),
    "cross_entropy_target": lambda x: torch.nn.functional.cross_entropy(x, torch.tensor([0, 1, 9]).to(x.device)),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_error_class_is_that_of_the_cpu(name):
    with pytest.raises(Exception) as on_cpu:
        BAD_CALLS[name](VALUES.clone())
    on_device = VALUES.to("neuron")
    with pytest.raises(Exception) as caught:
        BAD_CALLS[name](on_device)
    assert type(caught.value) is type(on_cpu.value), str(caught.value)
    assert torch.equal((on_device + 1).cpu(), VALUES + 1), "the device is not usable any more"


def test_out_of_memory_is_torchs_and_leaves_the_device_usable():
    total = torch.neuron.get_device_properties(0).total_memory
    with pytest.raises(torch.OutOfMemoryError, match=r"requested.*used.*free.*largest holders"):
        torch.empty(total + 1, dtype=torch.uint8, device="neuron")
    assert torch.ones(3, device="neuron").sum().item() == 3


def test_dtypes_the_device_does_not_hold_are_refused():
    with pytest.raises(NotImplementedError, match="quantized"):
        torch.empty(2, dtype=torch.quint8, device="neuron")


def run_script(text, **environment):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
    )


# The threads of backward passes held Python objects when the interpreter was gone: every third run or so ended so.
def test_a_program_that_ends_after_a_backward_pass_ends_well():
    for _ in range(4):
        result = run_script("""
            import torch
            x = torch.randn(200, 300, device="neuron")
            w = torch.randn(300, 100, device="neuron", requires_grad=True)
            for _ in range(60):
                (x @ w).softmax(-1).sum().backward()
        """)
        assert result.returncode == 0, result.stderr


def test_a_forked_child_is_refused():
    result = run_script("""
        import os, torch
        torch.ones(2, device="neuron")
        child = os.fork()
        if child == 0:
            try:
                torch.ones(2, device="neuron")
            except RuntimeError as error:
                print(error, flush=True)
                os._exit(7)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print("child", os.waitstatus_to_exitcode(status), torch.ones(2, device="neuron").sum().item())
    """)
    assert "child 7 2.0" in result.stdout, result.stdout + result.stderr
    assert "spawn" in result.stdout


def test_a_fork_before_the_first_use_is_fine():
    result = run_script("""
        import os, torch
        child = os.fork()
        os.write(1, f"{torch.ones(2, device='neuron').sum().item()}\\n".encode())
        if child: os.waitpid(child, 0)
    """)
    assert result.stdout.split() == ["2.0", "2.0"], result.stderr


@pytest.mark.parametrize(
    ("variable", "valid"), [("OPENTRN_TARGET", ["trn1", "trn2", "trn3"]), ("OPENTRN_ENGINE", ["reference"])]
)
def test_unknown_settings_list_the_valid_values(variable, valid):
    result = run_script("import torch; torch.ones(2, device='neuron')", **{variable: "xyz"})
    assert result.returncode != 0
    for value in valid:
        assert value in result.stderr
    assert variable in result.stderr


def test_targets_have_their_own_memory():
    text = "import torch; print(torch.neuron.get_device_properties(0).total_memory >> 30)"
    sizes = [run_script(text, OPENTRN_TARGET=target).stdout.strip() for target in ("trn1", "trn2", "trn3")]
    assert sizes == ["16", "24", "36"]


def test_ctrl_c_stops_one_long_operator_and_leaves_the_device_usable():
    result = run_script("""
        import os, signal, threading, torch
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job would ignore it
        left = torch.ones(6000, 6000, dtype=torch.float64, device="neuron")
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            for _ in range(30):
                left @ left
        except KeyboardInterrupt:
            print("stopped", torch.ones(2, device="neuron").sum().item())
    """)
    assert "stopped 2.0" in result.stdout, result.stdout + result.stderr


def test_faults_of_our_own_are_a_class_of_their_own():
    from opentrn import _C, InternalError

    with pytest.raises(InternalError, match="please report"):
        _C._raise_internal_error("[test] nothing is wrong")
    assert issubclass(InternalError, RuntimeError)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: torch.mm(x, x, out=torch.empty(0, dtype=torch.float64, device=x.device)),
        lambda x: torch.argmax(x, 0, out=torch.empty(0, device=x.device)),
        lambda x: torch.gather(x, 0, x.long(), out=torch.empty(0, dtype=torch.float64, device=x.device)),
        lambda x: torch.addmm(x, x, x, alpha=1 + 1j),
        lambda x: torch.addcmul(x, x, x, value=1j),
        lambda x: torch.add(x.byte(), x.byte(), alpha=300),
        lambda x: torch.add(x, x[0, :1].expand(3, 3), alpha=1j),
        lambda x: torch.addcmul(x.byte(), x.byte(), x.byte(), value=300),
    ],
)
def test_results_and_numbers_that_do_not_fit_are_refused_as_on_the_cpu(call):
    values = torch.zeros(3, 3)
    with pytest.raises(RuntimeError):
        call(values)
    with pytest.raises(RuntimeError):
        call(values.to("neuron"))


def test_results_that_are_sums_convert_to_out():
    values = torch.randn(3, 4)
    out = torch.empty(0, dtype=torch.float64, device="neuron")
    torch.sum(values.to("neuron"), 0, out=out)
    torch.testing.assert_close(out.cpu(), values.double().sum(0), atol=1e-6, rtol=1e-6)
    torch.cat([values.to("neuron"), values.to("neuron")], out=out.resize_(0))
    assert torch.equal(out.cpu(), torch.cat([values, values]).double())


def test_out_of_memory_names_what_was_allocated():
    torch.ones(2, device="neuron").sum()
    with pytest.raises(torch.OutOfMemoryError, match=r"\[aten::empty\]"):
        torch.empty(1 << 45, device="neuron")


def test_large_unsigned_numbers_fill():
    values = torch.zeros(2, dtype=torch.uint64, device="neuron")
    values.fill_(2**64 - 1)
    assert values.cpu().tolist() == [2**64 - 1] * 2


def test_counts_of_live_blocks_survive_a_reset():
    kept = torch.ones(10, device="neuron")
    torch.neuron.reset_accumulated_memory_stats()
    del kept
    assert torch.neuron.memory_stats()["allocation.all.current"] >= 0
