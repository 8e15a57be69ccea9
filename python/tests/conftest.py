from pathlib import Path

import pytest

import optimist as op


@pytest.fixture
def study() -> op.Study:
    return op.Study("bowl", {"x": op.Float(-1, 1), "k": ["a", "b"]}, direction="minimize", trials=12)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "optimist.db"
