"""A real language model gives on neuron the tokens it gives on the CPU."""

import chat
import pytest

PROMPTS = [
    "Write a short story about a lighthouse keeper and a whale.",
    "Explain in three sentences what a compiler does.",
    "List five uses of a paper clip.",
    "What is the difference between a list and a tuple in Python?",
    "Translate to French: the weather is fine and the sea is calm.",
]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_greedy_tokens_equal_those_of_the_cpu(chat_models, strict, prompt):
    tokenizer, cpu, neuron = chat_models
    expected = chat.answer(tokenizer, cpu, prompt, max_new_tokens=64)
    result = chat.answer(tokenizer, neuron, prompt, max_new_tokens=64)
    assert result["tokens"] == expected["tokens"]
    assert len(result["tokens"]) >= 16
    assert result["text"]
