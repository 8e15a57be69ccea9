"""Optional packages: imported when they are used, and if one is missing, the error has the command that installs it."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def needed(module: str, what: str, package: str, install: str) -> Any:
    """Imports a module of an optional package.

    Args:
        what: What needs it, such as `to_pandas`.
        package: What people call the package.
        install: What `pip install` takes.

    Raises:
        ImportError: If the package is missing.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise missing(what, package, install) from error


def missing(what: str, package: str, install: str) -> ImportError:
    """The error for a package that is missing."""
    target = f'"{install}"' if "[" in install else install  # zsh expands brackets
    return ImportError(f"{what} needs {package}; install it with: pip install {target}")
