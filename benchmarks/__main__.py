"""Measure and write a record: `python -m benchmarks`, at the top of the checkout."""

from __future__ import annotations

import argparse
import re
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

from gblsr_repro import runtime
from gblsr_repro.errors import StopRequested, UserError
from gblsr_repro.progress import log, set_up_logging

from . import data, measure, native, rendering, training, upscalers
from .page import write_page
from .plans import Bench, Plan
from .plot import write_plot
from .record import Record

GROUPS: dict[str, ModuleType] = {
    module.GROUP: module for module in (native, data, training, rendering, upscalers)
}
MINUTES = {"cpu": 11.0, "cuda": 9.0}
RECORDS = Path(__file__).resolve().parent / "records"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks from the command line; return the exit status."""
    options = parse_arguments(arguments)
    set_up_logging()
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        measure_all(options)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    except (KeyboardInterrupt, StopRequested):  # the latter by the trainer's loop
        return 130
    finally:
        signal.signal(signal.SIGTERM, before)
    return 0


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the arguments of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--output", type=Path, help="folder of the record (default: records/<date>-<device>)"
    )
    parser.add_argument("--only", nargs="+", choices=list(GROUPS), help="measure these groups")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does everything run?")
    parser.add_argument(
        "--minutes",
        type=float,
        help="time to measure in (default: {cpu:g} on the CPU, {cuda:g} on a GPU)".format(
            **MINUTES
        ),
    )
    parser.add_argument(
        "--model",
        type=Path,
        help="super-resolution run or weights file, for the group upscalers (default: the bundled)",
    )
    parser.add_argument(
        "--mirror", type=Path, help="folder with Set5, Set14 and B100, for the same group"
    )
    return parser.parse_args(arguments)


def measure_all(options: argparse.Namespace) -> None:
    """Measure the groups of the options; write record, page and plot, also when stopped early."""
    began = time.monotonic()
    device = runtime.prepare_device("auto", threads=1)
    output = options.output or RECORDS / name_folder(device)
    groups = options.only or list(GROUPS)
    record = Record(output / "results.csv", device, groups)
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench.open(device, options.quick, Path(scratch), options.model, options.mirror)
        plans = [(group, plan) for group in groups for plan in GROUPS[group].list_plans(bench)]
        plans.sort(key=lambda entry: not entry[1].targets)
        minutes = MINUTES[device.type] if options.minutes is None else options.minutes
        try:
            measure_plans(bench, plans, record, began + 60 * minutes)
        finally:
            if record.rows:
                plot = output / "plot.png"
                drawn = write_plot(record.path, plot)
                write_page(record.path, output / "page.md", plot if drawn else None)
    log.info("%s: %d rows", output, len(record.rows))


def name_folder(device: object) -> str:
    """Name the folder of a record after the date and the device."""
    name = runtime.describe_device(device)["name"].lower()
    return f"{datetime.now(UTC).date()}-{re.sub('[^a-z0-9]+', '-', name).strip('-')}"


def measure_plans(
    bench: Bench, plans: list[tuple[str, Plan]], record: Record, deadline: float
) -> None:
    """Measure the plans in order; each may take its share of the time that is left.

    When the time is up those with targets are still measured, in as few rounds as they need.
    """
    rounds = measure.QUICK_ROUNDS if bench.quick else measure.ROUNDS
    for position, (group, plan) in enumerate(plans):
        left = max(deadline - time.monotonic(), 0.0)
        if not left and (bench.quick or not plan.targets):
            record.add_missing(group, plan.label, "the time was up")
            continue
        share = left * plan.weight / sum(later.weight for _, later in plans[position:])
        began, cores = time.monotonic(), measure.CoreMeter()
        case = plan.build(bench)
        if bench.quick:
            case = case.drop_targets()
        results = measure.measure_case(case, bench.device, share, rounds)
        record.add(case, results, cores.count_busy())
        del case, results
        runtime.release_memory(bench.device)
        log.info("%s %s: %.1f of %.1f s", group, plan.label, time.monotonic() - began, share)


if __name__ == "__main__":
    sys.exit(main())
