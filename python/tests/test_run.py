"""Runs: objectives of every kind, in threads, processes and event loops."""

import asyncio
import functools
import json
import math
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import pytest

import optimist as op

SPACE = {"x": op.Float(-1, 1)}


def bowl(x: float) -> float:
    return (x - 0.3) ** 2


class Oven:
    def roast(self, x: float) -> float:
        return x

    def __call__(self, x: float) -> float:
        return x


@pytest.mark.parametrize("objective", [bowl, lambda x: x, Oven().roast, Oven()], ids=["function", "lambda", "method", "object"])
def test_anything_that_can_be_called_is_an_objective(objective: object) -> None:
    best = op.minimize(objective, SPACE, trials=6, progress=False)  # type: ignore[arg-type]
    assert best.value is not None and len(best.study) == 6


def test_minimize_and_maximize_look_in_opposite_directions() -> None:
    low = op.minimize(lambda x: x, SPACE, trials=12)
    high = op.maximize(lambda x: x, SPACE, trials=12)
    assert low.params["x"] < -0.9 and high.params["x"] > 0.9
    assert low.mean < 0 < high.mean


@pytest.mark.parametrize("workers", [1, 3])
def test_workers_share_the_trials_of_the_plan(workers: int, storage: str) -> None:
    study = op.Study("s", SPACE, direction="minimize", trials=10, storage=storage)
    study.run(bowl, workers=workers)
    assert len(study) == 10 and all(trial.state == "complete" for trial in study.trials)
    study.run(bowl)
    assert len(study) == 10, "as many trials as planned"


def test_threads_run_at_the_same_time() -> None:
    barrier = threading.Barrier(3, timeout=10)

    def meets(x: float) -> float:
        barrier.wait()
        return x

    assert len(op.minimize(meets, SPACE, trials=3, workers=3).study) == 3
    assert len(op.Study("s", SPACE, direction="minimize", trials=3, workers=3).run(meets)) == 3, "as the study says"


def test_executors_measure_elsewhere() -> None:
    with ProcessPoolExecutor(2) as processes:
        study = op.Study("s", SPACE, direction="minimize", trials=6).run(bowl, executor=processes)
        assert len(study) == 6 and study.best_trial.value < 0.5
        study = op.Study("s", SPACE, direction="minimize", trials=3).run(divide, executor=processes)
        assert "ZeroDivisionError" in study.trials[0].reason and "def divide" not in study.trials[0].reason
        assert "x / 0" in study.trials[0].stderr, "the traceback of the other process is kept"
    with ThreadPoolExecutor(2) as threads:
        assert len(op.minimize(bowl, SPACE, trials=5, executor=threads, workers=2).study) == 5


def divide(x: float) -> float:
    return x / 0


def die(x: float) -> float:
    os._exit(3)


def test_executors_that_cannot_do_it_say_so() -> None:
    study = op.Study("s", SPACE, direction="minimize", trials=4)
    with ProcessPoolExecutor(1) as processes:
        with pytest.raises(TypeError, match="cannot be sent to another process"):
            study.run(lambda x: x, executor=processes)
        assert len(study) == 0
        with pytest.raises(BrokenExecutor):
            study.run(die, executor=processes)
    assert study.trials[0].state == "waiting", "it is tried again"
    with pytest.raises(ValueError, match="say how many trials to run at a time"):
        study.run(bowl, executor=Inline())
    assert len(study.run(bowl, executor=Inline(), workers=2)) == 4


class Inline(Executor):
    """The least that an executor can be."""

    def submit(self, work, /, *args, **kwargs):  # type: ignore[no-untyped-def]
        future = Future()  # type: ignore[var-annotated]
        future.set_result(work(*args, **kwargs))
        return future


def test_executors_of_other_libraries_work() -> None:
    loky = pytest.importorskip("joblib.externals.loky")
    executor = loky.get_reusable_executor(2)
    assert len(op.minimize(lambda x: x, SPACE, trials=4, executor=executor).study) == 4
    executor.shutdown()


def test_dask_measures() -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.Client(n_workers=1, processes=False, dashboard_address=None) as client:
        executor = client.get_executor()
        with pytest.raises(ValueError, match="say how many trials to run at a time"):
            op.minimize(bowl, SPACE, trials=4, executor=executor)
        assert len(op.minimize(bowl, SPACE, trials=4, executor=executor, workers=2).study) == 4


