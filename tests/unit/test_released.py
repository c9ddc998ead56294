"""Weights under published names come in as runs that show the same images, to the bit."""

import json
from pathlib import Path

import made
import numpy as np
import published_weights as published
import pytest
import torch

from gblsr_repro import config as configuration
from gblsr_repro.cli import main
from gblsr_repro.errors import UserError
from gblsr_repro.files import compute_sha256
from gblsr_repro.models.asr.model import ASRModel
from gblsr_repro.models.base import count_parameters
from gblsr_repro.models.native import NativeModel
from gblsr_repro.released import known
from gblsr_repro.released.importing import import_run
from gblsr_repro.released.known import KnownFile
from gblsr_repro.runs import load_matching_run, load_run


def row(name):
    return configuration.find_row(name)


def released(folder, name, settings):
    """Write published weights of a row; return their file."""
    return published.write_safetensors(folder, published.weights(name, settings).theirs)


def brought_in(folder, name, path, settings, seed=0, colors=None):
    """Import weights; return the folder of the run and the config that names them."""
    settings = settings | {"released": {name: str(path)}}
    import_run(str(path), row(name), seed, folder, settings, colors)
    return folder, settings


def shown(model, name):
    """What a model makes of noise: native at a size that is padded, else at two scales."""
    images = torch.from_numpy(made.noise(1, 3, 19, 22)).float() / 255
    with torch.inference_mode():
        if name in published.NATIVE:
            return [model(images)]
        return [model.render(images, 19 * 2, 22 * 2, 10**6), model.render(images, 51, 60, 10**6)]


FORMATS = {
    "safetensors": lambda folder, name, tensors: published.write_safetensors(folder, tensors),
    "checkpoint": lambda folder, name, tensors: published.write_checkpoint(
        folder / "model.pth", name, tensors
    ),
    "older checkpoint": lambda folder, name, tensors: published.write_checkpoint(
        folder / "model.pt", name, tensors, zipped=False
    ),
}


FILES = [(name, "checkpoint") for name in published.ROWS]
FILES += [(name, form) for name in ("gblsr_full", "gblsr_asr", "lte_rdn") for form in FORMATS]


@pytest.mark.parametrize(("name", "form"), dict.fromkeys(FILES))
def test_published_weights_show_what_they_show_under_our_names(name, form, settings, tmp_path):
    weights = published.weights(name, settings)
    path = FORMATS[form](tmp_path / "released", name, weights.theirs)
    colors = "normalized" if name in published.FAMILY else None
    run, named = brought_in(tmp_path / "run", name, path.parent, settings, colors=colors)
    model = made.model(name, settings)
    model.load_state_dict(weights.ours)
    kind = NativeModel if name in published.NATIVE else ASRModel
    loaded, record = load_matching_run(run, kind, row(name), 0, named, torch.device("cpu"))
    for here, there in zip(shown(loaded, name), shown(model.eval(), name), strict=True):
        assert torch.equal(here, there)
        assert there.std() > 1e-3
    assert record["parameters"] == count_parameters(model)


