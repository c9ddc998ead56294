"""Fixtures that run Snakemake as a user would."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from gblsr_repro import config

Snakemake = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def snakemake(repository: Path, tmp_path: Path) -> Snakemake:
    """Run Snakemake with results and resources in a temporary folder; return what it said."""

    def run(
        *arguments: str, configfile: str | None = None, cwd: Path = repository, **config: object
    ) -> subprocess.CompletedProcess[str]:
        folders = {"results": tmp_path / "results", "resources": tmp_path / "resources"}
        pairs = [f"{key}={value}" for key, value in {**folders, **config}.items()]
        files = ["--configfile", configfile] if configfile else []
        environment = {k: v for k, v in os.environ.items() if k != "GBLSR_LPIPS_BACKBONE"}
        command = [sys.executable, "-m", "snakemake", "--snakefile", repository / "Snakefile"]
        return subprocess.run(
            [*command, "--nolock", *files, *arguments, "--config", *pairs],
            cwd=cwd,
            env=environment,
            capture_output=True,
            text=True,
            timeout=900,
        )

    return run


# --- a finished run of empty files --------------------------------------------------------------

STUB = """

def _make(*arguments):
    for path in arguments[1]:
        Path(path).touch()


for each in workflow.rules:
    each.run_func, each._benchmark = _make, None
"""
TARGETS = ["main_kodak", "logspace_loctests", "asr_latency_main", "qualitative"]
ROW = re.compile(r"wildcards: .*?(?:arm|method|array|column|dataset)=(\w+)")


class Finished:
    """A checkout with a finished run of empty files, whose files a test may edit."""

    arms = ("gblsr_scalar", "gblsr_full", "liif")
    methods = ("gblsr_asr", "lte_rdn")

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.edited: dict[Path, bytes | None] = {}
        with (folder / "Snakefile").open("a") as snakefile:
            snakefile.write(STUB)

    def run(self, *words: object) -> str:
        """Run a module of Python with the checkout's code; return what it said."""
        done = subprocess.run(
            [sys.executable, "-m", *map(str, words)],
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": str(self.folder / "src")},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def command(self, *words: object, **settings: object) -> str:
        """Run the command line with settings that lie over the demo's."""
        files = ["config/config.yaml", *self.overlay(**settings)]
        return self.run("gblsr_repro", *words, *(w for name in files for w in ("--config", name)))

    def overlay(self, **settings: object) -> list[str]:
        """Write settings that lie over the demo's; return the names of the config files."""
        chosen = {"native": {"arms": [*self.arms]}, "asr": {"methods": [*self.methods]}}
        (self.folder / "overlay.yaml").write_text(yaml.safe_dump(config.merge(chosen, settings)))
        return ["config/demo.yaml", "overlay.yaml"]

    def snakemake(self, *words: str, **settings: object) -> str:
        files = self.overlay(**settings)
        words = ("snakemake", "--cores", "1", *words, "--configfile", *files)
        return self.run(*words, "--", *TARGETS)

    def planned(self, **settings: object) -> set[tuple[str, str | None]]:
        """The jobs that would run, as rule and the row they are about."""
        text = self.snakemake("--dry-run", **settings)
        blocks = re.findall(r"^rule (\w+):\n((?: +.*\n)*)", text, re.MULTILINE)
        return {(rule, (ROW.search(body) or [None, None])[1]) for rule, body in blocks}

    @staticmethod
    def trained(jobs: set[tuple[str, str | None]]) -> set[str | None]:
        """The arms and methods that jobs train."""
        return {row for rule, row in jobs if rule in ("train", "asr_train_run")}

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace a text in a file; without an old one, append to the file or make it."""
        path = self.folder / name
        self.edited.setdefault(path, path.read_bytes() if path.exists() else None)
        text = path.read_text() if path.exists() else ""
        assert old in text
        path.write_text(text.replace(old, new, 1) if old else text + new)

    def restore(self) -> None:
        """Undo the edits."""
        while self.edited:
            path, content = self.edited.popitem()
            path.unlink() if content is None else path.write_bytes(content)


@pytest.fixture(scope="session")
def _finished(clone: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory) -> Finished:
    made = Finished(clone(tmp_path_factory.mktemp("finished") / "checkout"))
    assert "GPU-hours" in made.snakemake()
    assert made.planned() == set()
    return made


@pytest.fixture
def finished(_finished: Finished) -> Iterator[Finished]:
    """A checkout with a finished run, as it was before the edits of earlier tests."""
    yield _finished
    _finished.restore()
