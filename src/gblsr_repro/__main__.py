"""Lets `python -m gblsr_repro` stand for `gblsr-repro`."""

import sys

from .cli import main

sys.exit(main())
