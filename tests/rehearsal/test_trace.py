"""What a GPU would be given to do, arm by arm and method by method, against the committed table."""

import pytest
import rehearse
import torch

from gblsr_repro import config
from gblsr_repro.files import read_csv

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is here: it need not be pretended"),
]

REWRITE = (
    "if that is meant, run `PYTHONPATH=tests python tests/rehearsal/rehearse.py` "
    "and commit the table"
)


@pytest.fixture(scope="module")
def table():
    return {(row["subject"], row["work"]): row for row in read_csv(rehearse.TABLE, "\t")}


@pytest.mark.parametrize("name", rehearse.subjects())
def test_works_are_those_of_the_table_and_none_waits(table, name):
    """Operations to the last one; the rest to 2 %, since what is live depends on Python as well."""
    works = rehearse.works(rehearse.config(), name)
    for key, work in works.items():
        assert key in table, f"{key} is not in the table: {REWRITE}"
        found = dict(zip(rehearse.COLUMNS, rehearse.row(key, work), strict=True))
        expected = table[key]
        assert found["operations"] == expected["operations"], f"{key} {dict(work.kinds)}: {REWRITE}"
        for column in rehearse.COLUMNS[3:]:
            measured, wanted = float(found[column]), float(expected[column])
            assert measured == pytest.approx(wanted, rel=0.02), f"{key} {column}: {REWRITE}"
        assert not work.waits
    copies = works.pop((name, "step")).copies
    if name in config.arms():
        # The batch's indices; images, weights and all that follows from them are on the device.
        assert copies == ["pageable (8,)"]
        works.pop((name, "query"))
    else:
        # Sides, targets and the crops' rows and columns, none of which waits for the step before.
        assert [copy.partition(" ")[0] for copy in copies] == ["pinned"] * 3
    assert not any(work.copies for work in works.values())


def test_the_table_has_no_other_rows(table):
    assert {subject for subject, _ in table} == {*rehearse.subjects()}
