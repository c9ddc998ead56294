"""A rule or a model whose numbers move has a new version: the numbers of tiny jobs, recorded.

`python tests/protocol/test_versions.py` records the numbers of the jobs whose versions were raised,
and of new ones. While a version stays, its recorded numbers stay.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file

if __name__ == "__main__":  # pytest finds the helpers of tests by itself
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import made
import tiny_jobs

from gblsr_repro import config as configuration
from gblsr_repro.dependencies import collect_dependencies, list_classes
from gblsr_repro.dependencies.rules import RULES
from gblsr_repro.dependencies.versions import MODEL_VERSIONS, list_model_versions
from gblsr_repro.models.asr.model import ASRModel

RECORD = Path(__file__).with_name("versions.json")
RECORDED = json.loads(RECORD.read_text()) if RECORD.is_file() else {}
SMALL = configuration.merge(configuration.load(), made.SMALL)
ROWS = tiny_jobs.ARMS | tiny_jobs.METHODS
COSTS = ("_ms", "_mib", "_seconds", "_per_second")  # columns of times and memory end so


def summarize(values: np.ndarray) -> list[float]:
    """Sum up an array: its size, mean, spread, and its products with two fixed waves.

    The products move when values change places.
    """
    flat = np.asarray(values, dtype=np.float64).ravel()
    waves = [np.cos(np.arange(flat.size) * step + 1) for step in (0.7, 0.013)]
    products = [flat @ wave / max(np.sqrt(flat.size), 1) for wave in waves]
    told = [flat.size, flat.mean(), flat.std(), *products]
    return [float(f"{value:.7g}") for value in told]


def read_numbers(folder: Path) -> Iterator[tuple[str, list[float]]]:
    """Read the numbers in the files that a job wrote, but times."""
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = file.relative_to(folder).as_posix()
        if name.startswith("state") or file.name in ("log.csv", "run.json"):
            continue
        if file.suffix == ".safetensors":
            for key, tensor in sorted(load_file(file).items()):
                yield f"{name} {key}", summarize(tensor.numpy())
        elif file.suffix == ".npz":
            for key, values in sorted(np.load(file).items()):
                if np.issubdtype(values.dtype, np.number):
                    yield f"{name} {key}", summarize(values)
        elif file.suffix == ".npy":
            yield name, summarize(np.load(file))
        elif file.suffix == ".png":
            yield name, summarize(np.asarray(Image.open(file)))
        elif file.suffix == ".csv":
            yield from read_columns(name, made.rows(file))
        elif name == "a.json":
            found = made.record(file)
            yield from ((f"{name} {k}", [v]) for k, v in found.items() if isinstance(v, float))


def read_columns(name: str, rows: list[dict[str, str]]) -> Iterator[tuple[str, list[float]]]:
    """Read the columns of numbers of a table, but times, and its number of rows."""
    yield f"{name} rows", [len(rows)]
    for column in rows[0]:
        try:
            values = np.array([float(row[column]) for row in rows])
        except ValueError:
            continue
        if not column.endswith(COSTS):
            yield f"{name} {column}", summarize(values)


def run_job(job: str, root: Path, settings: configuration.Config, folder: Path) -> dict:
    """Run a job; return the versions that it depends on, and its numbers."""
    rule, subject = job.partition(" ")[0], tiny_jobs.find_subject(job)
    told = collect_dependencies(rule, subject or "set14", settings)
    tiny_jobs.JOBS[job](dict(settings), root, folder)
    versions = {name: told[name] for name in ("version", "models") if name in told}
    return {**versions, "numbers": dict(read_numbers(folder))}


def run_model(name: str, settings: configuration.Config) -> dict:
    """Compute an image by an untrained model, and gradients; return its versions and numbers."""
    model = made.moved(made.model(name, settings), 0.05).eval()  # without stochastic depth
    image = torch.from_numpy(made.noise(1, 3, 17, 21)).float() / 255
    if isinstance(model, ASRModel):
        shown = model.render(image, 40, 50, 10_000)
        model(image, torch.tensor([[40, 50]]), torch.tensor([[[3, 4], [30, 20]]])).sum().backward()
    else:
        shown = model(image)
        shown.sum().backward()
    norms = [float(p.grad.norm()) for p in model.parameters() if p.grad is not None]
    numbers = {"image": summarize(shown.detach().numpy()), "gradient": [float(np.mean(norms))]}
    return {"models": list_model_versions(list_classes(ROWS[name])), "numbers": numbers}


def compare(name: str, now: dict, remedy: str) -> None:
    then = RECORDED.get(name, {})
    versions = [{key: found.get(key) for key in ("version", "models")} for found in (then, now)]
    assert versions[0] == versions[1], (
        f"The versions of {name} were raised: python tests/protocol/test_versions.py"
    )
    assert then["numbers"].keys() == now["numbers"].keys(), remedy
    for key, values in now["numbers"].items():
        assert values == pytest.approx(then["numbers"][key], rel=1e-3, abs=1e-5), (
            f"{key} moved. {remedy}"
        )


@pytest.mark.parametrize("job", tiny_jobs.JOBS)
def test_the_numbers_of_a_rule_move_with_its_version_alone(job, tiny, tmp_path):
    root, settings = tiny
    rule = job.partition(" ")[0]
    remedy = f"If that is meant, raise the version of {rule!r} in dependencies/rules.py."
    compare(job, run_job(job, root, settings, tmp_path), remedy)


@pytest.mark.parametrize("name", ROWS)
def test_the_numbers_of_a_model_move_with_its_version_alone(name):
    modules = " or ".join(list_model_versions(list_classes(ROWS[name])))
    remedy = f"If that is meant, raise the version of {modules} in dependencies/versions.py."
    compare(f"model {name}", run_model(name, SMALL), remedy)


def test_every_rule_with_a_version_and_every_model_is_recorded():
    rules = {rule.partition(" ")[0] for rule, listed in RULES.items() if listed.version}
    assert {job.partition(" ")[0] for job in tiny_jobs.JOBS} == rules
    modules = {m for found in RECORDED.values() for m in found.get("models", {})}
    assert modules == {*MODEL_VERSIONS}


def record() -> None:
    """Record the numbers of all that has other versions than those recorded."""
    with tempfile.TemporaryDirectory() as name:
        root, kept = Path(name), {}
        settings = tiny_jobs.prepare(root)
        torch.set_num_threads(1)
        found = {job: run_job(job, root, settings, root / "made" / job) for job in tiny_jobs.JOBS}
        found |= {f"model {row}": run_model(row, SMALL) for row in ROWS}
        for key, now in found.items():
            then = RECORDED.get(key, {})
            same = all(then.get(part) == now.get(part) for part in ("version", "models"))
            kept[key] = then if same and then else now
    lines = (f"{json.dumps(key)}: {json.dumps(kept[key])}" for key in sorted(kept))
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    record()
