"""The configuration: its tables, its schema and checks, loading, and what depends on it.

Modules import one way: `tables`, then `items`, `schema`, `validation` and `checks`, then `load`;
`dependencies` reads settings, tables and code.
"""

from .addresses import HubAddress, get_address, is_imported, parse_address
from .dependencies import (
    CODE_DIGEST,
    MONITORING,
    RELEASED,
    collect_dependencies,
    digest_run_code,
    identify_run,
    list_settings,
    select_defining_columns,
    select_settings,
)
from .identity import check_identity, check_origin
from .items import MAIN_TABLE, Item, list_items, read_items
from .load import (
    complete,
    find_mirror,
    load,
    load_protocol,
    merge,
    read_paper_device,
    validate,
    write_resolved,
)
from .tables import (
    BASELINE,
    READING,
    Arm,
    Config,
    Dataset,
    Method,
    find_arm,
    find_dataset,
    find_method,
    find_repository_root,
    find_row,
    get_dataset_title,
    list_arms,
    list_datasets,
    list_methods,
    list_named_datasets,
    list_short_names,
    list_sized_datasets,
    locate_row,
    read_arms,
    read_assets,
    read_datasets,
    read_methods,
    read_table,
    read_yaml,
    select_rows,
    suggest,
)
