"""Run the command line `gblsr-repro` by `python -m gblsr_repro`."""

import sys

from .cli import main

sys.exit(main())
