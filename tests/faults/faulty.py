"""A small disk, a workflow to be killed, and what runs must have in common whatever happened."""

import os
import random
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import made
import psutil
import yaml

from gblsr_repro import config
from gblsr_repro.files import compute_sha256


def outcome(run: Path) -> tuple[str, list[str]]:
    """What two runs of the same seed must share: the weights, and the log but for its speed."""
    record = made.record(run / "run.json")
    weights = compute_sha256(run / "weights.safetensors")
    assert record["weights_sha256"] == weights
    return weights, [line.rpartition(",")[0] for line in (run / "log.csv").read_text().splitlines()]


def unfinished(folder: Path) -> list[str]:
    """What interrupted writers left under a folder."""
    return [p.name for p in folder.rglob(".*") if p.suffix != ".lock"]


class Disk:
    """A file system of `size` kB in memory that can be filled, enlarged and made read-only."""

    def __init__(self, folder: Path, size: int) -> None:
        self.folder = folder
        self.filler = folder / "filler"
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", folder], check=True)

    def leave(self, kilobytes: int) -> None:
        """Fill the disk up to so many free kB."""
        self.filler.unlink(missing_ok=True)
        free = os.statvfs(self.folder)
        wanted = free.f_bavail * free.f_frsize - kilobytes * 1024
        if wanted > 0:
            self.filler.write_bytes(bytes(wanted))

    def free(self) -> None:
        self.filler.unlink(missing_ok=True)

    def remount(self, how: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{how}", self.folder], check=True)

    def remove(self) -> None:
        subprocess.run(["umount", "--lazy", self.folder], check=False)


TIMEOUT_SECONDS = 300

TINY = {
    "results": "results/tiny",
    "seeds": [0],
    "native": {
        "data": {
            "image_size": 64,
            "train": ["demo_photos"],
            "evaluate": {"kodak": "demo_kodak"},
            "exemplars": {"kodak": "astronaut"},
        },
        "arms": ["gblsr_scalar"],
        "model": {"features": 16, "hidden": 16, "modes": 4},
        "training": {"steps": 60, "batch_size": 2, "checkpoint_every": 5, "log_every": 5},
    },
}


class Workflow:
    """A copy of the project in which Snakemake can be run, watched and killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.results = folder / "results" / "tiny"

    @property
    def command(self) -> list[str]:
        files = ["--configfile", "config/demo.yaml", "tiny.yaml"]
        return [sys.executable, "-m", "snakemake", "--cores", "2", *files]

    def overlay(self, **settings: object) -> None:
        """Change the settings that lie over those of the demo."""
        merged = config.merge(TINY, settings)
        (self.folder / "tiny.yaml").write_text(yaml.safe_dump(merged))

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start Snakemake as the leader of a session of its own; it writes into a log."""
        with (self.folder / "said.txt").open("wb") as out:
            return subprocess.Popen(
                [*self.command, *arguments],
                cwd=self.folder,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def said(self) -> str:
        """What Snakemake has said so far."""
        return (self.folder / "said.txt").read_text()

    def run(self, *arguments: str, fails: bool = False) -> str:
        """Run Snakemake, which must end well, or fail where that is asked for; return its words."""
        process = self.start(*arguments)
        try:
            process.wait(TIMEOUT_SECONDS)
        finally:
            kill_session(process)
        assert (process.returncode != 0) == fails, self.said[-3000:]
        return self.said

    def unlock(self) -> None:
        """Remove the locks of a killed Snakemake, as --unlock does."""
        shutil.rmtree(self.folder / ".snakemake" / "locks", ignore_errors=True)

    def jobs(self) -> list[psutil.Process]:
        """Return the running steps of this checkout."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if "gblsr_repro" in process.cmdline() and process.cwd() == str(self.folder):
                    found.append(process)
        return found


def kill_session(process: subprocess.Popen[bytes]) -> None:
    """Kill Snakemake and all its jobs at once, as a power cut does."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


# --- damage ---------------------------------------------------------------------------------------


def damage(path: Path, chance: random.Random) -> str:
    """Cut a file short, flip one bit or blank a block, anywhere in it; say what was done."""
    content = bytearray(path.read_bytes())
    place = chance.randrange(len(content))
    kind = chance.choice(["cut", "flip", "flip", "blank"])
    if kind == "cut":
        del content[place:]
    elif kind == "flip":
        content[place] ^= 1 << chance.randrange(8)
    else:
        end = min(place + 512, len(content))
        content[place:end] = bytes(end - place)
    path.write_bytes(content)
    return f"{kind} at byte {place}"
