"""A Llama, a GPT-2 and a BERT, tiny and random, through every phase of a model: equal to the CPU, nothing falls back.

The phases: moving, forward, greedy generation, sampling, left-padded input, a training step, bfloat16.
"""

import copy

import pytest
import torch

transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.usefixtures("strict")

COMMON = dict(vocab_size=97, initializer_range=0.2, bos_token_id=1, eos_token_id=2, pad_token_id=0)
IDS = torch.tensor([[5, 17, 33, 4, 60, 11, 8, 90], [0, 0, 0, 7, 21, 64, 13, 9]])
MASK = (IDS != 0).long()


def llama():
    config = transformers.LlamaConfig(
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        **COMMON,
    )
    return transformers.LlamaForCausalLM(config)


def gpt2():
    config = transformers.GPT2Config(n_embd=64, n_layer=2, n_head=4, n_positions=64, **COMMON)
    return transformers.GPT2LMHeadModel(config)


def bert():
    config = transformers.BertConfig(
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=64,
        **COMMON,
    )
    return transformers.BertForMaskedLM(config)


@pytest.fixture(autouse=True)
def strict():
    with torch.neuron.fallback("error"):
        yield


@pytest.fixture(params=[llama, gpt2, bert], ids=["llama", "gpt2", "bert"])
def pair(request):
    torch.manual_seed(0)
    on_cpu = request.param().eval()
    return on_cpu, copy.deepcopy(on_cpu).to("neuron")


@pytest.fixture(params=[llama, gpt2], ids=["llama", "gpt2"])
def generators(request):
    torch.manual_seed(0)
    on_cpu = request.param().eval()
    return on_cpu, copy.deepcopy(on_cpu).to("neuron")


def inputs(device):
    return dict(input_ids=IDS.to(device), attention_mask=MASK.to(device))


def test_moving_there_and_back_keeps_every_bit(pair):
    on_cpu, on_device = pair
    for name, value in on_device.state_dict().items():
        assert value.device.type == "neuron"
        assert torch.equal(value.cpu(), on_cpu.state_dict()[name])


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_forward_with_left_padding(pair, attention):
    on_cpu, on_device = pair
    for model in pair:
        model.set_attn_implementation(attention)
    with torch.no_grad():
        expected = on_cpu(**inputs("cpu")).logits
        actual = on_device(**inputs("neuron")).logits.cpu()
    seen = MASK.bool()
    torch.testing.assert_close(actual[seen], expected[seen], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("beams", [1, 3])
def test_greedy_and_beam_tokens_are_equal(generators, beams):
    on_cpu, on_device = generators
    options = dict(max_new_tokens=12, do_sample=False, num_beams=beams)
    expected = on_cpu.generate(**inputs("cpu"), **options)
    actual = on_device.generate(**inputs("neuron"), **options)
    assert torch.equal(actual.cpu(), expected)


def test_unpadded_generation(generators):
    on_cpu, on_device = generators
    ids = IDS[:1]
    expected = on_cpu.generate(ids, max_new_tokens=12, do_sample=False)
    assert torch.equal(on_device.generate(ids.to("neuron"), max_new_tokens=12, do_sample=False).cpu(), expected)


@pytest.mark.parametrize("options", [dict(top_k=10), dict(top_p=0.8), dict(temperature=0.7, repetition_penalty=1.2)])
def test_sampling_is_reproducible_and_valid(generators, options):
    _, on_device = generators

    def sample():
        torch.manual_seed(7)
        return on_device.generate(**inputs("neuron"), max_new_tokens=8, do_sample=True, **options).cpu()

    first = sample()
    assert torch.equal(sample(), first)
    assert torch.equal(first[:, : IDS.shape[1]], IDS)
    assert first.min() >= 0 and first.max() < COMMON["vocab_size"]


@pytest.mark.parametrize("foreach", [None, False])
def test_training_steps_follow_the_cpu(pair, foreach):
    labels = torch.where(MASK.bool(), IDS, -100)
    curves = []
    for model, device in zip(pair, ("cpu", "neuron"), strict=True):
        model.eval()  # no dropout: the two devices draw different numbers
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=foreach)
        curve = []
        for _ in range(4):
            optimizer.zero_grad()
            loss = model(**inputs(device), labels=labels.to(device)).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            curve.append(loss.item())
        curves.append(curve)
    assert curves[1] == pytest.approx(curves[0], abs=1e-5)
    assert curves[1][-1] < curves[1][0]


def test_training_with_dropout_runs(pair):
    _, model = pair
    model.train()
    loss = model(**inputs("neuron"), labels=IDS.to("neuron")).loss
    loss.backward()
    assert torch.isfinite(loss).item()
    assert all(torch.isfinite(p.grad).all().item() for p in model.parameters() if p.grad is not None)


def test_bfloat16_is_as_close_as_the_cpus(pair):
    on_cpu, on_device = pair
    with torch.no_grad():
        exact = on_cpu(**inputs("cpu")).logits
        plain = on_cpu.to(torch.bfloat16)(**inputs("cpu")).logits.float()
        actual = on_device.to(torch.bfloat16)(**inputs("neuron")).logits.cpu()
    assert actual.dtype == torch.bfloat16
    seen = MASK.bool()
    error = (actual.float() - exact)[seen].abs().mean()
    cpu_error = (plain - exact)[seen].abs().mean()
    assert error <= 1.5 * cpu_error


def test_saving_and_loading(pair, tmp_path):
    on_cpu, on_device = pair
    on_device.save_pretrained(tmp_path)
    loaded = type(on_cpu).from_pretrained(tmp_path)
    for name, value in loaded.state_dict().items():
        assert torch.equal(value, on_cpu.state_dict()[name])
