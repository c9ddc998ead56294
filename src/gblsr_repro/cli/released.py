"""The command that imports weights trained elsewhere."""

from __future__ import annotations

from .arguments import Commands, Options, add_command, add_config, add_path, load_config


def add_commands(commands: Commands) -> None:
    """Add the command of this module."""
    command = add_command(commands, "import", import_weights)
    add_config(command)
    text = "file, folder or hub address (hf://OWNER/NAME/FOLDER)"
    command.add_argument("address", metavar="PATH", help=text)
    text = "row of config/arms.tsv or config/methods.tsv"
    command.add_argument("--as", dest="row", metavar="ROW", required=True, help=text)
    text = "seed that they were trained with"
    command.add_argument("--seed", type=int, required=True, help=text)
    add_path(command, "--output", "RUN", "run folder to write")
    text = "range of colors of a GB-LSR-ASR network (default: measured)"
    command.add_argument("--colors", choices=("normalized", "unit"), help=text)


def import_weights(options: Options) -> None:
    """Import released weights as a run of an arm or a method, without training."""
    from ..config import find_row
    from ..released.importing import import_run

    import_run(
        options.address,
        find_row(options.row),
        options.seed,
        options.output,
        load_config(options),
        options.colors,
    )