def test_a_record_says_where_weights_are_from(settings, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    path = released(tmp_path / "released", "gblsr_asr_nole", settings)
    (path.parent / "._model.safetensors").touch()  # as macOS leaves it beside a file
    (path.parent / "logs.bin").mkdir()
    run, _ = brought_in(tmp_path / "run", "gblsr_asr_nole", "~/released", settings)
    record = made.record(run / "run.json")
    told = record["released"]
    assert (told["by"], told["license"]) == ("others", None)
    assert told["address"] == "~/released"
    assert told["file"] == "model.safetensors"
    assert told["sha256"] == compute_sha256(path)
    assert not {"steps", "wall_seconds", "device", "steps_per_second", "finished"} & set(record)
    (row_of_log,) = made.rows(run / "log.csv")
    raw = published.weights("gblsr_asr_nole", settings).ours["decoder.raw_bandwidth"]
    bandwidth = torch.nn.functional.softplus(raw).item()
    assert float(row_of_log["bandwidth"]) == pytest.approx(bandwidth, rel=1e-6)
    assert row_of_log["loss"] == ""


def wrap(content, prefix="", *sections):
    """Put a prefix before all names, and the whole into sections of a checkpoint."""
    content = {prefix + name: values for name, values in content.items()}
    for section in sections:
        content = {section: content, "best_psnr": np.float64(31.2), "step": np.int64(7)}
    return content


@pytest.mark.parametrize(
    "wrapping",
    [
        ("module.",),
        ("model.", "state_dict"),
        ("params_ema.", "params_ema"),
        ("_orig_mod.", "sd", "model"),
    ],
    ids=str,
)
def test_what_wraps_published_weights_is_taken_off(wrapping, settings, tmp_path):
    """Names get a prefix by torch's wrappers; numpy's numbers beside them run no code."""
    weights = published.weights("gblsr_scalar", settings)
    path = tmp_path / "model.pt"
    torch.save(wrap(weights.theirs, *wrapping), path)
    run, named = brought_in(tmp_path / "run", "gblsr_scalar", path, settings)
    loaded = load_run(run, NativeModel, named).state_dict()
    assert all(torch.equal(values, loaded[name]) for name, values in weights.ours.items())


def test_an_imported_run_is_not_replaced_by_another_unasked(settings, tmp_path, capsys):
    paths = {
        name: released(tmp_path / name, name, settings) for name in ("gblsr_scalar", "gblsr_fixed")
    }
    run, _ = brought_in(tmp_path / "run", "gblsr_scalar", paths["gblsr_scalar"], settings)
    before = (run / "run.json").read_bytes()
    with pytest.raises(UserError, match="holds gblsr_scalar, seed 0, which an import would"):
        brought_in(run, "gblsr_fixed", paths["gblsr_fixed"], settings)
    with pytest.raises(UserError, match="holds gblsr_scalar, seed 0, which an import would"):
        brought_in(run, "gblsr_scalar", paths["gblsr_scalar"], settings, seed=1)
    assert (run / "run.json").read_bytes() == before
    brought_in(run, "gblsr_scalar", paths["gblsr_scalar"], settings)
    words = ["import", str(paths["gblsr_fixed"]), "--as", "gblsr_fixed", "--seed", "0"]
    config_file = tmp_path / "config.json"
    config_file.write_text(json.dumps(settings))
    words += ["--output", str(run), "--config", str(config_file)]
    assert main(words) == 2
    assert "with --overwrite" in capsys.readouterr().err
    assert main([*words, "--overwrite"]) == 0
    assert made.record(run / "run.json")["arm"] == "gblsr_fixed"


# --- files that are known, and others -------------------------------------------------------------


@pytest.mark.parametrize("listed", ["checksum", "name", "address", "another checksum"])
def test_a_listed_file_needs_no_further_words(listed, settings, tmp_path, monkeypatch):
    path = released(tmp_path, "gblsr_asr_nf48", settings)
    sha256 = {"checksum": compute_sha256(path), "another checksum": "0" * 64}.get(listed)
    address = {"checksum": "elsewhere", "address": str(path)}.get(listed, path.name)
    facts = {"row": "gblsr_asr_nf48", "colors": "unit", "license": "MIT", "by": "somebody"}
    rows = [KnownFile(address="other.pth", **(facts | {"colors": "normalized"}))]
    rows += [KnownFile(address=address, sha256=sha256, **facts)]
    monkeypatch.setattr(known, "read_known_files", lambda: rows)
    if listed == "another checksum":
        with pytest.raises(UserError, match=r"is not the file that config/released.tsv has as mod"):
            import_run(str(path), None, 0, tmp_path / "run", settings)
        return
    import_run(str(path), None, 0, tmp_path / "run", settings)
    record = made.record(tmp_path / "run" / "run.json")
    assert (record["method"], record["colors"]) == ("gblsr_asr_nf48", "unit")
    assert (record["released"]["by"], record["released"]["license"]) == ("somebody", "MIT")


def test_the_shipped_overlay_names_files_that_are_listed(repository):
    rows = known.read_known_files()
    assert all(row(each.row) for each in rows)
    shipped = configuration.read_yaml(repository / "config" / "released.yaml")["released"]
    assert shipped.items() <= {each.row: each.address for each in rows}.items()
    at_a_commit = rows[0].address.replace("/gblsr/", "/gblsr@d196260/")
    assert known.find_known_file(at_a_commit, Path("model.safetensors"), "1" * 64) == rows[0]


def test_an_unknown_file_needs_a_row_and_colors_where_its_row_has_none(settings, tmp_path):
    path = released(tmp_path / "nf48", "gblsr_asr_nf48", settings)
    with pytest.raises(UserError, match=r"none of the files in .*; name the row"):
        import_run(str(path), None, 0, tmp_path / "run", settings)
    with pytest.raises(UserError, match="say --colors unit or --colors normalized, or give it a"):
        import_run(str(path), row("gblsr_asr_nf48"), 0, tmp_path / "run", settings)
    assert not (tmp_path / "run").exists()
    for name, asked, colors in (
        ("gblsr_asr_nf48", "normalized", "normalized"),
        ("gblsr_asr", None, "unit"),
        ("gblsr_asr", "normalized", "normalized"),
        ("liif_rdn", None, "normalized"),
    ):
        path = released(tmp_path / name, name, settings)
        run, named = brought_in(tmp_path / "run" / name, name, path, settings, colors=asked)
        assert load_run(run, ASRModel, named).colors == colors
    path = released(tmp_path / "arm", "gblsr_scalar", settings)
    with (tmp_path / "huge.pth").open("wb") as huge:
        huge.truncate(2_000_000_001)
    with pytest.raises(UserError, match="has 2,000,000,001 bytes, more than the 2,000,000,000"):
        import_run(str(tmp_path / "huge.pth"), None, 0, tmp_path / "huge", settings)
    with pytest.raises(UserError, match="leave --colors out"):
        brought_in(tmp_path / "arm_run", "gblsr_scalar", path, settings, colors="unit")


@pytest.mark.parametrize("colors", ["unit", "normalized"])
def test_whole_images_and_queries_take_the_same_range(colors, settings, tmp_path):
    """That which the published module takes and gives."""
    path = released(tmp_path / "got", "gblsr_asr", settings)
    import_run(str(path), row("gblsr_asr"), 0, tmp_path / "run", settings, colors)
    model = load_run(tmp_path / "run", ASRModel)
    images = torch.from_numpy(made.noise(1, 3, 9, 8)).float() / 255
    coordinates = made.centers(27, 24)[None]
    cell = torch.tensor([2 / 27, 2 / 24]).expand_as(coordinates)
    given = images if colors == "unit" else images * 2 - 1
    with torch.inference_mode():
        values = model.decoder.query(model.encoder(given), coordinates, cell)
        by_hand = (values if colors == "unit" else values / 2 + 0.5).float()
        whole = model.render(images, 27, 24, 10**6).flatten(2).mT
        queried = model.query(model.encode(images), coordinates, cell, images)
    torch.testing.assert_close(whole, by_hand, atol=1e-5, rtol=0)
    torch.testing.assert_close(queried, by_hand, atol=1e-5, rtol=0)


# --- trained and imported are told apart ----------------------------------------------------------


def test_an_imported_run_is_not_taken_for_a_trained_one_nor_the_reverse(settings, tmp_path):
    path = released(tmp_path / "released", "gblsr_scalar", settings)
    run, named = brought_in(tmp_path / "run", "gblsr_scalar", path, settings)
    load_run(run, NativeModel, named)
    load_run(run, NativeModel)  # as the image commands do, without a config
    with pytest.raises(UserError, match=r"imported with released = .*, but .* has None; train it"):
        load_run(run, NativeModel, settings)
    other = settings | {"released": {"gblsr_scalar": "elsewhere"}}
    with pytest.raises(UserError, match=r"imported with released = .*elsewhere.*; import it again"):
        load_run(run, NativeModel, other)
    for number, config in enumerate((settings, other)):  # by hand, whatever the config names
        import_run(str(path), row("gblsr_scalar"), 0, tmp_path / f"hand{number}", config)
        load_run(tmp_path / f"hand{number}", NativeModel, named)
    trained = made.run(tmp_path / "trained", "gblsr_scalar", settings)
    load_run(trained, NativeModel, settings)
    with pytest.raises(UserError, match=r"trained with released = None, but .*; import it again"):
        load_run(trained, NativeModel, named)
    with pytest.raises(UserError, match="holds a trained run, which an import would replace"):
        import_run(str(path), row("gblsr_scalar"), 0, trained, settings)
    load_run(trained, NativeModel, settings)


def test_a_weights_file_alone_still_says_what_it_is(settings, tmp_path):
    path = released(tmp_path / "released", "gblsr_asr", settings)
    run, _ = brought_in(tmp_path / "run", "gblsr_asr", path, settings, colors="unit")
    (run / "run.json").unlink()
    assert load_run(run / "weights.safetensors", ASRModel).colors == "unit"
    with pytest.raises(UserError, match="was imported with released = "):
        load_run(run / "weights.safetensors", ASRModel, settings)


# --- runs of this project -------------------------------------------------------------------------


def older(folder, name, settings, **record):
    """A run whose record and code are of another commit."""
    spread = 0.0 if name == "gblsr_fixed" else 0.1  # its head is never trained
    run = made.run(folder, name, settings, seed=3, spread=spread, told=False)
    content = made.record(run / "run.json")
    content["identity"]["version"] = 0
    if name == "wire":  # as before its options were left out
        content["identity"]["arms.options"] = "coordinates=global features=bilinear"
    content["git"] = {"commit": "1" * 40, "modified": False}
    (run / "run.json").write_text(json.dumps(content | record))
    return run


@pytest.mark.parametrize("name", ["gblsr_asr_nf48", "wire", "gblsr_full"])
def test_a_run_of_an_older_commit_comes_in_with_what_it_says(name, settings, tmp_path):
    run = older(tmp_path / "old", name, settings)
    kind = NativeModel if name in configuration.read_arms() else ASRModel
    with pytest.raises(UserError, match="trained by another version of the code"):
        load_run(run, kind, settings)
    imported, named = brought_in(tmp_path / "run", name, run, settings, seed=3)
    loaded, record = load_matching_run(imported, kind, row(name), 3, named, torch.device("cpu"))
    before = load_run(run, kind).state_dict()
    assert all(torch.equal(v, before[k]) for k, v in loaded.state_dict().items())
    assert record["released"]["by"] == "this project"
    assert record["released"]["git"]["commit"] == "1" * 40


def test_what_an_older_run_says_otherwise_is_one_sentence(settings, tmp_path):
    run = older(tmp_path / "old", "gblsr_fixed", settings)
    changed = configuration.merge(settings, {"native": {"model": {"fixed_bandwidth": 1.5}}})
    with pytest.raises(UserError, match=r"says native.model.fixed_bandwidth = 1.125, but .* 1.5;"):
        brought_in(tmp_path / "a", "gblsr_fixed", run, changed, seed=3)
    with pytest.raises(UserError, match="says seed = 3, not 0; import it with --seed 3"):
        brought_in(tmp_path / "a", "gblsr_fixed", run, settings)
    lte = older(tmp_path / "lte", "lte_rdn", settings)
    wider = configuration.merge(settings, {"asr": {"training": {"scale_range": [1, 6]}}})
    with pytest.raises(UserError, match=r"says asr.training.scale_range = \[1.0, 4.0\], but"):
        brought_in(tmp_path / "a", "lte_rdn", lte, wider, seed=3)
    full = older(tmp_path / "full", "gblsr_full", settings)
    with pytest.raises(UserError, match=r"arms.decoder = .*Full.* gblsr_full_linear .*FullLinear"):
        brought_in(tmp_path / "a", "gblsr_full_linear", full, settings, seed=3)
    assert not (tmp_path / "a").exists()


def test_an_imported_run_is_imported_again_with_all_that_was_said_of_it(settings, tmp_path):
    """So a workflow takes one whose colors somebody chose by hand."""
    path = released(tmp_path / "released", "gblsr_asr", settings)
    first, _ = brought_in(tmp_path / "first", "gblsr_asr", path, settings, colors="unit")
    second, named = brought_in(tmp_path / "second", "gblsr_asr", first, settings)
    assert load_run(second, ASRModel, named).colors == "unit"
    told = [made.record(run / "run.json")["released"] for run in (first, second)]
    assert told[1] == told[0] | {"address": str(first)}
