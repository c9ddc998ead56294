"""The configuration: `tables` <- `model` <- `checks` <- `load`; `identity` and `jobs` read it."""

from .identity import WATCHING, check_identity, chosen, definition, run_identity, within
from .jobs import JOBS, Row, code_digest, code_of, restrict, settings_of
from .load import load, merge, mirror_of, paper_device, protocol, resolve, validate, write_resolved
from .tables import (
    BASELINE,
    MAIN_TABLE,
    READING,
    Arm,
    Config,
    Dataset,
    Item,
    Method,
    arm_named,
    arms,
    assets,
    dataset_named,
    dataset_title,
    datasets,
    guess,
    items,
    method_named,
    methods,
    named_datasets,
    read_table,
    read_yaml,
    repository_root,
    select,
    selected_arms,
    selected_datasets,
    selected_items,
    selected_methods,
    short_names,
    sized_datasets,
    subject,
)
