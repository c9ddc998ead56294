"""Captions and figures say how the run differs from the paper's, and count what does not fit."""

from dataclasses import replace

from made_up_runs import PAPER

from gblsr_repro.config import read_items
from gblsr_repro.reporting.captions import compose_caption
from gblsr_repro.reporting.figures import style
from results import merge_provenance


def test_the_caption_counts_the_seeds_of_the_arms_that_are_drawn():
    paper = PAPER[0]
    fewer = {"liif": [0], "gblsr_full_linear": [0]}
    provenance = merge_provenance(replace(paper, seeds={**paper.seeds, **fewer}))
    caption = compose_caption(read_items()["per_dataset"], provenance).text
    assert "LIIF 1" in caption
    assert "Full-Linear" not in caption  # an arm of the diagnostic alone


def test_differences_that_do_not_fit_are_counted():
    differences = [f"difference {number} from the paper" for number in range(9)]
    (text,) = style.create_figure(style.TEXT_WIDTH, 3.0, differences[:3]).texts
    assert text.get_text() == "; ".join(differences[:3])
    (text,) = style.create_figure(style.TEXT_WIDTH, 3.0, differences).texts
    assert text.get_text() == "9 conditions unlike the paper's, listed in the report"
    assert text.get_window_extent().x1 <= style.TEXT_WIDTH * text.figure.dpi
