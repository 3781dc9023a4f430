"""Chats with SmolLM2-135M-Instruct: plain transformers, the device is only a name."""

import argparse
import json
import time

import torch
from _weights import load_chat  # first: it keeps transformers offline
from transformers import TextStreamer

PROMPT = "Explain in three sentences what a compiler does."


class TimedStreamer(TextStreamer):
    """Prints the answer as it comes and notes when each token arrived."""

    def __init__(self, tokenizer):
        super().__init__(tokenizer, skip_prompt=True, skip_special_tokens=True)
        self.times = []

    def put(self, value):
        self.times.append(time.perf_counter())
        super().put(value)


def main() -> None:
    arguments = parse_arguments()
    torch.manual_seed(0)
    tokenizer, model = load_chat(getattr(torch, arguments.dtype))
    model = model.to(arguments.device)
    result = answer(tokenizer, model, arguments.prompt, arguments.max_new_tokens)
    print(
        f"{len(result['tokens'])} tokens, {result['tokens_per_second']:.1f} tokens/s "
        f"(first token after {result['first_token_seconds']:.2f} s) on {arguments.device} in {arguments.dtype}"
    )
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"device": arguments.device, "dtype": arguments.dtype, **result}, file, indent=1)


def answer(tokenizer, model, prompt: str, max_new_tokens: int) -> dict:
    """Answers one prompt greedily. The speed is that of the tokens after the first."""
    messages = [{"role": "user", "content": prompt}]
    inputs = tokenizer.apply_chat_template(
        messages, add_generation_prompt=True, return_tensors="pt", return_dict=True
    ).to(model.device)
    streamer = TimedStreamer(tokenizer)
    start = time.perf_counter()
    output = model.generate(
        **inputs, max_new_tokens=max_new_tokens, do_sample=False, streamer=streamer, pad_token_id=tokenizer.eos_token_id
    )
    tokens = output[0, inputs["input_ids"].shape[1] :].tolist()
    times = streamer.times[1:]  # the first entry is the prompt
    decode = times[-1] - times[0]
    return {
        "prompt": prompt,
        "tokens": tokens,
        "text": tokenizer.decode(tokens, skip_special_tokens=True),
        "first_token_seconds": times[0] - start,
        "tokens_per_second": (len(times) - 1) / decode if decode else 0.0,
    }


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", help="for example neuron or cpu (default: %(default)s)")
    parser.add_argument("--prompt", default=PROMPT)
    parser.add_argument("--max-new-tokens", type=int, default=64, metavar="N")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--json", metavar="FILE", help="write tokens and timings to FILE")
    return parser.parse_args()


if __name__ == "__main__":
    main()
