"""A finished run of blank files, and what Snakemake plans once something of it has changed."""

from __future__ import annotations

import os
import re
from pathlib import Path

import yaml
import your_own
from planning import list_jobs, run

from gblsr_repro import config


def list_inputs(said: str) -> set[str]:
    """List the inputs and outputs of all jobs of a dry run."""
    return set(re.findall(r"^ *(?:    input: .*\n)?    output: .*$", said, re.MULTILINE))


class Finished:
    """A checkout with a finished demo of empty files, whose files a test may edit.

    Among its arms is the reader's own of docs/your-own.md, under another name.
    """

    own = "plain"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "src" / "plain.py").write_text(your_own.FILES["src/flat.py"])
        your_own.add_row(folder, "flat", arm=self.own, decoder="plain:FlatDecoder")
        settings = config.load([folder / "config" / "demo.yaml"])
        self.arms = [*settings["native"]["arms"], self.own]
        self.edited: dict[Path, bytes | None] = {}

    def finish(self) -> None:
        """Make every file that the workflow makes and have Snakemake take it for made.

        All are empty but arrays and weights, which are larger than what Snakemake compares unasked.
        """
        said = self.snakemake("--dry-run")
        self.planned_inputs = list_inputs(said)
        for line in re.findall(r"^    output: (.*)$", said, re.MULTILINE):
            for name in line.replace(" (update)", "").split(", "):
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                (self.folder / name).touch()
                if name.endswith((".npy", ".safetensors")):
                    os.truncate(self.folder / name, 1_000_001)
        self.snakemake("--touch", "--forceall")

    def command(self, *words: object, **settings: object) -> str:
        """Run the command line with settings that lie over the demo's."""
        files = self.overlay(**settings)
        words += tuple(word for name in files for word in ("--config", name))
        return run(self.folder, "gblsr_repro", *words)

    def overlay(self, **settings: object) -> list[str]:
        """Write settings that lie over the demo's; return the names of the config files."""
        chosen = {"native": {"arms": self.arms}}
        (self.folder / "overlay.yaml").write_text(yaml.safe_dump(config.merge(chosen, settings)))
        return ["config/demo.yaml", "overlay.yaml"]

    def snakemake(self, *words: str, **settings: object) -> str:
        """Run Snakemake; return what it said."""
        files = self.overlay(**settings)
        line = ["--cores", 1, *words, "--configfile", *files, "--", "all"]
        return run(self.folder, "snakemake", *line)

    def planned(self, **settings: object) -> set[tuple[str, str]]:
        """Return the jobs that would run, as `list_jobs` does."""
        return list_jobs(self.snakemake("--dry-run", **settings))

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
