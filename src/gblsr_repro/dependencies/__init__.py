"""Collect what the output of every rule, and the weights of every run, depend on.

`rules` lists settings, tables and versions by rule, `versions` those of models, `collect` collects
them for a job. Nothing here imports a model.
"""

from .collect import (
    MODELS,
    RELEASED,
    VERSION,
    collect_dependencies,
    identify_row,
    identify_run,
    list_classes,
    list_run_versions,
    list_settings,
    select_class_settings,
    select_settings,
    update_identity,
)
