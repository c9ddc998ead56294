"""Captions and figures say how the run differs from the paper's, and count what does not fit."""

from pathlib import Path

from gblsr_repro.config import read_items
from gblsr_repro.reporting.captions import compose_caption
from gblsr_repro.reporting.figures import style
from results import Results


def test_the_caption_counts_the_seeds_of_the_arms_that_are_drawn():
    run = Results(Path("nowhere")).record()
    run.forget("native/runs/liif/seed[12]/*", "native/runs/gblsr_full_linear/seed[12]/*")
    caption = compose_caption(read_items()["per_dataset"], run.compare()).text
    assert "LIIF 1" in caption
    assert "Full-Linear" not in caption  # an arm of the diagnostic alone


def test_differences_that_do_not_fit_are_counted():
    differences = [f"difference {number} from the paper" for number in range(9)]
    (text,) = style.create_figure(style.TEXT_WIDTH, 3.0, differences[:3]).texts
    assert text.get_text() == "; ".join(differences[:3])
    (text,) = style.create_figure(style.TEXT_WIDTH, 3.0, differences).texts
    assert text.get_text() == "9 conditions unlike the paper's, listed in the report"
    assert text.get_window_extent().x1 <= style.TEXT_WIDTH * text.figure.dpi
