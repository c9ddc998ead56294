"""The configuration: its tables, its schema and checks, and loading.

Modules import one way: `schema`, `rows`, `tables`, `addresses` and `items`, then `checks`, then
`load`.
"""

from .addresses import HubAddress, drop_folder, get_address, is_imported, parse_address
from .items import MAIN_TABLE, Item, Scope, list_items, read_items
from .load import (
    complete,
    find_mirror,
    load,
    load_protocol,
    plan_settings,
    read_paper_device,
    read_published_times,
    validate,
    write_resolved,
)
from .rows import TableRow, Words, read_table
from .tables import (
    BASELINE,
    OWN,
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
    get_setting,
    list_arms,
    list_methods,
    list_short_names,
    list_timed_datasets,
    locate_row,
    merge,
    read_arms,
    read_assets,
    read_datasets,
    read_image_sizes,
    read_methods,
    read_yaml,
)
