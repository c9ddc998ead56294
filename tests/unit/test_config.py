"""The configuration is merged, checked in one sentence, and documented as it is."""

import math
import re
from pathlib import Path

import jsonschema
import made
import pydantic
import pytest
import yaml

from gblsr_repro import config as configuration
from gblsr_repro.config.__main__ import GENERATED
from gblsr_repro.errors import UserError


def test_overlays_merge_maps_and_replace_lists():
    base = {"a": {"x": 1, "y": [1, 2]}, "b": 0}
    assert configuration.merge(base, {"a": {"y": [3]}}) == {"a": {"x": 1, "y": [3]}, "b": 0}


def test_every_setting_stands_in_one_file_that_is_shipped(repository):
    """The paper's in the protocol, the others in config.yaml; none is filled in from the schema."""
    folder = repository / "config"
    protocol, own = map(
        configuration.read_yaml, (folder / "paper" / "protocol.yaml", folder / "config.yaml")
    )
    assert not protocol.keys() & own.keys()
    assert configuration.load() == protocol | own
    assert configuration.load_protocol() == protocol


def test_a_resolved_config_is_taken_alone(load, tmp_path):
    """Else what the run left out would come back."""
    path = tmp_path / "resolved.yaml"
    few = load({"native.data.evaluate": {"set14": None}, "released": {"liif": "a/{seed}"}})
    configuration.write_resolved(few, path)
    assert configuration.load([path]) == few
    path.write_text("native: {data: {evaluate: {set14: null}}}")
    assert [*configuration.load([path])["native"]["data"]["evaluate"]] == ["kodak", "urban100"]


def test_the_checkout_is_the_codes_own_from_inside_another(repository, tmp_path, monkeypatch):
    (tmp_path / "Snakefile").touch()
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "arms.tsv").touch()
    monkeypatch.chdir(tmp_path)
    assert configuration.find_repository_root() == repository


def test_settings_left_out_are_filled_in():
    config = configuration.load()
    del config["native"]["training"]["accumulate"], config["asr"]["shave_extra"], config["device"]
    config["cluster"]["gpu"] = {}
    config = configuration.validate(config)
    assert config["native"]["training"]["accumulate"] == 1
    assert config["asr"]["shave_extra"] == {}
    assert config["device"] == "auto"
    assert config["cluster"]["gpu"] == {}
    del config["native"]["training"]["steps"]
    with pytest.raises(UserError, match=r"native\.training\.steps is missing"):
        configuration.validate(config)


@pytest.mark.parametrize("instead", [{"gres": "gpu:h200:1"}, {}])
def test_an_overlay_asks_for_no_number_of_gpus(load, instead):
    """As docs/running.md says of sites that refuse `--gpus`, and where there are no GPUs."""
    assert load({"cluster.gpu": {"gpu": None} | instead})["cluster"]["gpu"] == instead


def test_a_results_folder_has_one_name(load):
    assert load({"results": "./results/mine/"})["results"] == "results/mine"


def test_a_whole_scale_stays_a_whole_number(load):
    """File names are made from it."""
    scales = load({"asr.scales": [2.0, 3, 2.5, 4]})["asr"]["scales"]
    assert list(map(str, scales)) == ["2", "3", "2.5", "4"]


@pytest.mark.parametrize("name", GENERATED)
def test_what_is_made_from_the_config_and_its_tables_is_up_to_date(repository, name):
    """`python -m gblsr_repro.config` renews them."""
    version = tuple(map(int, pydantic.VERSION.split(".")[:2]))
    if name.endswith(".json") and version < (2, 14):
        pytest.skip("older versions of pydantic write the same schema in other words")
    text = (repository / name).read_text(encoding="utf-8")
    assert GENERATED[name](text) == text


def test_editors_complete_and_check_every_file_of_settings(repository):
    """Its first line names the schema."""
    folder = repository / "config"
    for path in (*folder.glob("*.yaml"), folder / "paper" / "protocol.yaml"):
        first, *_ = path.read_text(encoding="utf-8").splitlines()
        schema = path.parent / first.removeprefix("# yaml-language-server: $schema=")
        jsonschema.validate(configuration.read_yaml(path), configuration.read_yaml(schema))


