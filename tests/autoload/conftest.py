"""A copy of the package on PYTHONPATH, with an entry point as installed, that a test may break."""

import dataclasses
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import opentrn

PACKAGE = Path(opentrn.__file__).parent
METADATA = "Metadata-Version: 2.1\nName: opentrn\nVersion: 0.0.0\n"
# An editable installation finds its package before PYTHONPATH is looked at; its module's name begins like this.
SITE_CUSTOMIZE = """
import sys
sys.meta_path[:] = [f for f in sys.meta_path if not type(f).__module__.startswith("_editable_skbc_opentrn")]
"""
ENTRY_POINTS = "[torch.backends]\nopentrn = opentrn:_autoload\n"


@dataclasses.dataclass(frozen=True)
class Installation:
    """A folder that child processes import opentrn from."""

    root: Path

    @property
    def package(self) -> Path:
        return self.root / "opentrn"

    @property
    def library(self) -> Path:
        return self.package / f"_C{sysconfig.get_config_var('EXT_SUFFIX')}"

    def python(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
        """Runs python with this copy in front of any other."""
        variables = {**os.environ, "PYTHONPATH": str(self.root), **environment}
        variables.setdefault("TORCH_DEVICE_BACKEND_AUTOLOAD", "1")
        return subprocess.run(
            [sys.executable, *arguments], env=variables, cwd=self.root, capture_output=True, text=True, timeout=120
        )


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    """A healthy copy. Libraries are links, so a test must replace and not rewrite them."""
    result = Installation(tmp_path)
    shutil.copytree(PACKAGE, result.package, ignore=shutil.ignore_patterns("__pycache__"), copy_function=_place)
    (tmp_path / "sitecustomize.py").write_text(SITE_CUSTOMIZE)
    metadata = tmp_path / "opentrn-0.0.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(METADATA)
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS)
    return result


def _place(source: str, target: str) -> None:
    if source.endswith(".so"):
        os.symlink(source, target)
    else:
        shutil.copy(source, target)
