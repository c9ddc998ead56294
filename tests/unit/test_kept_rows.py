"""Rows that are kept while they are computed: a stopped job goes on.

That those of other settings are neither read nor lost: test_evaluation_native.py.
"""

import threading
import time

import pytest

from gblsr_repro.evaluation.kept_rows import compute_rows

# What JSON must give back as it was: shortest floats, an absent number, infinity.
VALUES = [0.1 + 0.2, 1e-320, None, float("inf"), 22.3125]
NAMES = [f"i{position}" for position in range(len(VALUES))]


class Killed(BaseException):
    """Stands for a signal."""


def score(folder, scored, until=None, names=NAMES):
    """Compute a row for each of the values, and note which; stop at the row `until`."""

    def compute(position):
        if position == until:
            raise Killed
        scored.append(position)
        return {"score": VALUES[position]}

    return compute_rows(folder, "kodak", {}, names, compute, "score")


WHOLE = [{"image": name, "score": value} for name, value in zip(NAMES, VALUES, strict=True)]


@pytest.mark.parametrize("until", range(len(VALUES)))
def test_a_stopped_job_goes_on_with_the_next_row(tmp_path, until):
    scored = []
    with pytest.raises(Killed):
        score(tmp_path, scored, until)
    assert score(tmp_path, scored) == WHOLE
    assert score(tmp_path, scored) == WHOLE
    assert scored == [*range(len(VALUES))]


@pytest.mark.parametrize("damage", ["cut", "flip", "blank"])
@pytest.mark.parametrize("row", [0, 2, 4])
def test_a_damaged_row_and_those_after_it_are_computed_again(tmp_path, damage, row):
    score(tmp_path, [])
    (path,) = tmp_path.glob("*.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    line = lines[row]
    lines[row] = {
        "cut": line[:-3],
        "flip": line.replace(b"score", b"scope"),
        "blank": bytes(len(line)),
    }[damage]
    path.write_bytes(b"".join(lines[: row + 1] if damage == "cut" else lines))
    scored = []
    assert score(tmp_path, scored) == WHOLE
    assert scored == [*range(row, len(VALUES))]
    assert score(tmp_path, scored) == WHOLE
    assert len(scored) == len(VALUES) - row


def test_an_image_has_its_present_name(tmp_path):
    """Renamed images are scored no second time, and are not called by their old names."""
    score(tmp_path, [])
    scored, names = [], ["renamed", *NAMES[1:]]
    assert score(tmp_path, scored, names=names) == [WHOLE[0] | {"image": "renamed"}, *WHOLE[1:]]
    assert scored == []


def test_two_at_once_compute_no_row_twice(tmp_path):
    """A second one waits, as beside a job that outlived its workflow, and reads what it made."""
    began, scored, rows = threading.Event(), [], []

    def compute(position):
        scored.append(position)
        began.set()
        time.sleep(0.05)
        return WHOLE[position]

    def both(target):
        kept = (tmp_path, "kodak", {}, NAMES, compute, "score")
        return threading.Thread(target=lambda: target.append(compute_rows(*kept)))

    first, second = both(rows), both(rows)
    first.start()
    began.wait()
    second.start()
    first.join()
    second.join()
    assert rows == [WHOLE, WHOLE]
    assert scored == [*range(5)]