IMPOSSIBLE = [  # bounds of numbers: config/schema.json has them
    # what is no setting, or of another type
    ({"native.training.batch_sise": 4}, "did you mean 'batch_size'?"),
    ({"native.training.steps": 10.0}, "steps is 10.0: Input should be a valid integer"),
    ({"native.training.learning_rate": math.nan}, "learning_rate is nan: Input should be a finite"),
    # numbers that YAML 1.1 reads as text
    ({"native.training.learning_rate": "2e-3"}, "is '2e-3': YAML reads this as text; write the"),
    ({"native.training.steps": "many"}, "steps is 'many': Input should be a valid integer"),
    # names that become those of files, and what goes into command lines
    ({"native.data.evaluate": {"a b": "kodak"}}, "a b.[key] is 'a b': must be a name of letters"),
    ({"native.data.evaluate": {"train": "kodak"}}, "must not have the name of the training"),
    ({"mirror": "a\0b"}, "mirror is 'a\\x00b': must be text in one line"),
    ({"cluster.gpu": {"gpu_model": "`id`"}}, "gpu_model is '`id`': must be a name of letters"),
    # names that nothing has
    ({"native.arms": ["gblsr_scaler"]}, "native.arms names 'gblsr_scaler', which is not in"),
    ({"asr.timing.datasets": ["set41"]}, "did you mean 'set14'?"),
    ({"native.criteria.datasets_required": 4}, "is 4, but must be at most the number of columns"),
    # released weights
    ({"released": {"liif_rdm": "a.pth"}}, "released names 'liif_rdm', which is not in"),
    ({"released": {"liif_rdn": "a.pth"}}, "one run of liif_rdn, but seeds has 3; set it to the"),
    (
        {"released": {"liif_rdn": "{x}/{seed}"}},
        "'{x}/{seed}' has braces, which Snakemake takes for",
    ),
    ({"released": {"liif_rdn": "hf://a/b c"}}, "'hf://a/b c' is no address on the hub"),
    # sizes, ranges and scales
    ({"native.data.image_size": 250}, "250, but must be a multiple of native.model.patch, 32"),
    ({"native.model.hidden": 1}, "1: Input should be greater than or equal to 2"),  # LTE halves it
    ({"native.metrics.ssim_window": 10}, "native.metrics.ssim_window is 10: must be odd"),
    ({"native.model.bandwidth_range": [2.0, 0.25]}, "is [2.0, 0.25]: must rise"),
    ({"asr.trained_scales": [2, 5]}, "asr.trained_scales names 5, which is not in asr.scales; use"),
    ({"asr.scales": [1.2345678, 2, 3, 4]}, "must have at most six digits"),
    # images that are trained on and evaluated
    ({"native.data.train": ["kodak"]}, "names 'kodak', whose images are those of 'kodak' in nat"),
    ({"asr.train": ["div2k_valid"]}, "asr.evaluate names 'div2k_valid', whose images are those"),
]


@pytest.fixture
def load(repository, tmp_path):
    """Load an overlay of dotted settings over the config, from files as the command line does."""

    def loaded(settings, *between):
        path = tmp_path / "overlay.yaml"
        path.write_text(yaml.safe_dump(made.nested(settings)))
        return configuration.load([*(repository / "config" / name for name in between), path])

    return loaded


@pytest.mark.parametrize(("settings", "sentence"), IMPOSSIBLE)
def test_impossible_settings_are_one_sentence(load, settings, sentence):
    with pytest.raises(UserError, match=re.escape(sentence)) as caught:
        load(settings)
    assert str(caught.value).startswith("Config: ")
    assert "\n" not in str(caught.value)


def test_a_method_whose_recipe_is_missing(load):
    config = load({})
    config["asr"]["training"]["recipes"]["swinirr"] = config["asr"]["training"]["recipes"].pop(
        "swinir"
    )
    with pytest.raises(UserError, match=r"recipe of lte_swinir in .* names 'swinir', which"):
        configuration.validate(config)
    config["asr"]["methods"] = ["liif_rdn"]
    configuration.validate(config)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {
            "native.data.evaluate": {"set14": None, "urban100": None},
            "asr.timing.datasets": ["kodak"],
        },
        {"asr.evaluate": {"mine": "kodak"}, "asr.shave_extra": {"mine": 6}},
    ],
)
@pytest.mark.parametrize("between", [[], ["demo.yaml"], ["short.yaml"], ["mirror.yaml"]])
def test_possible_settings_pass(load, settings, between):
    config = load(settings, *between)
    config = configuration.validate(config)  # as a job does with the resolved file
    for section in (config["native"]["data"], config["asr"]):  # null leaves out a column
        assert None not in section["evaluate"].values()


