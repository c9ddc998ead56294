"""The HTML page is complete, stands alone, is well-formed and names what is absent."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from made_up_runs import build_paper_run
from PIL import Image

from gblsr_repro.analysis.claims import judge
from gblsr_repro.analysis.claims.stated import CLAIMS
from gblsr_repro.analysis.claims.verdicts import read_claims
from gblsr_repro.cli import main
from gblsr_repro.config import load, merge
from gblsr_repro.files import write_json, write_text
from gblsr_repro.reporting import report_page
from gblsr_repro.reporting.claims import VERDICT_STYLES
from gblsr_repro.reporting.page import PageSection, build_simple_table, render_html
from results import Results

VOID = {"meta", "link", "img", "br", "hr", "input"}


class Tree(HTMLParser):
    """Checks nesting; collects elements, their attributes, and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def attributes(self, name: str) -> list[str]:
        return [a[name] or "" for _, a in self.elements if name in a]

    def tags(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    (folder / "native" / "arrays").mkdir(parents=True)
    run = build_paper_run(folder)
    run.rows = {"native": run.rows["native"]}
    run.add_runs(["liif", "gblsr_scalar"], 100.0, seeds=2)
    run.rows["runs"][0]["commit"] = "c0ffee"
    run.config["preset"] = "demo"
    run.set_setting("native.training.steps", 40)
    run.change("native/latency/liif/seed0/kodak.json", not_timed={"paper": "it would take 30 GiB"})
    run.change("*/runs/*", versions={"torch": "2.11.0"})
    run.write()
    # Half of each image 51 above its mean color and half below: 20 log10(255 / 51) dB.
    halves = np.full((2, 4, 4, 3), 60, np.uint8)
    halves[:, :2] += 102
    np.save(folder / "native" / "arrays" / "kodak.npy", halves)
    write_text(folder / "config.yaml", "preset: demo\nnote: <script>alert(1)</script>\n")
    write_text(folder / "tables" / "main_kodak.tex", "x")
    (folder / "figures").mkdir()
    Image.new("RGB", (1100, 3), "navy").save(folder / "figures" / "frontier.png")
    Image.new("RGB", (528, 3), "navy").save(folder / "figures" / "cov_hist.png")
    (folder / "figures" / "frontier.pdf").write_bytes(b"%PDF")
    return folder


@pytest.fixture(scope="module")
def page(results: Path) -> Tree:
    config = load() | {"preset": "demo"}
    judge.judge_results(results / "aggregates", results / "claims.csv", config)
    report_page.write_page(results, results / "claims.csv", results / "report.html", config)
    return Tree((results / "report.html").read_text(encoding="utf-8"))


def test_it_asks_no_server(page: Tree, results: Path) -> None:
    assert not page.tags("script")
    assert not page.tags("iframe")
    assert all(source.startswith("data:image/png;base64,") for source in page.attributes("src"))
    assert all(str(link["href"]).startswith("data:") for link in page.tags("link"))
    html = (results / "report.html").read_text(encoding="utf-8")
    assert "url(" not in html
    assert "@import" not in html


def test_links_lead_to_sections_files_or_the_sources_of_assets(page: Tree, results: Path) -> None:
    ids = page.attributes("id")
    assert len({*ids}) == len(ids)
    for anchor in page.tags("a"):
        href = str(anchor["href"])
        if href.startswith("#"):
            assert href[1:] in ids
        elif not href.startswith("https://"):
            assert (results / href).is_file()


def test_the_page_has_every_claim_and_table(page: Tree) -> None:
    assert "Not the paper's experiment." in page.text
    for claim in CLAIMS.values():
        assert page.words.count(claim.sentence) >= 1, claim.id
    assert "different conditions; holds +2.974 dB +2.974 dB" in page.text
    frames = [attributes for attributes in page.tags("div") if attributes["class"] == "scroll"]
    assert len(page.tags("table")) + len(page.tags("img")) == len(frames)
    assert all(frame["aria-label"] for frame in frames)
    assert {a.get("scope") for a in page.tags("th")} == {"col", "row", "colgroup", "rowgroup"}
    assert "22.312 ± 0.204" in page.text


def test_what_an_earlier_config_left_is_not_of_this_run(tmp_path):
    build_paper_run(tmp_path).write()
    scores = [f"native/metrics/{arm}/seed0/kodak.csv" for arm in ("lte", "wire")]
    tables = [f"tables/{name}.tex" for name in ("main_kodak", "logspace_metrics")]
    for name in (*scores, *tables):
        write_text(tmp_path / name, "")
    (tmp_path / "figures").mkdir()
    for name in ("frontier", "cov_hist"):
        Image.new("RGB", (9, 9)).save(tmp_path / "figures" / f"{name}.png")
    config = merge(load(), {"native": {"arms": ["liif", "lte"]}})
    claims = tmp_path / "claims.csv"
    judge.judge_results(tmp_path / "aggregates", claims, config)
    report_page.write_page(tmp_path, claims, tmp_path / "report.html", config)
    page = Tree((tmp_path / "report.html").read_text(encoding="utf-8"))
    links, text = {*page.attributes("href")}, page.text
    aggregates = [f"aggregates/{name}.csv" for name in ("native", "ablation")]
    for kept, left in (scores, tables, aggregates):
        assert kept in links
        assert left not in links
    assert "every arm (Figure 1) not drawn" not in text
    assert "Variation of the bandwidth within an image (Figure 3) not drawn." in text
    assert "(Table 9) The config runs nothing that ablation.csv is about." in text
    gone = [claim for claim in read_claims(claims) if claim.scope in ("locality", "ablation")]
    assert {claim.measured for claim in gone} == {""}


def test_a_demo_leads_with_what_it_learned_and_folds_what_it_cannot_judge(
    results: Path, page: Tree
) -> None:
    sections = [str(a["id"]) for a in page.tags("section")]
    conditions = "how-this-run-differs-from-the-paper-s"
    assert sections[:5] == [
        "what-it-learned", "pictures", "figures", "claims", conditions
    ]  # fmt: skip
    assert "Kodak 14.0 22.3 15.2" in page.text  # the mean color of the array below, then the arms
    text = (results / "report.html").read_text(encoding="utf-8")
    claim = text.index("PSNR of GB-LSR-Scalar minus the best baseline on Urban100")
    assert text.rfind("<details", 0, claim) > text.rfind("</details>", 0, claim)


def test_a_verdict_has_its_sign_whatever_qualifies_it() -> None:
    verdicts = ("reproduced", "reproduced, on other images", "different conditions; holds")
    table = build_simple_table(("Claim", "Verdict"), [("a", verdict) for verdict in verdicts])
    page = PageSection("Page", inside=[PageSection("Claims", tables=[table])])
    html = render_html(page, "", VERDICT_STYLES)
    badges = [span["class"] for span in Tree(html).tags("span")]
    assert badges == ["badge good", "badge good", "badge other"]


def test_figures_are_inside_with_captions(page: Tree, results: Path) -> None:
    frontier, histogram = page.tags("img")
    content = base64.b64decode(str(frontier["src"]).partition(",")[2])
    assert content == (results / "figures" / "frontier.png").read_bytes()
    # A narrow screen scrolls a figure that is wide, and shows another one whole.
    assert frontier["class"] == "wide"
    assert "class" not in histogram


def test_absent_parts_are_named(page: Tree) -> None:
    assert "Reconstructions of one image per data set (Figure 8) # No pictures yet;" in page.text
    assert "Super-resolution latency at the timed scale (Table 6)" in page.text
    assert "asr_quality.csv does not exist" in page.text


def test_cost_and_provenance(page: Tree) -> None:
    assert "LIIF (matched-budget amortized) 2 40 1m40s 3m21s 20 512 Some CPU" in page.text
    for fact in ("commit c0ffee", "version of torch 2.11.0",
                 "LIIF on kodak by the clock paper: it would take 30 GiB"):  # fmt: skip
        assert fact in page.text


def test_an_empty_folder_gives_a_page_that_says_so_and_none_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "results").mkdir()
    claims = tmp_path / "results" / "claims.csv"
    report_page.write_page(tmp_path / "results", claims, tmp_path / "report.html", load())
    page = Tree((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "claims.csv does not exist; run the step that makes it first." in page.text
    assert "Not the paper's experiment" not in page.text
    words = ["report", "--results", str(tmp_path / "none"), "--output", str(tmp_path / "a.html")]
    assert main(words) == 2
    assert "run the workflow first" in capsys.readouterr().err


def test_the_summary_has_a_dash_where_a_number_is_missing_and_no_arm_without_any(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Results(tmp_path)
    for dataset in ("kodak", "set14"):
        run.add("native", 21.5, 0.1, dataset=dataset, arm="liif", metric="psnr")
    run.write()
    overlay = tmp_path / "mine.json"
    write_json(overlay, run.config | {"results": str(tmp_path)})
    assert main(["summary", "--config", str(overlay)]) == 0
    _, row, steps = capsys.readouterr().out.splitlines()[:3]
    assert row.startswith("LIIF")
    assert row.split()[-3:] == ["21.50", "21.50", "-"]
    assert steps.startswith("2000 steps")
    assert main(["claims", "--config", str(overlay)]) == 0
    assert main(["summary", "--config", str(overlay)]) == 0
    absent = sum(not row.measured for row in read_claims(tmp_path / "claims.csv"))
    assert f"not measured ({absent})" in capsys.readouterr().out


def test_the_summary_of_super_resolution_alone_has_its_claims_and_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As after the target asr_eval; before anything was run it says so."""
    overlay = tmp_path / "mine.json"
    write_json(overlay, load() | {"results": str(tmp_path / "results")})
    assert main(["summary", "--config", str(overlay)]) == 2
    assert "no numbers and no pages yet; run the workflow first" in capsys.readouterr().err
    folder = tmp_path / "results" / "asr"
    build_paper_run(tmp_path / "results").write()
    native = tmp_path / "results" / "aggregates" / "native.csv"
    write_text(native, re.sub(r".*,psnr,.*\n", "", native.read_text()))
    assert main(["claims", "--config", str(overlay), "--output", str(folder)]) == 0
    write_text(folder / "report.html", "")
    assert main(["summary", "--config", str(overlay)]) == 0
    said = capsys.readouterr().out
    assert "PSNR" not in said
    assert re.search(r"claims: reproduced \(\d+\)", said)
    assert f"report   {folder}/report.html" in said
