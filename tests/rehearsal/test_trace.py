"""What a GPU would be given to do, arm by arm and method by method, against the committed table."""

import csv

import pytest
import rehearse
import torch

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is here: it need not be pretended"),
]

REWRITE = "if that is meant, run `python tests/rehearsal/rehearse.py` and commit the table"
CONFIG = rehearse.config()


@pytest.fixture(scope="module")
def table():
    with rehearse.TABLE.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    return {(row["subject"], row["work"]): row for row in rows}


def compare(table, works):
    """Operations to the last one; the rest to 2 %, since what is live depends on Python as well."""
    for key, work in works.items():
        assert key in table, f"{key} is not in the table: {REWRITE}"
        found = dict(zip(rehearse.COLUMNS, rehearse.row(key, work), strict=True))
        expected = table[key]
        assert found["operations"] == expected["operations"], f"{key} {dict(work.kinds)}: {REWRITE}"
        for column in rehearse.COLUMNS[3:]:
            measured, wanted = float(found[column]), float(expected[column])
            assert measured == pytest.approx(wanted, rel=0.02), f"{key} {column}: {REWRITE}"


@pytest.mark.parametrize("name", CONFIG["native"]["arms"])
def test_native_arm(table, name):
    works = rehearse.native_works(CONFIG | {"native": CONFIG["native"] | {"arms": [name]}})
    compare(table, works)
    assert not any(work.waits for work in works.values())
    # The batch's indices; images, weights and all that follows from them are on the device.
    assert works[name, "step"].copies == ["pageable (8,)"]
    for kind in ("fast", "plain", "odd size"):
        assert not works[name, kind].copies


@pytest.mark.parametrize("name", CONFIG["asr"]["methods"])
def test_super_resolution_method(table, name):
    works = rehearse.asr_works(CONFIG | {"asr": CONFIG["asr"] | {"methods": [name]}})
    compare(table, works)
    assert not any(work.waits for work in works.values())
    step = works[name, "step"]
    # Sides, targets and the crops' rows and columns, none of which waits for the step before.
    assert len(step.copies) == 3
    assert all(copy.startswith("pinned") for copy in step.copies)
    assert not any(work.copies for kind, work in works.items() if kind[1] != "step")


def test_the_table_has_no_other_rows(table):
    subjects = {subject for subject, _ in table}
    assert subjects == {*CONFIG["native"]["arms"], *CONFIG["asr"]["methods"]}
