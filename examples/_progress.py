"""Progress on the terminal: a bar that moves, or plain lines when nobody watches."""

import contextlib
import sys
import time
from collections.abc import Iterable, Iterator

from tqdm import tqdm


def bar(items: Iterable, title: str, total: int | None = None) -> tqdm:
    """Iterates over `items` with a progress bar on stderr; without a terminal it prints a line now and then."""
    interval = 0.1 if sys.stderr.isatty() else 10.0
    return tqdm(items, desc=title, total=total, mininterval=interval, dynamic_ncols=True, file=sys.stderr)


@contextlib.contextmanager
def step(title: str) -> Iterator[None]:
    """Announces a step of unknown length and says how long it took."""
    print(f"{title} ...", file=sys.stderr, flush=True)
    start = time.perf_counter()
    yield
    print(f"{title}: done in {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
