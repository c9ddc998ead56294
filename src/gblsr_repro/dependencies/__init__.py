"""Collect what the output of every rule, and the weights of every run, depend on.

`rules` lists settings, tables and code by rule, `collect` collects them for a job, `code` and
`source_digest` digest code.
"""

from .collect import (
    CODE_DIGEST,
    RELEASED,
    collect_dependencies,
    digest_run_code,
    find_model_classes,
    identify_row,
    identify_run,
    list_class_settings,
    list_settings,
    select_settings,
)
