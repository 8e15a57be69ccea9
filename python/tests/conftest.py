import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

import optimist as op


@pytest.fixture(autouse=True)
def interrupts() -> Iterator[None]:
    """Keeps Ctrl-C as it was: Ray Tune leaves a handler behind that swallows the next one."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def study() -> op.Study:
    return op.Study("bowl", {"x": op.Float(-1, 1), "k": ["a", "b"]}, direction="minimize", trials=12)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "optimist.db"


@pytest.fixture(params=["sqlite", "postgres"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Every storage that processes can share. `scripts/postgres-test-server` names a server."""
    if request.param == "sqlite":
        return str(tmp_path / "shared.db")
    address = os.environ.get("OPTIMIST_TEST_POSTGRES")
    if address is None:
        pytest.skip("OPTIMIST_TEST_POSTGRES names no server")
    for one in op.studies(address):
        op.Study.load(one["study"], storage=address).delete()
    return address
