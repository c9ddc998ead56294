"""Write what single jobs leave, for aggregates to be made of."""

from __future__ import annotations

from pathlib import Path

from gblsr_repro.config import Config, find_row, load, read_methods
from gblsr_repro.dependencies import identify_run
from gblsr_repro.files import write_json, write_text

SCORES = "image,psnr,ssim,lpips,edge_lpips,lse,psnr_edge"
TIMES = "dataset,image,clock,median_ms,mean_ms,std_ms,p90_ms,p95_ms,peak_memory_mib,timed_passes"


def find_benchmark(subject: str) -> str:
    """Find the benchmark of an arm or method."""
    return "asr" if subject in read_methods() else "native"


def leave_run(
    root: Path, name: str, seed: int = 0, config: Config | None = None, **facts: object
) -> Path:
    """Write the record of a run with the settings of a config, by default the paper's."""
    record = {
        "arm": name, "seed": seed, "steps": 20, "parameters": 989955, "wall_seconds": 61.5,
        "steps_per_second": 3.25, "peak_memory_mib": 812.0, "device": {"name": "NVIDIA H200"},
        "finished": "2025-11-21T09:00:00", "versions": {"torch": "2.11.0"},
        "git": {"commit": "abc", "modified": False},
        "identity": identify_run(find_row(name), config or load()),
    }  # fmt: skip
    path = root / find_benchmark(name) / "runs" / name / f"seed{seed}" / "run.json"
    write_json(path, record | facts)
    return path


def leave_table(path: Path, header: str, *rows: str, **record: object) -> Path:
    """Write scores or times, line by line as they stand in the file, and what is recorded of them.

    The names of columns: `SCORES`, `TIMES`.
    """
    write_text(path, "\n".join([header, *rows]) + "\n")
    write_json(path.with_suffix(".json"), record)
    return path