def test_trials_run_as_dask_tasks(database: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    mark = tmp_path / "lost"

    def objective(x: float) -> float:
        if x > 0.5:
            raise op.Failed("too hot")
        if not mark.exists():
            mark.touch()
            worker = SimpleNamespace(address="tcp://gone")
            raise distributed.scheduler.KilledWorker("task", worker, 3)  # what Dask says of a trial that killed its workers
        return x

    with distributed.Client(n_workers=1, threads_per_worker=3, processes=False, dashboard_address=None) as client:
        study = op.Study("s", SPACE, direction="minimize", trials=8, storage=database)
        study.enqueue({"x": 0.9})
        executor = op.dask(client)
        assert executor._max_workers == 3  # type: ignore[attr-defined]
        study.run(objective, executor=executor, workers=1)
    assert {trial.reason for trial in study.trials if trial.state == "failed"} == {"too hot"}
    assert sorted(trial.attempts for trial in study.trials) == [1] * 7 + [2] and study.verify()


@pytest.mark.long
def test_a_trial_whose_dask_worker_dies_is_run_again(database: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    mark = str(tmp_path / "died")

    def objective(x: float) -> float:
        if not os.path.exists(mark):
            open(mark, "w").close()
            os._exit(1)
        return x

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        study = op.Study("s", SPACE, direction="minimize", trials=6, storage=database).run(objective, executor=op.dask(client))
    assert [trial.state for trial in study.trials] == ["complete"] * 6 and study.verify()


def test_exceptions_are_failed_trials_with_their_traceback() -> None:
    def objective(x: float) -> float:
        if x < 0:
            raise ValueError("too cold")
        return x

    study = op.Study("s", SPACE, direction="minimize", trials=10).run(objective)
    failed = [trial for trial in study.trials if trial.state == "failed"]
    assert failed and failed[0].reason == "ValueError: too cold" and failed[0].failure == "crashed"
    assert "raise ValueError" in failed[0].stderr
    with pytest.raises(ValueError, match="none of the 4 trials returned a value; the last one failed with: ZeroDivision"):
        op.minimize(divide, SPACE, trials=4)


def test_a_name_that_is_not_utf_8_does_not_end_a_run() -> None:
    name = os.fsdecode(b"no-\xff")
    answers = iter([1.0, FileNotFoundError(name), op.Failed(name), {"value": 2.0, "note": name, "metrics": {name: [name]}}])

    def objective(x: float) -> object:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    study = op.Study("s", SPACE, direction="minimize", trials=4).run(objective)
    _, crashed, failed, told = study.trials
    assert crashed.reason == r"FileNotFoundError: no-\udcff" and r"no-\udcff" in crashed.stderr
    assert failed.reason == told.note == r"no-\udcff" and told.metrics == {r"no-\udcff": [r"no-\udcff"]}
    study.fail(study.ask(), name, traceback=name)
    assert study.trials[4].reason == r"no-\udcff"


def test_an_objective_says_what_kind_of_failure_it_is() -> None:
    seen: list[float] = []

    def objective(x: float) -> float:
        seen.append(x)
        if len(seen) == 1:
            raise op.Retry("the oven was cold")
        if len(seen) == 3:
            raise op.Failed("no such bean")
        return x

    study = op.Study("s", SPACE, direction="minimize", trials=3).run(objective)
    assert seen[0] == seen[1], "tried again at the same point"
    assert [trial.state for trial in study.trials] == ["complete", "failed", "complete"]
    assert study.trials[0].attempts == 2 and study.trials[1].reason == "no such bean"


def test_an_objective_that_never_works_ends_a_run() -> None:
    study = op.Study("s", SPACE, direction="minimize", trials=50)
    with pytest.raises(ValueError, match="the first 5 trials all failed in the same way: ZeroDivisionError"):
        study.run(divide)
    assert len(study) == 5
    study.run(bowl, trials=1)
    study.run(divide, trials=10)
    assert len(study) == 16, "there is a value: it has worked once"


def test_too_many_failures_in_a_row_end_a_run() -> None:
    study = op.Study("s", SPACE, direction="minimize", trials=20, max_failures=3)
    with pytest.raises(ValueError, match="stopped after 3 failed trials in a row"):
        study.run(divide)
    assert len(study) == 3


class Scalar:
    """Like numpy's and torch's."""

    ndim = 0

    def item(self) -> float:
        return 0.5


@pytest.mark.parametrize("answer", [1, 1.5, Decimal("0.5"), Scalar(), {"value": 2, "noise_std": 0.1, "note": "x"}])
def test_numbers_of_every_kind_are_values(answer: object) -> None:
    study = op.Study("s", SPACE, direction="minimize", trials=2).run(lambda x: answer)
    assert all(trial.state == "complete" and type(trial.value) is float for trial in study.trials)


@pytest.mark.parametrize("answer", [math.nan, math.inf, -math.inf, 10**400, {"value": 1, "noise_std": -1}])
def test_a_value_that_is_not_finite_is_a_failed_trial(answer: object) -> None:
    study = op.Study("s", SPACE, direction="minimize", trials=2).run(lambda x: answer)
    assert [trial.failure for trial in study.trials] == ["unreadable"] * 2


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "is None; return one number"),
        ("0.5", "is the string '0.5'; return one number"),
        ((1.0, 2.0), "is a tuple of 2; return one number"),
        (True, "a boolean"),
        ({"loss": 1}, "without `value`"),
        ({"value": 1, "cost": 3}, "put further numbers in `metrics`"),
        ({"value": 1, "metrics": {"model": [object()]}}, "metric `model`: cannot store a value of type object; use numbers"),
        ({"value": 1, "metrics": 3}, "metrics must be a dictionary"),
        (object(), "is of type object; return"),
    ],
)
def test_a_slip_is_an_error_that_says_what_to_return(answer: object, words: str) -> None:
    study = op.Study("s", SPACE, direction="minimize", trials=5)
    with pytest.raises(TypeError, match=words):
        study.run(lambda x: answer)
    assert len(study) == 1 and study.trials[0].state == "failed"
    answers = iter([1.0, answer, 2.0, 3.0, 4.0])
    with pytest.warns(RuntimeWarning, match=words):
        study = op.Study("s", SPACE, direction="minimize", trials=5).run(lambda x: next(answers))
    assert [trial.state for trial in study.trials].count("failed") == 1, "a long run is not ended by one of them"


