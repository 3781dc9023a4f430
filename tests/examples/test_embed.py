"""Sentence embeddings agree with those of the CPU."""

import embed
import torch


def test_embeddings_agree_with_the_cpu(embedding_models, strict):
    tokenizer, cpu, neuron = embedding_models
    expected = embed.embed(tokenizer, cpu, embed.SENTENCES)
    result = embed.embed(tokenizer, neuron, embed.SENTENCES)
    assert result.device.type == "neuron"
    cosine = torch.nn.functional.cosine_similarity(result.cpu().double(), expected.double(), dim=1)
    assert cosine.min() >= 0.99999
    assert torch.allclose(result.cpu().norm(dim=1), torch.ones(len(embed.SENTENCES)))


def test_related_sentences_are_closest(embedding_models, strict):
    tokenizer, _, neuron = embedding_models
    vectors = embed.embed(tokenizer, neuron, embed.SENTENCES)
    similarity = (vectors @ vectors.T).cpu()
    similarity.fill_diagonal_(-1)
    assert similarity.argmax(dim=1)[:4].tolist() == [1, 0, 3, 2]
