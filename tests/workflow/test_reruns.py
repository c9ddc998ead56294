"""What is made again when a setting, a row or the code changes, and what is not."""

import copy
from dataclasses import fields, replace

import pytest

from gblsr_repro import config
from gblsr_repro.config import JOBS, code_of, settings_of
from gblsr_repro.config.model import leaves

BASE = config.load()
ARMS, METHODS = config.arms(), config.methods()
ROWS = {
    "fetch": config.datasets()["kodak"],
    "native standardize of train": "train",
    "native standardize of kodak": "kodak",
    "asr bicubic": "set5",
    **{f"{job} of {m}": METHODS[m] for m in ("gblsr_asr", "lte_swinir")
       for job in ("asr train", "asr evaluate", "asr latency")},
    **{f"native {verb}": ARMS["gblsr_full"] for verb in ("train", "evaluate", "fields", "latency")},
}  # fmt: skip
OTHERS = {job for job in JOBS if not any(name.partition(" of ")[0] == job for name in ROWS)}
REPORTS = {"aggregate", "readings", "tables", "figures", "claims", "report"}


def followed(settings, rows=ROWS):
    """What every kind of job follows from, under some settings."""
    jobs = {name: (name.partition(" of ")[0], row) for name, row in rows.items()}
    jobs |= {name: (name, None) for name in OTHERS}
    return {name: settings_of(job, row, settings) for name, (job, row) in jobs.items()}


def changed(value):
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, list):
        return value[:-1] or ["another"]
    if isinstance(value, dict):
        first = next(iter(value), "kodak")
        return value | {first: changed(value.get(first, 0))}
    if isinstance(value, int | float):
        return 2 * value + 1
    return f"another {value}"


def rerun_by(setting, value=None):
    """The kinds of job that a change of one setting asks for again."""
    settings = copy.deepcopy(BASE)
    before = followed(settings)
    *path, last = setting.split(".")
    section = settings
    for key in path:
        section = section[key]
    section[last] = changed(section.get(last)) if value is None else section[last] | value
    after = followed(settings)
    return {name for name in before if before[name] != after[name]}


NATIVE_RUN = {"native train", "native evaluate", "native fields"}
RDN = {"asr train of gblsr_asr", "asr evaluate of gblsr_asr"}
SWINIR = {"asr train of lte_swinir", "asr evaluate of lte_swinir"}
SCORED = {"asr evaluate of gblsr_asr", "asr evaluate of lte_swinir"}
TIMED = {"asr latency of gblsr_asr", "asr latency of lte_swinir"}
ARRAY = {"native standardize of train", *NATIVE_RUN}
NOTHING = set()

# Of the longest part of a setting's name that is here; reports follow from all that is reported.
RERUN = {
    "": NOTHING,
    "resources": {"fetch"},
    "mirror": {"fetch"},
    "accept_partial": {"fetch"},
    "lpips_backbone": {"native evaluate"},
    "native.data": ARRAY,
    "native.data.image_size": {"native standardize of kodak", *ARRAY},
    "native.data.evaluate": {
        "native standardize of kodak",
        "native evaluate",
        "native exemplars",
        "native latency",
    },
    "native.data.exemplars": {"native evaluate", "native exemplars"},
    "native.model": {"budget", "native latency", *NATIVE_RUN},
    "native.model.patch": {"budget", "native latency", "native regions", *NATIVE_RUN},
    "native.training": NATIVE_RUN,
    "native.training.pixels": NOTHING,  # of another arm
    "native.metrics": {"native regions", "native evaluate", "native fields"},
    "latency": {"native latency", *TIMED},
    "diagnostics.images": {"native evaluate", "native fields"},
    "asr.train": {"asr standardize", *RDN, *SWINIR},
    "asr.evaluate": {"asr bicubic", *SCORED},  # of set5, which is not timed
    "asr.scales": {"asr bicubic", *SCORED},
    "asr.downsampling": {"asr bicubic", *SCORED, *TIMED},
    "asr.shave_extra": SCORED,  # of a column other than set5
    "asr.tile_pixels": TIMED,
    "asr.model": {*RDN, *SWINIR, *TIMED},
    "asr.model.rdn_features": {*RDN, *SWINIR, *TIMED} - SWINIR - {"asr latency of lte_swinir"},
    "asr.training": {*RDN, *SWINIR},
    "asr.training.scale_range": {*RDN, *SWINIR, *TIMED},
    "asr.training.recipes": RDN,  # of rdn
    "asr.timing": TIMED,
}
for part in ("blocks", "layers", "growth"):
    RERUN[f"asr.model.rdn_{part}"] = RERUN["asr.model.rdn_features"]
for part in ("embed", "depths", "heads", "window", "mlp_ratio", "drop_path"):
    RERUN[f"asr.model.swinir_{part}"] = {*SWINIR, "asr latency of lte_swinir"}
WATCHED = ("log_every", "checkpoint_every", "validate_every", "validation_images",
           "validation_scale")  # fmt: skip
REPORTED = ("preset", "seeds", "native", "asr", "latency", "diagnostics", "claims")


@pytest.mark.parametrize("setting", list(leaves()))
def test_a_setting(setting):
    parts = setting.split(".")
    longest = next(n for i in range(len(parts), -1, -1) if (n := ".".join(parts[:i])) in RERUN)
    expected = RERUN[longest] | (REPORTS if parts[0] in REPORTED else NOTHING)
    if parts[-1] in WATCHED and parts[1:2] == ["training"]:
        expected = NOTHING
    assert rerun_by(setting) == expected