def test_an_objective_that_does_not_fit_the_space_says_so_before_it_runs() -> None:
    space = {"solver": ["sgd", "adam"], "momentum": op.Float(0, 1, when={"solver": "sgd"})}
    study = op.Study("s", space, direction="minimize")
    with pytest.raises(TypeError, match="has no argument `momentum`"):
        study.run(lambda solver: 1)
    with pytest.raises(TypeError, match="`momentum` is not always active"):
        study.run(lambda solver, momentum: 1)
    with pytest.raises(TypeError, match="needs `batch`, which is not in the space"):
        study.run(lambda solver, batch, momentum=None: 1)
    with pytest.raises(TypeError, match="must be a function"):
        study.run(3)  # type: ignore[arg-type]
    assert len(study) == 0
    study.run(lambda solver, momentum=None, **_: 1, trials=1)
    study.run(lambda trial: len(trial.params), trials=1)
    assert len(study) == 2


def test_callbacks_see_each_trial_and_may_stop() -> None:
    seen: list[int] = []

    def callback(study: op.Study, trial: op.Trial) -> None:
        seen.append(trial.number)
        if len(seen) == 3:
            study.stop()

    op.Study("s", SPACE, direction="minimize").run(bowl, callbacks=[callback])
    assert seen == [0, 1, 2]


def test_a_run_ends_in_time() -> None:
    study = op.Study("s", SPACE, direction="minimize", trials=1000)
    start = time.monotonic()
    study.run(lambda x: time.sleep(0.05) or x, timeout=0.3)
    assert time.monotonic() - start < 5 and 1 <= len(study) < 100
    assert len(op.Study("s", SPACE, direction="minimize", trials=2).run(bowl, timeout=math.inf)) == 2
    with pytest.raises(ValueError, match="timeout must be a finite number, got '10'"):
        study.run(bowl, timeout="10")  # type: ignore[arg-type]


def test_the_target_ends_a_study() -> None:
    study = op.Study("s", SPACE, direction="minimize", trials=100, target=0.5).run(lambda x: abs(x))
    assert len(study) < 100 and study.best_trial.value <= 0.5


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_ends_a_run_and_loses_nothing(workers: int) -> None:
    study = op.Study("s", SPACE, direction="minimize", trials=100)
    release, once = threading.Event(), threading.Lock()

    def objective(x: float) -> float:
        if len(study) > 3:
            if once.acquire(blocking=False):
                os.kill(os.getpid(), signal.SIGINT)
            release.wait(10)
        return x

    with pytest.raises(KeyboardInterrupt):
        study.run(objective, workers=workers)
    release.set()
    states = [trial.state for trial in study.trials]
    assert "complete" in states and "waiting" in states and "running" not in states
    study.run(bowl, trials=4)
    assert "waiting" not in [trial.state for trial in study.trials], "goes on with what was put back"


