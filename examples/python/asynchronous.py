"""Four measurements at the same time in one event loop, in a study that is stored."""

import asyncio
import tempfile
from pathlib import Path

import optimist as op


async def measure(x: float, y: float) -> float:
    """An instrument that answers over the network."""
    await asyncio.sleep(0.01)
    return (x - 0.3) ** 2 + (y + 0.2) ** 2


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        space = {"x": op.Float(-1, 1), "y": op.Float(-1, 1)}
        study = op.Study("bowl", space, direction="minimize", trials=24, storage=Path(folder) / "optimist.db")
        await study.arun(measure, workers=4)
        best = study.best
        assert best is not None
        print(f"{len(study)} trials, best {best.value} at {best.params}")


if __name__ == "__main__":
    asyncio.run(main())
