"""Merging, checking and documenting the configuration."""

import json
import re

import pytest
import yaml

from gblsr_repro import config as configuration
from gblsr_repro.errors import UserError


def test_overlays_merge_maps_and_replace_lists():
    base = {"a": {"x": 1, "y": [1, 2]}, "b": 0}
    assert configuration.merge(base, {"a": {"y": [3]}}) == {"a": {"x": 1, "y": [3]}, "b": 0}


@pytest.mark.parametrize("name", ["demo", "mirror", "short"])
def test_shipped_overlays_are_valid(repository, name):
    folder = repository / "config"
    resolved = configuration.load([folder / "config.yaml", folder / f"{name}.yaml"])
    configuration.selected_arms(resolved)
    configuration.selected_methods(resolved)


def test_schema_knows_exactly_the_settings_of_the_config(repository):
    """Each map of the config is closed: the schema lists its keys, no more and no less."""
    config = configuration.load([repository / "config" / "config.yaml"])

    def compare(value, schema, place):
        if isinstance(value, dict) and "properties" in schema and schema.get("required"):
            assert set(schema["properties"]) == set(value), place
            assert schema["additionalProperties"] is False, place
            for key, inner in value.items():
                compare(inner, schema["properties"][key], f"{place}.{key}")

    compare(config, configuration.schema(), "config")


def test_every_setting_is_documented(repository):
    config = yaml.safe_load((repository / "config" / "config.yaml").read_text())
    text = (repository / "config" / "README.md").read_text()
    documented = set(re.findall(r"`([a-z_.]+)`", text.split("## Settings")[1]))
    for key, value in config.items():
        if isinstance(value, dict) and key not in documented:
            for inner in value:
                assert f"{key}.{inner}" in documented or inner in documented, f"{key}.{inner}"
        else:
            assert key in documented, key


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("native", "training", "batch_sise", 4), "did you mean 'batch_size'?"),
        (("native", "model", "bandwidth_range", [1.0]), "must have 2 or more entries"),
        (("native", "metrics", "edge_percentile", 1.5), "must be at most 1"),
        (("asr", "scales", "x", None), "asr.scales"),
        (("cluster", "gpu", "gpus", 1), "unknown setting 'gpus' at cluster.gpu"),
        (("results", "my results"), "results is 'my results', but must be a name without spaces"),
        (("results", "x; rm -r y"), "results is 'x; rm -r y', but must be a name without spaces"),
        (("results", ""), "results is '', but must be a name without spaces"),
        (("native", "data", "evaluate", "a b", "kodak"), "'a b', but must be a name without"),
    ],
)
def test_mistakes_are_one_sentence(repository, change, sentence):
    config = configuration.load([repository / "config" / "config.yaml"])
    *path, key, value = change
    if path == ["asr", "scales"]:
        config["asr"]["scales"] = "all"
    else:
        target = config
        for step in path:
            target = target[step]
        target[key] = value
    with pytest.raises(UserError, match=re.escape(sentence)):
        configuration.validate(config)


def test_missing_setting_is_named(repository):
    config = configuration.load([repository / "config" / "config.yaml"])
    del config["native"]["training"]["steps"]
    with pytest.raises(UserError, match=r"native\.training lacks the setting 'steps'"):
        configuration.validate(config)


def test_yaml_mistake_names_line_and_column(tmp_path):
    path = tmp_path / "broken.yaml"
    path.write_text("native:\n  data: [1, 2\n")
    with pytest.raises(UserError, match=r"broken.yaml cannot be read at line \d+, column \d+"):
        configuration.load([path])


def test_table_mistakes_name_the_line(tmp_path):
    header = "\t".join(configuration.Item.__dataclass_fields__)
    path = tmp_path / "items.tsv"
    path.write_text(
        header + "\na\tfigure\tnative\tFigure 1\t\tno\tone\na\tfigure\tnative\tF\t\tno\ttwo\n"
    )
    with pytest.raises(UserError, match=r"line 3: 'a' is there twice"):
        configuration.read_table(path, configuration.Item, "item")
    path.write_text(header + "\na\tfigure\n")
    with pytest.raises(UserError, match=r"line 2: needs 7 columns"):
        configuration.read_table(path, configuration.Item, "item")


def test_resolved_config_is_left_alone_when_unchanged(tmp_path, repository):
    config = configuration.load([repository / "config" / "config.yaml"])
    path = tmp_path / "config.yaml"
    configuration.write_resolved(config, path)
    before = path.stat().st_mtime_ns
    configuration.write_resolved(json.loads(json.dumps(config)), path)
    assert path.stat().st_mtime_ns == before
    assert configuration.load([path]) == config


def test_an_overlay_leaves_out_a_column_with_null(repository, tmp_path):
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("asr: {evaluate: {div2kval: null}}")
    config = configuration.load([repository / "config" / "config.yaml", overlay])
    assert list(config["asr"]["evaluate"]) == ["set5", "set14", "b100", "urban100"]
