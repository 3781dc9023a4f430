"""Runs a script or module inside this process as `python` would, and keeps its traceback and exit code."""

import contextlib
import dataclasses
import os
import runpy
import sys
import threading
import traceback
import types
from pathlib import Path

EXIT_FAILURE = 1
EXIT_INTERRUPTED = 130


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How the script ended. `exception` is the class name of what it died of, empty when it did not."""

    exit_status: int | None  # None: not known
    exception: str = ""


def run(target: str, arguments: list[str], as_module: bool) -> Outcome:
    """Runs `target`. What it raises is printed here, to stderr, as the interpreter would."""
    sys.argv = [target, *arguments]
    sys.path[0] = os.getcwd() if as_module else str(Path(target).resolve().parent)
    try:
        if as_module:
            namespace = runpy.run_module(target, run_name="__main__", alter_sys=True)
        else:
            namespace = runpy.run_path(target, run_name="__main__")
        _join_threads()
    except SystemExit as request:
        return _exit_request(request)
    except KeyboardInterrupt as interrupt:
        _print_traceback(interrupt)
        return Outcome(EXIT_INTERRUPTED, "KeyboardInterrupt")
    except BaseException as error:
        _print_traceback(error)
        return Outcome(EXIT_FAILURE, type(error).__name__)
    # Functions registered with atexit still need the script's globals.
    _kept.append(namespace)
    return Outcome(0)


_kept: list[dict] = []


def _join_threads() -> None:
    # The interpreter waits for threads before it ends; the summary has to wait as well.
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()


def _exit_request(request: SystemExit) -> Outcome:
    code = request.code
    if code is None:
        return Outcome(0)
    if isinstance(code, int):
        return Outcome(code & 0xFF)
    print(code, file=sys.stderr)
    return Outcome(EXIT_FAILURE, "SystemExit")


def flush_output() -> None:
    """Flushes stdout. It may be absent, closed by the script or a pipe nobody reads: none of that is ours to report."""
    with contextlib.suppress(AttributeError, ValueError, OSError):
        sys.stdout.flush()


def _print_traceback(error: BaseException) -> None:
    frames = _without_our_frames(error.__traceback__)
    flush_output()
    # A script may have installed its own hook; the interpreter would call it.
    if sys.excepthook is not sys.__excepthook__:
        sys.excepthook(type(error), error, frames)
        return
    traceback.print_exception(type(error), error, frames)


def _without_our_frames(frames: types.TracebackType | None) -> types.TracebackType | None:
    """The traceback from the script's first frame on. When there is none (a syntax error) nothing remains."""
    ours = {__file__, "<frozen runpy>", runpy.__file__}
    while frames is not None and frames.tb_frame.f_code.co_filename in ours:
        frames = frames.tb_next
    # A script that cannot be compiled or found has only the import system's frames.
    if frames is not None and frames.tb_frame.f_code.co_filename.startswith("<frozen "):
        return None
    return frames
