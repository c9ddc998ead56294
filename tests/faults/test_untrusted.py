"""Nothing that is downloaded or stored can run code: what lint (rules S, TID251) cannot see."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(path for room in ("src", "benchmarks") for path in (ROOT / room).rglob("*.py"))
# Calls that are only allowed with this argument.
REQUIRED = {
    "torch.load": "weights_only=True",
    "np.load": "allow_pickle=False",
    "numpy.load": "allow_pickle=False",
    "Image.open": "formats=",  # the decoders that are tried
}


def complaints(source: str) -> list[str]:
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    found = ((REQUIRED.get(ast.unparse(call.func), ""), ast.unparse(call)) for call in calls)
    return [call for argument, call in found if argument not in call]


def test_every_reader_is_told_to_run_nothing():
    assert complaints("np.load(path, allow_pickle=True)")
    assert {path.name: bad for path in FILES if (bad := complaints(path.read_text("utf-8")))} == {}