def test_one_more_of_a_kind_retrains_nothing():
    """One more evaluation set or exemplar, a setting of another arm."""
    measured = {"native evaluate", "native exemplars", *REPORTS}
    assert rerun_by("native.data.evaluate", {"mine": "kodak"}) == {"native latency", *measured}
    assert rerun_by("native.data.exemplars", {"mine": "photo"}) == measured
    assert rerun_by("native.training.pixels", {"liif": 9}) == REPORTS
    assert rerun_by("native.training.pixels", {"gblsr_full": 9}) == {*NATIVE_RUN, *REPORTS}
    assert rerun_by("asr.evaluate", {"mine": "kodak"}) == {*SCORED, *REPORTS}
    assert rerun_by("asr.evaluate", {"set14": "kodak"}) == {*SCORED, *TIMED, *REPORTS}


DEFINING = {
    ("Arm", "decoder"): {"native train", "native evaluate", "native fields", "native latency"},
    ("Method", "encoder"): {"asr train", "asr evaluate", "asr latency"},
    ("Method", "decoder"): {"asr train", "asr evaluate", "asr latency"},
    ("Method", "options"): {"asr train", "asr evaluate", "asr latency"},
    ("Method", "recipe"): {"asr train", "asr evaluate", "asr latency"},
    ("Dataset", "kind"): {"fetch"},
    ("Dataset", "files"): {"fetch"},
    ("Dataset", "images"): {"fetch"},
    ("Dataset", "checksum"): {"fetch"},
}
DEFINING["Arm", "options"] = DEFINING["Arm", "decoder"]


@pytest.mark.parametrize(
    ("table", "name", "column"),
    [
        (table, name, field.name)
        for table, name in ((config.arms, "gblsr_full"), (config.methods, "gblsr_asr"),
                            (config.datasets, "kodak"))
        for field in fields(table()[name])[1:]
    ],
)  # fmt: skip
def test_a_column_of_a_row(table, name, column):
    """A row's definition asks for its own jobs again, how it is shown for none."""
    row = table()[name]
    edited = replace(row, **{column: "swinir" if column in ("encoder", "recipe") else "2"})
    before = followed(BASE)
    after = followed(BASE, {key: edited if of == row else of for key, of in ROWS.items()})
    again = {key.partition(" of ")[0] for key in before if before[key] != after[key]}
    assert again == DEFINING.get((type(row).__name__, column), NOTHING)


def test_code_by_stage():
    native, asr = (
        {path.removeprefix("src/gblsr_repro/") for path in code_of(job)}
        for job in ("native train", "asr train")
    )
    both = {"training/loop.py", "training/checkpoint.py", "models/spectral.py"}
    assert both <= native & asr
    assert {"training/native.py", "models/decoders.py", "models/encoder.py"} <= native - asr
    assert {"training/asr.py", "models/asr/decoders.py", "models/asr/rdn.py"} <= asr - native
    assert not any(p.startswith(("evaluation/", "reporting/", "cli/")) for p in native | asr)
    assert "models/decoders.py" not in "".join(code_of("asr evaluate"))


def test_a_job_sees_what_it_declares_and_nothing_else():
    seen = config.restrict(BASE, "asr latency", METHODS["gblsr_asr"])
    assert seen["asr"]["tile_pixels"] == 1048576
    assert seen["asr"]["training"] == {"scale_range": [1.0, 4.0]}
    for look in (
        lambda: seen["asr"]["model"]["swinir_embed"],
        lambda: seen["asr"].get("scales", []),
        lambda: seen["native"],
    ):
        with pytest.raises(KeyError, match=r"config/jobs\.py says asr latency reads"):
            look()


# --- the workflow itself, on a finished tree of empty files ---------------------------------------


def rules(jobs):
    return {rule for rule, _ in jobs}


@pytest.mark.slow
def test_an_edited_row_retrains_its_own_run(finished):
    finished.edit("config/arms.tsv", "\tFullDecoder\t", "\tFullLinearDecoder\t")
    finished.edit("config/methods.tsv", "lte_rdn\trdn\tlte", "lte_rdn\trdn\tliif")
    jobs = finished.planned()
    assert finished.trained(jobs) == {"gblsr_full", "lte_rdn"}
    assert {("evaluate", "gblsr_full"), ("fields", "gblsr_full")} <= jobs
    assert ("evaluate", "liif") not in jobs


@pytest.mark.slow
def test_what_retrains_nothing(finished):
    finished.edit("config/arms.tsv", "GB-LSR-Full\t", "GB-LSR-Whole\t")
    finished.edit("config/datasets.tsv", "demo_kodak\t", "demo_kodak\tof ")
    training = {"log_every": 7, "checkpoint_every": 9}
    jobs = finished.planned(
        native={"data": {"exemplars": {"set14": "rocket"}}, "training": training},
        asr={"tile_pixels": 4096, "training": training},
    )
    assert finished.trained(jobs) == set()
    assert ("standardize", "train") not in jobs
    assert {"evaluate", "asr_latency", "tables_of_native"} <= rules(jobs)
    assert "asr_evaluate" not in rules(jobs)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "retrained"),
    [
        ("training/asr.py", {"asr_train_run"}),
        ("evaluation/luma.py", set()),
    ],
)
def test_edited_code_touches_its_own_stage(finished, file, retrained):
    finished.edit(f"src/gblsr_repro/{file}", "from __future__", "# edited\nfrom __future__")
    assert rules(finished.planned()) & {"train", "asr_train_run"} == retrained
