"""Progress on the terminal: a bar that moves, or plain lines when nobody watches."""

import contextlib
import sys
import time
from collections.abc import Iterable, Iterator

from tqdm import tqdm


class Lines:
    """A file that prints each state of a progress bar as a line of its own."""

    def write(self, text: str) -> None:
        if line := text.strip():
            print(line, file=sys.stderr)

    def flush(self) -> None:
        sys.stderr.flush()


def bar(items: Iterable, title: str) -> tqdm:
    """Iterates over `items` with a progress bar on stderr; without a terminal it prints a line now and then."""
    if sys.stderr.isatty():
        return tqdm(items, desc=title, dynamic_ncols=True)
    return tqdm(items, desc=title, mininterval=10, ncols=100, file=Lines())


@contextlib.contextmanager
def step(title: str) -> Iterator[None]:
    """Announces a step of unknown length and says how long it took."""
    print(f"{title} ...", file=sys.stderr, flush=True)
    start = time.perf_counter()
    yield
    print(f"{title}: done in {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