def interrupted_after(seconds: float, work: object) -> float:
    """How long Ctrl-C takes to be heard by `work`, in seconds; the best of three, since the machine may be busy."""
    waits = []
    for _ in range(3):
        raised_at: list[float] = []

        def interrupt(raised_at: list[float] = raised_at) -> None:
            raised_at.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(seconds, interrupt)
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            work()  # type: ignore[operator]
            time.sleep(30)
        waits.append(time.monotonic() - raised_at[0])
    return min(waits)


def test_ctrl_c_is_heard_while_rust_works() -> None:
    study = op.Study("s", {f"x{i}": op.Float(0, 1) for i in range(20)}, direction="minimize", trials=2000)
    rng = random.Random(0)
    study.import_trials([{**{f"x{i}": rng.random() for i in range(20)}, "value": rng.random()} for _ in range(500)])

    def ask() -> None:
        for _ in range(100):
            study.ask()

    assert interrupted_after(0.05, ask) < 0.1
    states = [trial.state for trial in study.trials[500:]]
    assert set(states) <= {"running", "waiting"}, "a trial that nobody got is put back"
    plot = study.plot()
    for work in (study.verify, study.importance, study.plot, lambda: plot.png, lambda: plot.html):
        assert interrupted_after(0.02, lambda work=work: [work() for _ in range(100)]) < 0.1
    rows = [{**{f"x{i}": rng.random() for i in range(20)}, "value": rng.random()} for _ in range(20_000)]
    assert interrupted_after(0.02, lambda: study.import_trials(rows)) < 0.1


def test_ctrl_c_is_heard_while_rust_waits(database: Path) -> None:
    study = op.Study("s", SPACE, direction="minimize", storage=database)
    trial = study.ask()
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert interrupted_after(0.2, lambda: study.tell(trial, 1.0)) < 0.1
    other.execute("ROLLBACK")
    other.close()
    study.tell(trial, 1.0)
    assert study.trials[0].value == 1.0


def test_ctrl_c_ends_a_program_at_once(tmp_path: Path) -> None:
    """What threads are measuring is not waited for."""
    script = (
        "import optimist as op, time\n"
        "study = op.Study('s', {'x': op.Float(0, 1)}, direction='minimize', storage='x.db')\n"
        "def slow(x):\n    print('begun', flush=True)\n    time.sleep(60)\n"
        "study.run(slow, workers=2)\n"
    )
    program = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path)
    assert program.stdout is not None and program.stdout.readline() and program.stdout.readline()
    program.send_signal(signal.SIGINT)
    _, error = program.communicate(timeout=20)
    assert b"KeyboardInterrupt" in error and program.returncode != 0
    assert [trial.state for trial in op.Study.load("s", storage=tmp_path / "x.db").trials] == ["waiting"] * 2


def test_ctrl_c_ends_a_coroutine(database: Path) -> None:
    study = op.Study("s", SPACE, direction="minimize", storage=database)

    async def objective(x: float) -> float:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(30)
        return x

    with pytest.raises(KeyboardInterrupt):
        study.run(objective, workers=2)
    assert {trial.state for trial in study.trials} == {"waiting"}


def test_the_interpreter_is_free_while_rust_works() -> None:
    study = op.Study("s", {f"x{i}": op.Float(0, 1) for i in range(20)}, direction="minimize", trials=200)
    for trial in study.ask(40):
        study.tell(trial, sum(trial.params.values()))
    counted, is_over = [0], threading.Event()

    def count() -> None:
        while not is_over.is_set():
            counted[0] += 1

    counting = threading.Thread(target=count)
    counting.start()
    before = counted[0]
    study.ask(10)
    during = counted[0] - before
    is_over.set()
    counting.join()
    assert during > 1000


def test_coroutines_are_objectives() -> None:
    underway, most = [0], [0]

    async def objective(x: float) -> float:
        underway[0] += 1
        most[0] = max(most[0], underway[0])
        await asyncio.sleep(0.05)
        underway[0] -= 1
        if x < -0.5:
            raise ValueError("too cold")
        return x

    study = op.Study("s", SPACE, direction="minimize", trials=9)
    asyncio.run(study.arun(objective, workers=3))
    assert len(study) == 9 and most[0] == 3
    study = op.Study("s", SPACE, direction="minimize", trials=4).run(objective, workers=2)
    assert len(study) == 4, "`run` makes an event loop of its own"

    async def notebook() -> None:
        op.minimize(objective, SPACE, trials=2)

    with pytest.raises(ValueError, match=r"write `await study.arun\(objective\)`"):
        asyncio.run(notebook())


