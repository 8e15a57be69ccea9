"""Other processes: forked, spawned, and those of joblib; a fork after an ask once hung for ever."""

import multiprocessing
import os
import subprocess
import sys
import sysconfig
import threading
import time

import pytest

import optimist as op

SPACE = {f"x{i}": op.Float(-1, 1) for i in range(6)}


def bowl(**x: float) -> float:
    return sum(value**2 for value in x.values())


def asked(study: op.Study) -> dict[str, float]:
    return study.ask().params


def told(study: op.Study) -> int:
    trial = study.ask()
    study.tell(trial, 1.0)
    return trial.number


def warm(**more: object) -> op.Study:
    """A study that has asked its model, in all threads."""
    study = op.Study("s", SPACE, direction="minimize", trials=60, **more)  # type: ignore[arg-type]
    return study.run(bowl, trials=15)


def in_fork(work: object) -> int:
    """The exit status of a forked child; it is killed if it hangs."""
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if work() else 1)  # type: ignore[operator]
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(2)
    end = time.monotonic() + 30
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return -9


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_after_an_ask_can_ask() -> None:
    study = warm()
    expected = study.ask().params
    study.cancel(15)
    assert in_fork(lambda: len(study) == 16 and asked(study) != expected and study.verify()) == 0
    assert len(study) == 16, "the child has a copy of what is in memory"


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_while_another_thread_asks_an_optimizer_can_ask() -> None:
    optimizer, is_over = op.Optimizer(SPACE, trials=200), threading.Event()
    for _ in range(30):
        point = optimizer.ask()
        optimizer.tell(point, -bowl(**point))
    busy = threading.Thread(target=lambda: [optimizer.recommend() for _ in iter(is_over.is_set, True)])
    busy.start()
    statuses = [in_fork(lambda: bool(optimizer.ask())) for _ in range(5)]
    is_over.set()
    busy.join()
    assert statuses == [0] * 5


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_has_a_connection_of_its_own(storage: str) -> None:
    study = warm(storage=storage)
    assert in_fork(lambda: [told(study) for _ in range(3)] == [15, 16, 17]) == 0
    assert told(study) == 18 and study.verify()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_study_in_use_during_a_fork_is_an_error_or_works(storage: str) -> None:
    study = warm(storage=storage)
    is_over = threading.Event()

    def work() -> None:
        while not is_over.is_set():
            told(study)

    busy = threading.Thread(target=work)
    busy.start()

    def child() -> bool:
        try:
            return told(study) > 0
        except op.StudyError as error:
            return "another thread was using this study when the process was forked" in str(error)

    statuses = [in_fork(child) for _ in range(5)]
    is_over.set()
    busy.join()
    assert statuses == [0] * 5


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_children_of_every_kind_work_on_one_study(method: str, storage: str) -> None:
    study = warm(storage=storage)
    with multiprocessing.get_context(method).Pool(2) as pool:
        numbers = pool.map(told, [study] * 6)
    assert sorted(numbers) == list(range(15, 21))
    assert len(study) == 21 and study.verify()


def test_the_command_and_python_share_a_study(storage: str) -> None:
    import json

    program = os.path.join(sysconfig.get_path("scripts"), "optimist")
    study = warm(storage=storage)

    def command(*words: str) -> dict[str, object]:
        found = subprocess.run([program, *words, "--storage", storage], capture_output=True, text=True, check=True)
        return json.loads(found.stdout)

    asked = command("ask", "s", "--json")
    study.tell(int(asked["trial"]), 1.0)
    assert command("show", "s", "--json")["complete"] == 16
    assert study.get_trial(15).params == asked["params"] and study.verify()
    assert repr(study).startswith("<optimist.Study 's' in ") and ":secret@" not in repr(study)


def test_loky_works() -> None:
    joblib = pytest.importorskip("joblib")
    study = warm()
    answers = joblib.Parallel(n_jobs=2)(joblib.delayed(asked)(study) for _ in range(2))
    assert answers[0] == answers[1] == asked(study), "each has a copy of what is in memory, and the same seed"


def test_a_subinterpreter_is_refused_with_a_sentence() -> None:
    script = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
here = interpreters.create()
code = '''
import sys
try:
    import optimist
    print("imported")
except ImportError as error:
    print(error)
'''
try:
    interpreters.run_string(here, code)
except AttributeError:
    interpreters.exec(here, code)
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    if "ModuleNotFoundError" in found.stderr:
        pytest.skip("this Python has no module for subinterpreters")
    assert "subinterpreter" in found.stdout, found
