"""Embeds sentences with all-MiniLM-L6-v2 and compares them: plain transformers, the device is only a name."""

import argparse
import json

import torch
import torch.nn.functional as F
from _weights import load_embedding  # first: it keeps transformers offline
from rich.console import Console
from rich.table import Table

SENTENCES = [
    "The cat sleeps on the warm windowsill.",
    "A kitten is napping by the window in the sun.",
    "Interest rates rose by a quarter of a percent.",
    "The central bank tightened its monetary policy.",
    "She compiled the program and ran the tests.",
]


def main() -> None:
    arguments = parse_arguments()
    sentences = arguments.sentences or SENTENCES
    tokenizer, model = load_embedding()
    embeddings = embed(tokenizer, model.to(arguments.device), sentences)
    similarity = (embeddings @ embeddings.T).cpu()
    print_table(sentences, similarity.tolist())
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"device": arguments.device, "sentences": sentences, "embeddings": embeddings.tolist()}, file)


@torch.no_grad()
def embed(tokenizer, model, sentences: list[str]) -> torch.Tensor:
    """One vector of length 1 per sentence: the mean over its tokens, padding left out."""
    batch = tokenizer(sentences, padding=True, truncation=True, return_tensors="pt").to(model.device)
    hidden = model(**batch).last_hidden_state
    mask = batch["attention_mask"].unsqueeze(-1).to(hidden.dtype)
    mean = (hidden * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1e-9)
    return F.normalize(mean, dim=1)


def print_table(sentences: list[str], similarity: list[list[float]]) -> None:
    table = Table(title="Cosine similarity")
    table.add_column("", justify="right")
    table.add_column("sentence")
    for index in range(len(sentences)):
        table.add_column(str(index + 1), justify="right")
    for index, sentence in enumerate(sentences):
        table.add_row(str(index + 1), sentence, *(f"{value:.3f}" for value in similarity[index]))
    Console().print(table)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sentences", nargs="*", help="sentences to compare (default: five built-in ones)")
    parser.add_argument("--device", default="cpu", help="for example neuron or cpu (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write the embeddings to FILE")
    return parser.parse_args()


if __name__ == "__main__":
    main()
