"""The command `optimist`."""

from __future__ import annotations

import signal
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Runs the command line."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the command listens for Ctrl-C itself
    from . import _native

    sys.exit(_native.command(["optimist", *sys.argv[1:]]))
