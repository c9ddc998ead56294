"""The page works in a browser: pictures blink in place, claims are chosen, links lead somewhere."""

from __future__ import annotations

import io
import shutil

import made
import numpy as np
import pytest
from made_up_runs import build_demo_run
from PIL import Image

from gblsr_repro.analysis.claims import judge
from gblsr_repro.analysis.claims.verdicts import read_claims
from gblsr_repro.reporting import report_page
from gblsr_repro.reporting.page import convert_to_anchor
from results import Results

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(not BROWSER, reason="neither chromium nor google-chrome is on PATH")

IMAGES = ("another", "rocket")
NATIVE, ASR = ("psnr", "ssim", "lpips"), ("psnr_y", "ssim_y")
SCORED = "native/metrics/{}/seed0/kodak.csv", "asr/metrics/{}/seed0/set5_x4.csv"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A finished run in which LIIF gives back the original, and LTE one that is 20 brighter."""
    run = build_demo_run(tmp_path_factory.mktemp("run"))
    run.config |= {"preset": "paper"}
    run.config["native"]["data"]["exemplars"] = {"kodak": "rocket"}
    run.config["asr"]["exemplars"] = {"set5": "rocket"}
    run.write_enlarged()
    for arm in ("gblsr_scalar", "liif", "wire"):
        images = IMAGES[:1] if arm == "wire" else IMAGES
        run.write_scores(SCORED[0].format(arm), images, *NATIVE)
    run.write_scores(SCORED[1].format("gblsr_asr"), IMAGES, *ASR)
    run.write_scores("asr/metrics/bicubic/set5_x4.csv", IMAGES, *ASR)
    folder = run.root / "native" / "exemplars" / "seed0"
    original = np.asarray(Image.open(folder / "ground_truth" / "kodak.png")) // 2
    for name, image in (("ground_truth", original), ("liif", original), ("lte", original + 20)):
        Image.fromarray(image).save(folder / name / "kodak.png")
    (run.root / "figures").mkdir()
    Image.new("RGB", (1100, 30), "navy").save(run.root / "figures" / "frontier.png")
    judge.judge_results(run.write(), run.root / "claims.csv", run.config)
    output = run.root / "report.html"
    report_page.write_page(run.root, run.root / "claims.csv", output, run.config)
    return run


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=BROWSER)
        yield found
        found.close()


@pytest.fixture
def page(run, browser, request):
    """The page in a window of its own; no test leaves a message on the console."""
    window = {"viewport": {"width": 1200, "height": 900}} | getattr(request, "param", {})
    opened = browser.new_page(**window)
    said: list[str] = []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.goto((run.root / "report.html").as_uri())
    yield opened
    opened.close()
    assert said == []


def find_shown(place) -> str:
    """The description of the one picture that is seen in a comparison."""
    (shown,) = [each for each in place.locator("img").all() if each.is_visible()]
    return shown.get_attribute("alt")


def look(place) -> np.ndarray:
    """What is seen where the pictures lie, once they lie on whole pixels of the screen."""
    stack = place.locator(".stack")
    stack.evaluate("stack => Object.assign(stack.style, {position: 'fixed', top: 0, left: 0})")
    return np.asarray(Image.open(io.BytesIO(stack.screenshot())).convert("RGB")).astype(int)


def choose(place, name: str) -> None:
    place.get_by_role("radio", name=name, exact=True).check()


def test_the_arrow_keys_change_the_picture_in_its_place(page):
    kodak = page.locator("#see-native-kodak")
    assert find_shown(kodak) == "Original, Kodak stand-in, rocket"
    kodak.get_by_role("radio").first.focus()
    before = kodak.locator(".stack").bounding_box()
    page.keyboard.press("ArrowRight")
    assert find_shown(kodak).startswith("GB-LSR-Scalar, Kodak stand-in, rocket: PSNR ")
    assert kodak.locator(".stack").bounding_box() == before
    page.keyboard.press("ArrowLeft")
    assert find_shown(kodak).startswith("Original")
    assert find_shown(page.locator("#see-native-set14")).startswith("Original")


def test_each_picture_is_that_of_its_arm_without_loss(page, run):
    kodak = page.locator("#see-native-kodak")
    kodak.locator(".enlarge").uncheck()
    for arm, name in (("gblsr_scalar", "GB-LSR-Scalar"), ("wire", "WIRE")):
        choose(kodak, name)
        there = run.root / "native" / "exemplars" / "seed0" / arm / "kodak.png"
        np.testing.assert_array_equal(look(kodak), np.asarray(Image.open(there)))


@pytest.mark.parametrize(
    ("place", "name", "file", "metrics"),
    [
        ("native-kodak", "GB-LSR-Scalar", SCORED[0].format("gblsr_scalar"), NATIVE),
        ("asr-set5-4", "GB-LSR-Scalar-ASR", SCORED[1].format("gblsr_asr"), ASR),
        ("asr-set5-4", "Bicubic", "asr/metrics/bicubic/set5_x4.csv", ASR),
    ],
)
def test_the_scores_under_a_picture_are_its_own_in_the_csv(page, run, place, name, file, metrics):
    compared = page.locator(f"#see-{place}")
    choose(compared, name)
    (told,) = [p for p in compared.locator(".scores p").all() if p.is_visible()]
    (scores,) = [row for row in made.rows(run.root / file) if row["image"] == "rocket"]
    digits = {"psnr": 3, "psnr_y": 3}
    for metric in metrics:
        assert f" {float(scores[metric]):.{digits.get(metric, 4)}f}" in told.inner_text()
    links = [link.get_attribute("href") for link in told.get_by_role("link").all()]
    assert file in links
    assert all((run.root / link).is_file() for link in links)
    assert find_shown(compared).startswith(f"{name}, ")


def test_missing_scores_are_said_plainly(page):
    kodak = page.locator("#see-native-kodak")
    choose(kodak, "WIRE")
    assert "wire/seed0/kodak.csv has no image 'rocket'" in kodak.inner_text()
    choose(kodak, "GB-LSR-Full")
    assert "gblsr_full/seed0/kodak.csv does not exist" in kodak.inner_text()


def test_the_difference_from_the_original_is_four_times_as_bright(page):
    kodak = page.locator("#see-native-kodak")
    kodak.locator(".subtract").check()
    for name, shown in (("Original", 0), ("LIIF", 0), ("LTE", 80)):
        choose(kodak, name)
        assert abs(look(kodak) - shown).max() <= 4, name


def test_pixels_are_enlarged_sharply_and_a_large_picture_is_shown_amid(page, run):
    enlarged = page.locator("#see-asr-set5-8")
    enlarged.locator(".enlarge").check()
    seen = look(enlarged)
    file = run.root / "asr" / "exemplars" / "seed0" / "ground_truth" / "set5_x8.png"
    amid = np.asarray(Image.open(file))[22:278, 22:278]
    np.testing.assert_array_equal(seen, amid.repeat(3, 0).repeat(3, 1))


def test_super_resolution_is_compared_on_every_set_at_two_scales(page, run):
    asr = run.config["asr"]
    for column in asr["evaluate"]:
        for scale in (4, 8):
            compared = page.locator(f"#see-asr-{column}-{scale}")
            assert compared.get_by_role("radio").count() == 3 + len(asr["methods"])


def list_claims(page) -> set[str]:
    """The addresses of the claims that are seen."""
    seen = "rows => rows.filter(row => row.checkVisibility()).map(row => row.id)"
    return {*page.locator("#every-claim tbody tr").evaluate_all(seen)}


def read_addresses(run) -> dict:
    """The claims of a run by their addresses."""
    claims = read_claims(run.root / "claims.csv")
    return {convert_to_anchor(f"claim {claim.id}"): claim for claim in claims}


def test_claims_are_chosen_by_verdict_and_the_first_view_is_what_fails(page, run):
    claims = read_addresses(run)
    chosen = page.locator("#every-claim")
    fails = {name for name, row in claims.items() if row.agreement == "fails"}
    undecided = {n for n, row in claims.items() if row.agreement == "undecided"}
    assert fails
    assert list_claims(page) == fails | undecided
    for verdict in {row.verdict for row in claims.values()}:
        of_verdict = {name for name, row in claims.items() if row.verdict == verdict}
        label = f"{verdict[0].upper()}{verdict[1:]} ({len(of_verdict)})"
        choose(chosen, label)
        assert list_claims(page) == of_verdict
    choose(chosen, f"All ({len(claims)})")
    assert list_claims(page) == {*claims}


def test_a_claim_has_an_address_that_shows_it_whatever_is_chosen(page, run):
    name = next(name for name, claim in read_addresses(run).items() if claim.agreement == "holds")
    assert name not in list_claims(page)
    page.goto(f"{page.url}#{name}")
    assert name in list_claims(page)


def test_every_table_figure_and_picture_has_an_address_and_the_file_it_was_made_of(page, run):
    for name in ("frontier", "main_kodak", "qualitative", "enlarged", "see-native-kodak"):
        link = page.locator(f"#{name} a.here").first
        assert link.get_attribute("href") == f"#{name}"
    frontier = page.locator("#frontier .links")
    files = {link.inner_text(): link.get_attribute("href") for link in frontier.locator("a").all()}
    assert files["frontier.png"] == "figures/frontier.png"
    assert files["native.csv"] == "aggregates/native.csv"
    assert page.locator(files["scores of every image"]).count() == 1


def test_no_condition_is_said_under_more_than_one_figure(page):
    text = page.locator("body").inner_text()
    assert text.count("rebuilt within the parameter budget") == 1


@pytest.mark.parametrize("page", [{"viewport": {"width": 400, "height": 900}}], indirect=True)
def test_a_narrow_screen_scrolls_what_is_wide_and_not_the_page(page):
    for compared in page.locator(".enlarge").all():
        compared.check()
    assert page.evaluate("document.documentElement.scrollWidth") == 400


@pytest.mark.parametrize("page", [{"color_scheme": "dark"}], indirect=True)
def test_a_dark_page_is_dark_and_its_pictures_are_as_they_are(page, run):
    color = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert color == "rgb(20, 23, 26)"
    kodak = page.locator("#see-native-kodak")
    kodak.locator(".enlarge").uncheck()
    file = run.root / "native" / "exemplars" / "seed0" / "ground_truth" / "kodak.png"
    np.testing.assert_array_equal(look(kodak), np.asarray(Image.open(file)))


def test_the_first_picture_is_printed(page):
    page.emulate_media(media="print")
    assert find_shown(page.locator("#see-native-kodak")).startswith("Original")
    assert page.pdf().startswith(b"%PDF")