def test_mistakes_in_tables_name_the_line(tmp_path):
    path = tmp_path / "items.tsv"
    rows = ["\t".join(configuration.Item.model_fields)]
    cells = ["a", "made", "", "figure", "native", "Extra", "", "", "no", "", "", "", "A", ""]
    rows += ["\t".join(cells)] * 2
    for lines, sentence in (
        (rows, "line 3: 'a' has a row above"),
        ([rows[0], "a\tfigure"], "line 2: the row has 2 cells and must have 14"),
        (["a\tfigure"], "the first line must name the columns"),
    ):
        path.write_text("\n".join(lines) + "\n")
        with pytest.raises(UserError, match=sentence):
            configuration.read_table(path, configuration.Item, "item")


def test_jobs_read_the_settings_that_they_were_planned_with(tmp_path, monkeypatch):
    """And planning with others in the same folder writes nothing and changes nothing."""
    plans = []
    for steps in (150, 30):
        config = configuration.merge(
            configuration.load(), {"native": {"training": {"steps": steps}}}
        )
        path, environment = configuration.plan_settings(config, str(tmp_path))
        for name, text in environment.items():
            monkeypatch.setenv(name, text)
        plans.append((path, config))
    assert not [*tmp_path.iterdir()]
    for path, config in plans:
        assert configuration.load([path]) == config
        assert configuration.load([path]) == config  # now from the file


def test_settings_that_are_not_those_of_the_plan_are_refused(tmp_path, monkeypatch):
    path, environment = configuration.plan_settings(configuration.load(), str(tmp_path))
    with pytest.raises(UserError, match=r"settings were changed after this job was planned; start"):
        configuration.load([path])
    ((name, text),) = environment.items()
    monkeypatch.setenv(name, text)
    configuration.load([path])
    Path(path).write_text(text.replace("2000", "20"), encoding="utf-8")
    with pytest.raises(UserError, match=r"was damaged or changed after it was written; delete it"):
        configuration.load([path])


def test_settings_of_one_s_own_may_lie_in_a_folder_of_that_name(tmp_path):
    path = tmp_path / "settings" / "mine.json"
    path.parent.mkdir()
    path.write_text('{"seeds": [5]}')
    assert configuration.load([path])["seeds"] == [5]


def test_items_about_what_the_config_leaves_out_are_not_made():
    every = configuration.load()
    assert configuration.list_items(every).keys() == configuration.read_items().keys()
    for few, gone in (
        ({"native": {"arms": ["gblsr_scalar", "gblsr_fixed", "gblsr_full", "lte"]}},
         {"cov_hist", "variance_decomp"}),
        ({"native": {"arms": ["liif"]}},
         {"cov_hist", "variance_decomp", "locality", "lse", "logspace_metrics",
          "logspace_loctests"}),
        ({"native": {"arms": ["gblsr_full_linear"]}},  # which the main tables do not have
         {"frontier", "main_kodak", "main_set14", "main_urban100", "winners", "gates",
          "per_dataset", "fairness", "logspace_metrics", "logspace_loctests", "locality", "infcost",
          "qualitative", "lse", "measured_vs_published"}),
        ({"asr": {"methods": ["gblsr_asr"], "scales": [2, 3, 4]}},
         {"asr_pareto_main", "asr_pareto_appendix", "asr_quality_x6_x8_appendix"}),
        ({"asr": {"timing": {"datasets": ["set14"]}}}, {"asr_quality_latency_x4"}),
        ({"latency": {"clocks": ["fast"]}}, {"infcost", "asr_quality_latency_x4"}),
    ):  # fmt: skip
        left = configuration.list_items(configuration.merge(every, few))
        assert configuration.read_items().keys() - left.keys() == gone
