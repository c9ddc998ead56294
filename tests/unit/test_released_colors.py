"""In which range a network takes colors is measured, and asked for where that tells nothing."""

import made
import published_weights as published
import pytest
import torch

from gblsr_repro import config as configuration
from gblsr_repro.data.fetch import fetch_dataset
from gblsr_repro.errors import UserError
from gblsr_repro.models.asr.model import ASRModel
from gblsr_repro.released.importing import import_run
from gblsr_repro.runs import load_run

SETS = {
    "evaluate": {"set5": "demo_set5", **dict.fromkeys(("set14", "b100", "urban100", "div2kval"))},
    "shave_extra": {"div2kval": 0},
    "timing": {"datasets": ["set5"]},
}
ROW = configuration.find_row("gblsr_asr")


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    small = configuration.merge(made.SMALL, {"asr": SETS})
    loaded = configuration.merge(configuration.load(), small)
    loaded["resources"] = str(tmp_path_factory.mktemp("resources"))
    loaded = configuration.validate(loaded)
    fetch_dataset("demo_set5", loaded)
    return loaded


@pytest.mark.parametrize(
    ("gain", "folded", "colors"), [(1.0, True, "unit"), (0.8, False, "normalized")]
)
def test_the_range_is_measured_and_both_figures_kept(gain, folded, colors, settings, tmp_path):
    path = published.write_safetensors(tmp_path / "got", published.passing(settings, gain, folded))
    named = settings | {"released": {"gblsr_asr": str(path)}}
    import_run(str(path), ROW, 0, tmp_path / "run", named)
    record = made.record(tmp_path / "run" / "run.json")
    assert record["colors"] == colors
    choice = record["colors_by"]
    assert choice["by"] == "measured"
    figures = choice["measured"]["psnr_y"]
    assert set(figures) == {"normalized", "unit"}
    other = next(name for name in figures if name != colors)
    assert figures[colors] > figures[other] + 1
    assert figures[colors] > 20
    model = load_run(tmp_path / "run", ASRModel, named)
    assert model.colors == colors
    grey = torch.full((1, 3, 12, 12), 0.25)
    with torch.inference_mode():
        image = model.render(grey, 24, 24, 10**6)
    wanted = {"unit": 0.25, "normalized": 0.8 * (0.25 - 0.5) + 0.5}[colors]
    assert image.mean().item() == pytest.approx(wanted, abs=1e-5)


def test_where_both_are_near_it_asks(settings, tmp_path):
    """What shows its input as it is does so in any range."""
    path = published.write_safetensors(tmp_path / "got", published.passing(settings, 1.0, False))
    named = settings | {"released": {"gblsr_asr": str(path)}}
    with pytest.raises(
        UserError, match=r"does not show in which range .* --colors normalized or --colors unit"
    ):
        import_run(str(path), ROW, 0, tmp_path / "run", named)
    assert not (tmp_path / "run").exists()
    import_run(str(path), ROW, 0, tmp_path / "run", named, "unit")
    record = made.record(tmp_path / "run" / "run.json")
    assert record["colors_by"] == {"range": "unit", "by": "asked for", "measured": {}}


def test_colors_that_are_known_are_not_asked_for(settings, tmp_path):
    for name, wrong in (("liif_rdn", "unit"), ("gblsr_scalar", "normalized")):
        weights = published.weights(name, settings)
        path = published.write_checkpoint(tmp_path / name / "model.pth", name, weights.theirs)
        with pytest.raises(UserError, match="leave --colors out"):
            import_run(
                str(path), configuration.find_row(name), 0, tmp_path / "run", settings, wrong
            )
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("colors", ["unit", "normalized"])
def test_every_way_to_ask_a_model_takes_the_same_range(colors, settings, tmp_path):
    """Whole images, scattered queries and training samples; and what a published module gives."""
    weights = published.weights("gblsr_asr", settings)
    path = published.write_safetensors(tmp_path / "got", weights.theirs)
    import_run(str(path), ROW, 0, tmp_path / "run", settings, colors)
    model = load_run(tmp_path / "run", ASRModel)
    images = torch.from_numpy(made.noise(1, 3, 9, 8)).float() / 255
    y, x = torch.meshgrid(torch.arange(27), torch.arange(24), indexing="ij")
    pixels = torch.stack((y, x), dim=-1).reshape(1, -1, 2)
    sizes = torch.tensor([[27, 24]])
    coordinates = (2 * pixels.double() + 1) / sizes[:, None] - 1
    cell = (2.0 / sizes[:, None]).expand_as(coordinates)
    with torch.inference_mode():
        whole = model.render(images, 27, 24, 10**6).flatten(2).mT
        features = model.encode(images)
        queried = model.query(features, coordinates, cell, images)
        sampled = model(images, sizes, pixels)
    torch.testing.assert_close(queried, whole, atol=1e-5, rtol=0)
    torch.testing.assert_close(sampled, whole, atol=1e-5, rtol=0)
    # The same network asked by hand, as its values leave the decoder.
    given = images if colors == "unit" else images * 2 - 1
    with torch.inference_mode():
        values = model.decoder.query(model.encoder(given), coordinates, cell)
    by_hand = values if colors == "unit" else values / 2 + 0.5
    torch.testing.assert_close(queried, by_hand.float(), atol=1e-5, rtol=0)


def test_without_the_images_it_names_the_choice(settings, tmp_path):
    path = published.write_safetensors(tmp_path / "got", published.passing(settings, 1.0, False))
    empty = settings | {"resources": str(tmp_path / "resources"), "results": str(tmp_path)}
    words = (
        r"run `gblsr-repro fetch demo_set5`\); .* say it with --colors normalized or --colors unit"
    )
    with pytest.raises(UserError, match=words):
        import_run(str(path), ROW, 0, tmp_path / "run", empty)
    assert not (tmp_path / "run").exists()
