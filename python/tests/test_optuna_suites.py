"""Optuna's own tests of samplers and of importance evaluators, as they come with it."""

from collections.abc import Callable

import pytest

pytest.importorskip("optuna.testing.pytest_samplers", reason="Optuna 4.8 or later brings them")

from optuna.importance import BaseImportanceEvaluator
from optuna.samplers import BaseSampler
from optuna.testing.pytest_samplers import BasicSamplerTestCase, MultiObjectiveSamplerTestCase, RelativeSamplerTestCase

from optimist.optuna import OptimistImportanceEvaluator, OptimistSampler


class Ours:
    @pytest.fixture
    def sampler(self) -> Callable[[], BaseSampler]:
        return lambda: OptimistSampler(seed=0)


class TestBasic(Ours, BasicSamplerTestCase):
    pass


class TestRelative(Ours, RelativeSamplerTestCase):
    pass


class TestMultiObjective(Ours, MultiObjectiveSamplerTestCase):
    pass


try:
    from optuna.testing import pytest_importance as cases
except ImportError:  # before Optuna 5
    pass
else:

    class OurImportance:
        @pytest.fixture
        def evaluator(self) -> Callable[[], BaseImportanceEvaluator]:
            return OptimistImportanceEvaluator

    class TestBasicImportance(OurImportance, cases.BasicImportanceEvaluatorTestCase):
        pass

    class TestConditionalImportance(OurImportance, cases.ConditionalImportanceEvaluatorTestCase):
        pass

    class TestMultiObjectiveImportance(OurImportance, cases.MultiObjectiveImportanceEvaluatorTestCase):
        pass
