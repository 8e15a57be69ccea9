"""What can go wrong, each a subclass of the built-in exception that fits."""

from __future__ import annotations

from collections.abc import Mapping


class OptimistError(Exception):
    """Base class of all errors that Optimist raises itself."""


class StudyError(OptimistError, ValueError):
    """An invalid argument, or something that cannot be done with a study."""


class SpaceError(StudyError):
    """A space that cannot be searched, or a point that is not in it."""


class DeclarationError(SpaceError):
    """An objective declared its parameters inconsistently. It ends the run."""


class NotFoundError(OptimistError, KeyError):
    """There is no study with this name, or no trial with this number."""

    def __str__(self) -> str:
        return Exception.__str__(self)  # a KeyError would show the sentence in quotation marks


class StorageError(OptimistError, OSError):
    """Storage cannot be read or written."""

    #: Whether trying again later may help: a full disk, a lock, a server that is away.
    may_pass: bool = False


class ReturnTypeError(OptimistError, TypeError):
    """An objective returned something that is not a value."""


class InternalError(OptimistError, RuntimeError):
    """A bug in Optimist."""


class Failed(Exception):
    """Raised by an objective to say that there is no value at this point. The optimizer learns from it.

    Args:
        values: Of several outcomes, those that were measured all the same.
    """

    def __init__(self, *reason: object, values: Mapping[str, float] | None = None) -> None:
        super().__init__(*reason)
        self.values = values


class Retry(Exception):
    """Raised by an objective to be tried again with the same parameters, up to the study's `max_attempts`."""
