"""Exceptions: each is a subclass of the built-in one that fits, and of `OptimistError`."""

from __future__ import annotations

from collections.abc import Mapping


class OptimistError(Exception):
    """Base class of all of Optimist's own errors."""


class StudyError(OptimistError, ValueError):
    """An invalid argument, or something that a study can't do. It's a `ValueError`."""


class SpaceError(StudyError):
    """A space that can't be searched, or a point outside the space."""


class DeclarationError(SpaceError):
    """An objective declared its parameters inconsistently. It ends the run."""


class NotFoundError(OptimistError, KeyError):
    """There is no study with this name, or no trial with this number. It's a `KeyError`."""

    def __str__(self) -> str:
        return Exception.__str__(self)  # a KeyError would show the sentence in quotation marks


class StorageError(OptimistError, OSError):
    """Storage can't be read or written. It's an `OSError`."""

    may_pass: bool = False
    """Whether it may work later: the disk is full, the database is locked, the server doesn't answer."""


class ReturnTypeError(OptimistError, TypeError):
    """An objective returned something that isn't a value. It's a `TypeError`."""


class InternalError(OptimistError, RuntimeError):
    """A bug in Optimist; please report it. It's a `RuntimeError`."""


class Failed(Exception):
    """Raise it in an objective that has no value at this point: the trial fails, and the optimizer learns to avoid such points.

    Args:
        reason: Why there is no value.
        values: With several outcomes, those that were measured before it failed.

    >>> import optimist as op
    >>> def root(x):
    ...     if x < 0:
    ...         raise op.Failed("negative")
    ...     return x**0.5
    >>> study = op.Study("root", {"x": (-1.0, 1.0)}, direction="maximize", trials=8).run(root)
    >>> {trial.reason for trial in study.trials if trial.state == "failed"}
    {'negative'}
    """

    def __init__(self, *reason: object, values: Mapping[str, float] | None = None) -> None:
        super().__init__(*reason)
        self.values = values


class Retry(Exception):
    """Raise it in an objective to try the same parameters again later, up to the study's `max_attempts` times."""