def test_objects_with_an_asynchronous_call_are_objectives() -> None:
    class Instrument:
        async def __call__(self, x: float) -> float:
            await asyncio.sleep(0)
            return x

    assert len(op.minimize(Instrument(), SPACE, trials=3, workers=2).study) == 3
    assert len(op.minimize(functools.partial(Instrument().__call__), SPACE, trials=3).study) == 3


def test_a_stream_that_is_left_puts_back_what_is_pending(database: Path) -> None:
    study = op.Study("s", SPACE, direction="minimize", trials=6, storage=database)
    study.import_trials([{"x": 0.0, "value": 1.0}])

    async def main() -> None:
        stream = study.aasks(limit=2)
        first = await anext(stream)
        await anext(stream)
        await study.afail(first, "no")
        await stream.aclose()

    asyncio.run(main())
    assert [trial.state for trial in study.trials] == ["complete", "failed", "waiting"]

    async def rest() -> None:
        async for trial in study.aasks():
            await study.atell(trial, trial["x"])

    asyncio.run(rest())
    assert len(study) == 7, "an imported trial is not one of the plan"


def test_an_ask_that_is_cancelled_puts_its_trial_back(database: Path) -> None:
    study = op.Study("s", {f"x{i}": op.Float(0, 1) for i in range(8)}, direction="minimize", trials=40, storage=database)
    for trial in study.ask(20):
        study.tell(trial, sum(trial.params.values()))

    async def main() -> None:
        task = asyncio.ensure_future(study.aask())
        await asyncio.sleep(0)  # it is handed to its thread
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not [trial for trial in study.trials if trial.state == "running"]
        assert (await study.aask()).number == 20

    asyncio.run(main())


def test_a_callback_that_is_a_coroutine_is_refused() -> None:
    async def callback(study: op.Study, trial: op.Trial) -> None: ...

    with pytest.raises(TypeError, match="a callback must be a plain function"):
        op.Study("s", SPACE, direction="minimize").run(bowl, callbacks=[callback])


def test_trials_come_as_an_asynchronous_stream() -> None:
    study = op.Study("s", SPACE, direction="minimize", trials=7)

    async def measure(trial: op.Trial) -> None:
        await asyncio.sleep(0.01)
        await study.atell(trial, trial["x"])

    async def main() -> None:
        tasks = []
        async for trial in study.aasks(limit=3):
            tasks.append(asyncio.create_task(measure(trial)))
        await asyncio.gather(*tasks)

    asyncio.run(main())
    assert len(study) == 7 and all(trial.state == "complete" for trial in study.trials)


def test_two_threads_may_use_one_study(storage: str) -> None:
    study = op.Study("s", SPACE, direction="minimize", trials=100, storage=storage)

    def work() -> None:
        for _ in range(10):
            study.tell(study.ask(), 1.0)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(study) == 40 and study.verify()


def in_batches(study: op.Study) -> list[int]:
    """The trials that were suggested together with others before them."""
    events = [json.loads(line)["event"] for line in study._engine.export()]
    asked = [event["asked"] for event in events if "asked" in event]
    return [one["trial"] for one in asked if "since" in one["source"].get("suggested", {})]


def test_several_trials_are_asked_for_as_a_batch(storage: str) -> None:
    study = op.Study("s", SPACE, direction="minimize", trials=20, storage=storage)
    for trial in study.ask(5):
        study.tell(trial, bowl(**trial.params))
    assert in_batches(study) == [1, 2, 3, 4] and study.verify()


def test_a_run_asks_for_all_free_workers_at_once() -> None:
    study = op.Study("s", SPACE, direction="minimize", trials=12)
    with ThreadPoolExecutor(4) as executor:
        study.run(bowl, executor=executor)
    assert in_batches(study)[:3] == [1, 2, 3] and len(study) == 12 and study.verify()


def test_a_limit_on_trials_holds_for_batches() -> None:
    study = op.Study("s", SPACE, direction="minimize", trials=12)
    with ThreadPoolExecutor(4) as executor:
        study.run(bowl, executor=executor, trials=6)
    assert len(study) == 6


def test_progress_is_shown_where_it_is_wanted(capfd: pytest.CaptureFixture[str]) -> None:
    op.minimize(bowl, SPACE, trials=3)
    assert capfd.readouterr().err == "", "not in a file"
    op.minimize(bowl, SPACE, trials=3, progress=True)
    assert "] 3/3  best " in capfd.readouterr().err
