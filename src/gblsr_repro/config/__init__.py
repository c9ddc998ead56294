"""The configuration: `tables` <- `model` <- `checks` <- `load`; `dependencies` reads it."""

from .addresses import HubAddress, address_of, is_imported, parse_address
from .dependencies import (
    CODE,
    RELEASED,
    WATCHING,
    chosen,
    code_of_run,
    definition,
    follows,
    run_identity,
    within,
)
from .identity import check_identity, check_origin
from .load import complete, load, merge, mirror_of, paper_device, protocol, validate, write_resolved
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
    row_named,
    select,
    selected_arms,
    selected_datasets,
    selected_items,
    selected_methods,
    short_names,
    sized_datasets,
    subject,
)
