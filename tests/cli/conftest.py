"""The command line in child processes."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import opentrn

ROOT = Path(opentrn.__file__).parent.parent


@pytest.fixture
def environment() -> dict[str, str]:
    """Variables for a child process that can import the same opentrn as this one, free of the caller's OPENTRN_*."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENTRN_")}
    return {**kept, "PYTHONPATH": str(ROOT), "COLUMNS": "120"}


@pytest.fixture
def command(tmp_path: Path, environment: dict[str, str]) -> Callable[..., subprocess.CompletedProcess]:
    """Runs `opentrn ...` in an empty folder."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, "-m", "opentrn.cli", *arguments],
            cwd=tmp_path,
            env={**environment, **variables},
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run
