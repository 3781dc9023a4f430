"""Checks that each layer under csrc/ includes only itself and earlier layers, and that torch stays in csrc/torch."""

import re
from pathlib import Path

import tree

LAYERS = ("base", "ir", "lowering", "passes", "neuroncore", "compiler", "engines", "runtime", "torch")
# The machine is described without the IR, and so without what is built on the IR.
KNOWS_NOTHING_OF = {"neuroncore": {"ir", "lowering", "passes"}}
TORCH_HEADER = re.compile(r"(ATen|c10|caffe2|torch|torch_python|pybind11)/|Python\.h$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def check(root: Path) -> list[str]:
    complaints = []
    for path in tree.files(root, tree.CPP, ("csrc", "tests")):
        relative = path.relative_to(root)
        layer = relative.parts[1] if relative.parts[0] == "csrc" else None
        if layer is not None and layer not in LAYERS:
            complaints.append(f"{relative}: '{layer}' is no layer, expected one of {', '.join(LAYERS)}")
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if match := INCLUDE.match(line):
                reason = include_complaint(layer, quoted=match[1] == '"', header=match[2])
                if reason:
                    complaints.append(f"{relative}:{number}: {reason}")
    return complaints


def include_complaint(layer: str | None, quoted: bool, header: str) -> str | None:
    """Why a file of `layer` (None: a test) may not include `header`, or None when it may."""
    if header == "torch/extension.h":
        return "torch/extension.h costs 18 s a unit, include the headers that are needed"
    if quoted and layer is not None:
        return layer_complaint(layer, header.split("/")[0], header)
    if not quoted and TORCH_HEADER.match(header) and layer != "torch":
        return f"<{header}> outside csrc/torch, libopentrn builds without PyTorch"
    return None


def layer_complaint(layer: str, included: str, header: str) -> str | None:
    if included not in LAYERS:
        return f'"{header}" does not start with a layer, write the path from csrc/'
    if LAYERS.index(included) > LAYERS.index(layer):
        return f"{layer} includes {header}, a later layer"
    if included in KNOWS_NOTHING_OF.get(layer, set()):
        return f"{layer} includes {header}, it must know nothing of {included}"
    return None


if __name__ == "__main__":
    tree.main(check)
