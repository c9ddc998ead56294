"""Measure and write a record: `python -m benchmarks`, at the top of the checkout."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import torch

from gblsr_repro import runtime
from gblsr_repro.errors import UserError
from gblsr_repro.progress import log, set_up_logging

from . import data, native, rendering, training
from .bench import Bench
from .measure import measure_case
from .record import Record

GROUPS: dict[str, ModuleType] = {
    "native": native,
    "data": data,
    "training": training,
    "rendering": rendering,
}
RECORDS = Path(__file__).resolve().parent / "records"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks from the command line; return the exit status."""
    options = parse_arguments(arguments)
    set_up_logging()
    try:
        device = runtime.prepare_device("auto", threads=1)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    output = options.output or RECORDS / name_folder(device)
    record = Record(output, device, options.only)
    bench = Bench.open(device, options.quick)
    for group in options.only:
        for case in GROUPS[group].build_cases(bench):
            least = {"seconds": 0, "least": 2} if options.quick else {}
            results = measure_case(case, device, **least)
            record.add(group, case, results)
            log.info("%s: %s %s", group, case.name, case.size)
            del case, results
            runtime.release_memory(device)
    return 0


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the arguments of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--output", type=Path, help="folder of the record (default: records/<date>-<device>)"
    )
    parser.add_argument(
        "--only", nargs="+", choices=GROUPS, default=list(GROUPS), help="measure these groups"
    )
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does everything run?")
    return parser.parse_args(arguments)


def name_folder(device: torch.device) -> str:
    """Name the folder of a record after the date and the device."""
    name = runtime.describe_device(device)["name"].lower()
    return f"{datetime.now(UTC).date()}-{re.sub('[^a-z0-9]+', '-', name).strip('-')}"


if __name__ == "__main__":
    sys.exit(main())
