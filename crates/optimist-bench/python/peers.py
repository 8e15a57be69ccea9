"""Other optimizers behind the optimizer protocol, one a process: `peers.py NAME`.

Reads JSON lines {"init": {"dim", "seed", "budget"}}, {"tell": {"x", "y"}}, {"ask": 1} and answers an
ask with {"x": [...]}: x in the unit cube, y to be maximised. A failed trial is told as y = null.
With several outcomes init has "goals", a list of {"goal": "maximize", "reference"} and {"goal": "at_least", "bound"}, and
a tell has "values", one for each, null where it failed.
If something is wrong the answer is {"error": "what"} and the process ends.

Every peer is its package's recommended way of use with the package's defaults; settings that have to
be chosen are named where they are. Packages are imported by the peer that needs them.
"""

import json
import math
import os
import sys
import warnings

warnings.filterwarnings("ignore")


def limit_threads(torch):
    """Torch heeds the usual variable only as a default of its own; here it is the law."""
    if "OMP_NUM_THREADS" in os.environ:
        torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))


class WorstForFailures:
    """For optimizers that only know values: a failed trial counts as the worst value so far, once there is one. Forgetting it
    would have them ask for the same point again."""

    def __init__(self):
        self.worst, self.waiting = None, []

    def values(self, x, y):
        """What is to be told of a trial: pairs of points and values."""
        if y is None and self.worst is None:
            self.waiting.append(x)
            return []
        if y is None:
            return [(x, self.worst)]
        self.worst = y if self.worst is None else min(self.worst, y)
        before, self.waiting = self.waiting, []
        return [(x, y)] + [(failed, y) for failed in before]


class Optuna:
    """What the Optuna peers share: a study that is asked and told."""

    def __init__(self, dim, seed, budget):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.optuna = optuna
        self.space = {f"x{i}": optuna.distributions.FloatDistribution(0, 1) for i in range(dim)}
        self.study = optuna.create_study(direction="maximize", sampler=self.sampler(seed))
        self.asked = []

    def ask(self):
        trial = self.study.ask(self.space)
        x = [trial.params[name] for name in self.space]
        self.asked.append((x, trial))
        return x

    def tell(self, x, y):
        state = self.optuna.trial.TrialState
        for idx, (asked, trial) in enumerate(self.asked):
            if asked == x:
                del self.asked[idx]
                self.study.tell(trial, y, state.COMPLETE if y is not None else state.FAIL)
                return
        if y is not None:
            trial = self.optuna.trial.create_trial(
                params=dict(zip(self.space, x)), distributions=self.space, value=y
            )
            self.study.add_trial(trial)


class OptunaTpe(Optuna):
    """TPESampler, multivariate (its default since version 5)."""

    def sampler(self, seed):
        return self.optuna.samplers.TPESampler(seed=seed, multivariate=True)


class OptunaSeveral(Optuna):
    """The same with several outcomes: constraints by `set_constraint`. Without a goal, 0 is maximised. A trial of which anything
    failed is a failed one."""

    def __init__(self, dim, seed, budget, goals):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.optuna, self.goals, self.budget = optuna, goals, budget
        self.space = {f"x{i}": optuna.distributions.FloatDistribution(0, 1) for i in range(dim)}
        directions = ["maximize"] * max(1, len(maximised(goals)))
        self.study = optuna.create_study(directions=directions, sampler=self.sampler(seed))
        self.asked = []

    def tell(self, x, values):
        state = self.optuna.trial.TrialState
        failed = None in values
        traded = [] if failed else [values[k] for k in maximised(self.goals)] or [0.0]
        missed = {} if failed else {str(k): bound - values[k] for k, bound in bounds(self.goals)}
        for idx, (asked, trial) in enumerate(self.asked):
            if asked == x:
                del self.asked[idx]
                for key, value in missed.items():
                    trial.set_constraint(key, value)
                self.study.tell(trial, None if failed else traded, state.FAIL if failed else state.COMPLETE)
                return
        if not failed:
            trial = self.optuna.trial.create_trial(
                params=dict(zip(self.space, x)), distributions=self.space, values=traded, constraints=missed
            )
            self.study.add_trial(trial)


class OptunaTpeSeveral(OptunaSeveral):
    """TPESampler, multivariate: the good trials by non-domination and hypervolume."""

    def sampler(self, seed):
        return self.optuna.samplers.TPESampler(seed=seed, multivariate=True)


class OptunaNsga2(OptunaSeveral):
    """NSGAIISampler, with a population of a fifth of the trials, at least 10: with its usual 50 most runs would end in the first
    generation."""

    def sampler(self, seed):
        return self.optuna.samplers.NSGAIISampler(seed=seed, population_size=max(10, self.budget // 5))


def maximised(goals):
    return [k for k, goal in enumerate(goals) if goal["goal"] == "maximize"]


def bounds(goals):
    return [(k, goal["bound"]) for k, goal in enumerate(goals) if goal["goal"] == "at_least"]


class PymooNsga2:
    """pymoo's NSGA2, with a population of a fifth of the trials, at least 10. The points that are told before the first ask are part of
    its first population. What failed counts as far worse than anything else."""

    FAILED = 1e12

    def __init__(self, dim, seed, budget, goals):
        import numpy as np
        from pymoo.core.problem import Problem

        self.np, self.dim, self.seed, self.goals = np, dim, seed, goals
        self.population = max(10, budget // 5)
        self.problem = Problem(
            n_var=dim, n_obj=max(1, len(maximised(goals))), n_ieq_constr=len(bounds(goals)), xl=0.0, xu=1.0
        )
        self.algorithm, self.first, self.waiting, self.told = None, {}, [], {}

    def start(self):
        from pymoo.algorithms.moo.nsga2 import NSGA2

        rng = self.np.random.default_rng(self.seed)
        given = [list(x) for x in self.first][-self.population :]
        more = rng.random((self.population - len(given), self.dim)).tolist()
        self.algorithm = NSGA2(pop_size=self.population, sampling=self.np.array(given + more))
        self.algorithm.setup(self.problem, termination=("n_gen", 10**6), seed=self.seed, verbose=False)
        self.told = dict(self.first)

    def generation(self):
        """The points of the next generation, those that were told already left out."""
        self.infills = self.algorithm.ask()
        self.points = [tuple(float(v) for v in x) for x in self.infills.get("X")]
        self.waiting = [x for x in self.points if x not in self.told]

    def ask(self):
        if self.algorithm is None:
            self.start()
            self.generation()
        while not self.waiting:
            self.finish()
            self.generation()
        return list(self.waiting.pop(0))

    def finish(self):
        values = [self.told[x] for x in self.points]
        wanted, limits = maximised(self.goals), bounds(self.goals)
        worst = self.FAILED
        self.infills.set(
            "F", self.np.array([[-v[k] for k in wanted] or [0.0] if None not in v else [worst] * max(1, len(wanted)) for v in values])
        )
        if limits:
            self.infills.set(
                "G", self.np.array([[b - v[k] for k, b in limits] if None not in v else [worst] * len(limits) for v in values])
            )
        for individual in self.infills:
            individual.evaluated.update({"F", "G"})
        self.algorithm.tell(infills=self.infills)

    def tell(self, x, values):
        (self.first if self.algorithm is None else self.told)[tuple(x)] = values


class OptunaGpSeveral(OptunaSeveral):
    """GPSampler: the expected hypervolume improvement, or the constrained expected improvement."""

    def sampler(self, seed):
        import torch

        limit_threads(torch)
        return self.optuna.samplers.GPSampler(seed=seed)


class OptunaGp(Optuna):
    """GPSampler: a Gaussian process and the expected improvement. It is told of the points of Phase I and makes
    up its usual 10 initial points with its own."""

    def sampler(self, seed):
        import torch

        limit_threads(torch)
        return self.optuna.samplers.GPSampler(seed=seed)


class OptunaCmaEs(Optuna):
    """CmaEsSampler, on the package `cmaes`. It is told of the points of Phase I, and starts from the best of them."""

    def sampler(self, seed):
        return self.optuna.samplers.CmaEsSampler(seed=seed)


class PyCma:
    """pycma's CMAEvolutionStrategy with bounds and a sixth of the range as step size, from the mean of the best points told
    first, weighted as a generation is (or the middle); restarts from a uniform point with twice the population."""

    def __init__(self, dim, seed, budget):
        import cma
        import numpy as np

        self.cma, self.np, self.dim, self.seed = cma, np, dim, seed
        self.rng = np.random.default_rng(seed)
        self.first = []  # what was told before the first ask
        self.restarts = 0
        self.es = None

    def mean_of_told(self):
        generation = 4 + int(3 * math.log(self.dim))
        best = sorted(self.first, reverse=True)[:generation]
        weights = [math.log((max(len(best), 2) + 1) / 2) - math.log(rank + 1) for rank in range(len(best))]
        weights = [max(weight, 0) for weight in weights]
        return self.np.average([x for _, x in best], axis=0, weights=weights)

    def start(self):
        if self.restarts:
            x0 = self.rng.random(self.dim)
        else:
            x0 = self.mean_of_told() if self.first else [0.5] * self.dim
        options = {
            "bounds": [0, 1],
            "seed": self.seed + self.restarts + 1,  # 0 means the time
            "popsize_factor": 2**self.restarts,
            "verbose": -9,
            "verb_log": 0,
            "verb_disp": 0,
        }
        self.es = self.cma.CMAEvolutionStrategy(x0, 1 / 6, options)
        self.waiting, self.asked, self.told = [], [], []

    def ask(self):
        if self.es is None:
            self.start()
        if not self.waiting:
            self.waiting = self.es.ask()
        solution = self.waiting.pop(0)
        x = [float(v) for v in self.np.clip(solution, 0, 1)]
        self.asked.append((x, solution))
        return x

    def tell(self, x, y):
        if self.es is None:
            if y is not None and not self.restarts:
                self.first.append((y, x))
            return
        for idx, (asked, solution) in enumerate(self.asked):
            if asked == x:
                del self.asked[idx]
                self.told.append((solution, math.nan if y is None else -y))
                break
        if len(self.told) == self.es.popsize:
            self.es.tell(*map(list, zip(*self.told)))
            self.told = []
            if self.es.stop():
                self.restarts += 1
                self.es = None


class Skopt:
    """scikit-optimize's Optimizer: a Gaussian process, `gp_hedge` acquisition. It is told of the points
    of Phase I and makes up its usual 10 initial points with its own."""

    def __init__(self, dim, seed, budget):
        from skopt import Optimizer

        self.optimizer = Optimizer([(0.0, 1.0)] * dim, random_state=seed)
        self.failures = WorstForFailures()

    def ask(self):
        return [float(v) for v in self.optimizer.ask()]

    def tell(self, x, y):
        for x, y in self.failures.values(x, y):
            self.optimizer.tell(x, -y)


class Hebo:
    """HEBO: a Gaussian process on warped inputs and outputs, and three acquisition functions at a time. It is told
    of the points of Phase I and makes up its usual 1 + dim initial points with its own."""

    def __init__(self, dim, seed, budget):
        import numpy as np
        import pandas as pd
        import torch
        from hebo.design_space.design_space import DesignSpace
        from hebo.optimizers.hebo import HEBO

        np.random.seed(seed)
        torch.manual_seed(seed)
        self.np, self.pd = np, pd
        self.names = [f"x{i}" for i in range(dim)]
        space = DesignSpace().parse([{"name": name, "type": "num", "lb": 0, "ub": 1} for name in self.names])
        self.optimizer = HEBO(space, scramble_seed=seed)
        self.failures = WorstForFailures()

    def ask(self):
        x = self.optimizer.suggest(n_suggestions=1)[self.names].to_numpy(float)[0]
        return [float(v) for v in self.np.clip(x, 0, 1)]

    def tell(self, x, y):
        for x, y in self.failures.values(x, y):
            self.optimizer.observe(self.pd.DataFrame([x], columns=self.names), self.np.array([[-y]]))


class BoTorch:
    """What the BoTorch peers share: the data, as tensors in double precision."""

    def __init__(self, dim, seed, budget):
        import torch

        limit_threads(torch)
        torch.manual_seed(seed)
        self.torch, self.dim, self.seed = torch, dim, seed
        self.x, self.y = [], []
        self.failures = WorstForFailures()

    def tell(self, x, y):
        for x, y in self.failures.values(x, y):
            self.x.append(x)
            self.y.append(y)

    def tensor(self, values):
        return self.torch.tensor(values, dtype=self.torch.double)

    def bounds(self):
        return self.tensor([[0.0] * self.dim, [1.0] * self.dim])

    def uniform(self):
        return self.torch.rand(self.dim, dtype=self.torch.double).tolist()

    def sobol(self, n, seed):
        engine = self.torch.quasirandom.SobolEngine(self.dim, scramble=True, seed=seed)
        return engine.draw(n).to(dtype=self.torch.double)


class BoTorchGp(BoTorch):
    """SingleTaskGP with its defaults (standardised outcomes, priors scaled by dimension), fitted before
    each ask, and an analytic acquisition function maximised from 10 starts of 512 raw samples. It makes up five initial points,
    as many as Ax begins with, with Sobol's."""

    N_INIT = 5

    def ask(self):
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.optim import optimize_acqf
        from gpytorch.mlls import ExactMarginalLogLikelihood

        if len(self.x) < self.N_INIT:
            asked = len(self.x) + len(self.failures.waiting)
            return self.sobol(asked + 1, self.seed)[asked].tolist()
        y = self.tensor(self.y).unsqueeze(-1)
        model = SingleTaskGP(self.tensor(self.x), y)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        x, _ = optimize_acqf(
            self.acquisition(model, y.max()), bounds=self.bounds(), q=1, num_restarts=10, raw_samples=512
        )
        return x[0].clamp(0, 1).tolist()


class BoTorchGpEi(BoTorchGp):
    def acquisition(self, model, best):
        from botorch.acquisition import LogExpectedImprovement

        return LogExpectedImprovement(model, best_f=best)


class BoTorchSeveral(BoTorch):
    """A SingleTaskGP with its defaults for each outcome. Several goals: qLogNoisyExpectedHypervolumeImprovement with 128 samples;
    one: LogConstrainedExpectedImprovement over the best feasible value, or while there is none the log probability of being
    feasible. A trial in which anything failed is left out. Starts as BoTorchGp does."""

    N_SAMPLES = 128

    def __init__(self, dim, seed, budget, goals):
        super().__init__(dim, seed, budget)
        self.goals, self.n_asked = goals, 0

    def tell(self, x, values):
        if None not in values:
            self.x.append(x)
            self.y.append(values)

    def ask(self):
        from botorch.optim import optimize_acqf

        self.n_asked += 1
        if len(self.x) < BoTorchGp.N_INIT:
            return self.sobol(self.n_asked, self.seed)[-1].tolist()
        acquisition = self.for_one_goal if len(maximised(self.goals)) < 2 else self.for_several_goals
        x, _ = optimize_acqf(
            acquisition(self.tensor(self.x), self.tensor(self.y)),
            bounds=self.bounds(),
            q=1,
            num_restarts=10,
            raw_samples=512,
        )
        return x[0].clamp(0, 1).tolist()

    def model(self, x, y):
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import ModelListGP, SingleTaskGP
        from gpytorch.mlls import SumMarginalLogLikelihood

        model = ModelListGP(*[SingleTaskGP(x, y[:, k : k + 1]) for k in range(y.shape[1])])
        fit_gpytorch_mll(SumMarginalLogLikelihood(model.likelihood, model))
        return model

    def for_several_goals(self, x, y):
        from botorch.acquisition.multi_objective.logei import qLogNoisyExpectedHypervolumeImprovement
        from botorch.acquisition.multi_objective.objective import IdentityMCMultiOutputObjective
        from botorch.sampling import SobolQMCNormalSampler

        wanted = maximised(self.goals)
        return qLogNoisyExpectedHypervolumeImprovement(
            model=self.model(x, y),
            ref_point=[self.goals[k]["reference"] for k in wanted],
            X_baseline=x,
            sampler=SobolQMCNormalSampler(self.torch.Size([self.N_SAMPLES]), seed=self.seed),
            objective=IdentityMCMultiOutputObjective(outcomes=wanted),
            constraints=[lambda z, k=k, bound=bound: bound - z[..., k] for k, bound in bounds(self.goals)] or None,
            prune_baseline=True,
        )

    def for_one_goal(self, x, y):
        from botorch.acquisition.analytic import LogConstrainedExpectedImprovement, LogProbabilityOfFeasibility

        limits = {k: (bound, None) for k, bound in bounds(self.goals)}
        feasible = self.torch.stack([y[:, k] >= bound for k, (bound, _) in limits.items()]).all(dim=0)
        model = self.model(x, y)
        if not feasible.any():
            return LogProbabilityOfFeasibility(model, constraints=limits)
        (wanted,) = maximised(self.goals)
        return LogConstrainedExpectedImprovement(
            model, best_f=y[feasible, wanted].max(), objective_index=wanted, constraints=limits
        )


class BoTorchGpPi(BoTorchGp):
    def acquisition(self, model, best):
        from botorch.acquisition.analytic import LogProbabilityOfImprovement

        return LogProbabilityOfImprovement(model, best_f=best)


class BoTorchGpUcb(BoTorchGp):
    """With beta = 4, that is, two standard deviations."""

    def acquisition(self, model, best):
        from botorch.acquisition import UpperConfidenceBound

        return UpperConfidenceBound(model, beta=4.0)


class BoTorchTurbo(BoTorch):
    """TuRBO-1 as in BoTorch's tutorial, for batches of one: Matérn-5/2 with an output scale, Thompson
    sampling on a perturbed Sobol set in a box scaled by the lengthscales."""

    LENGTH, LENGTH_MIN, LENGTH_MAX = 0.8, 0.5**7, 1.6
    SUCCESS_TOLERANCE = 10  # the tutorial's; the paper has 3
    MAX_CHOLESKY_SIZE = 10_000

    def __init__(self, dim, seed, budget):
        super().__init__(dim, seed, budget)
        self.failure_tolerance = math.ceil(max(4.0, float(dim)))
        self.n_init = 2 * dim  # the tutorial's, after a restart; Phase I at first
        self.n_restarts = 0
        self.restart([])

    def restart(self, initial):
        self.initial = initial
        self.first = len(self.x)
        self.length, self.successes, self.failures, self.best = self.LENGTH, 0, 0, -math.inf
        self.started = False

    def tell(self, x, y):
        before = len(self.x)
        super().tell(x, y)
        if len(self.x) == before:
            return
        if not self.started:
            self.best = max(self.best, y)
            return
        if y > self.best + 1e-3 * abs(self.best):
            self.successes, self.failures = self.successes + 1, 0
        else:
            self.successes, self.failures = 0, self.failures + 1
        if self.successes == self.SUCCESS_TOLERANCE:
            self.length, self.successes = min(2.0 * self.length, self.LENGTH_MAX), 0
        elif self.failures == self.failure_tolerance:
            self.length, self.failures = self.length / 2.0, 0
        self.best = max(self.best, y)
        if self.length < self.LENGTH_MIN:
            self.n_restarts += 1
            self.restart(self.sobol(self.n_init, self.seed + self.n_restarts).tolist())

    def ask(self):
        if self.initial:
            return self.initial.pop()
        if len(self.x) == self.first:
            return self.uniform()
        self.started = True
        return self.thompson()

    def thompson(self):
        import gpytorch
        from botorch.fit import fit_gpytorch_mll
        from botorch.generation import MaxPosteriorSampling
        from botorch.models import SingleTaskGP
        from gpytorch.constraints import Interval
        from gpytorch.kernels import MaternKernel, ScaleKernel
        from gpytorch.likelihoods import GaussianLikelihood
        from gpytorch.mlls import ExactMarginalLogLikelihood

        torch = self.torch
        x = self.tensor(self.x[self.first :])
        y = self.tensor(self.y[self.first :]).unsqueeze(-1)
        y = (y - y.mean()) / y.std().clamp_min(1e-9) if len(y) > 1 else y - y.mean()
        with gpytorch.settings.max_cholesky_size(self.MAX_CHOLESKY_SIZE):
            likelihood = GaussianLikelihood(noise_constraint=Interval(1e-8, 1e-3))
            kernel = ScaleKernel(
                MaternKernel(nu=2.5, ard_num_dims=self.dim, lengthscale_constraint=Interval(0.005, 4.0))
            )
            model = SingleTaskGP(x, y, covar_module=kernel, likelihood=likelihood, outcome_transform=None)
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))

            centre = x[y.argmax()]
            weights = model.covar_module.base_kernel.lengthscale.squeeze(0).detach()
            weights = weights / weights.mean()
            weights = weights / torch.prod(weights.pow(1.0 / self.dim))
            low = (centre - weights * self.length / 2.0).clamp(0.0, 1.0)
            high = (centre + weights * self.length / 2.0).clamp(0.0, 1.0)

            n = min(5000, max(2000, 200 * self.dim))
            points = low + (high - low) * self.sobol(n, self.seed + len(self.x))
            mask = torch.rand(n, self.dim, dtype=torch.double) <= min(20.0 / self.dim, 1.0)
            empty = torch.where(mask.sum(dim=1) == 0)[0]
            mask[empty, torch.randint(0, self.dim, size=(len(empty),))] = True
            candidates = torch.where(mask, points, centre.expand(n, self.dim))
            with torch.no_grad():
                chosen = MaxPosteriorSampling(model=model, replacement=False)(candidates, num_samples=1)
        return chosen[0].clamp(0, 1).tolist()


class Smac:
    """SMAC: the facade that its authors advise, a Gaussian process (BlackBoxFacade) for up to ten coordinates and a random forest
    (HyperparameterOptimizationFacade) for more, each with its own initial points. `deterministic`: a point is tried once."""

    MAX_DIM_OF_GP = 10

    def __init__(self, dim, seed, budget):
        import tempfile

        from ConfigSpace import ConfigurationSpace, Float
        from smac import BlackBoxFacade, HyperparameterOptimizationFacade, Scenario
        from smac.runhistory import TrialInfo, TrialValue

        self.info, self.value = TrialInfo, TrialValue
        self.folder = tempfile.TemporaryDirectory()
        self.names = [f"x{i}" for i in range(dim)]
        self.space = ConfigurationSpace(seed=seed)
        self.space.add([Float(name, (0.0, 1.0)) for name in self.names])
        scenario = Scenario(
            self.space, deterministic=True, n_trials=max(budget, 2), seed=seed, output_directory=self.folder.name
        )
        facade = BlackBoxFacade if dim <= self.MAX_DIM_OF_GP else HyperparameterOptimizationFacade
        self.smac = facade(scenario, lambda config, seed=0: 0.0, overwrite=True, logging_level=50)
        self.asked = []
        self.failures = WorstForFailures()

    def ask(self):
        info = self.smac.ask()
        x = [float(info.config[name]) for name in self.names]
        self.asked.append((x, info))
        return x

    def tell(self, x, y):
        for x, y in self.failures.values(x, y):  # its own way, an infinite cost, is more than its Gaussian process can take
            self.smac.tell(self.info_of(x), self.value(cost=-y))

    def info_of(self, x):
        from ConfigSpace import Configuration

        own = [(idx, info) for idx, (asked, info) in enumerate(self.asked) if asked == x]
        if own:
            idx, info = own[0]
            del self.asked[idx]
        else:
            config = Configuration(self.space, values=dict(zip(self.names, x)))
            info = self.info(config, seed=self.smac.scenario.seed)
        return info


PEERS = {
    "optuna:tpe": OptunaTpe,
    "optuna:gp": OptunaGp,
    "optuna:cma-es": OptunaCmaEs,
    "pycma": PyCma,
    "skopt": Skopt,
    "hebo": Hebo,
    "smac": Smac,
    "botorch:gp-ei": BoTorchGpEi,
    "botorch:gp-pi": BoTorchGpPi,
    "botorch:gp-ucb": BoTorchGpUcb,
    "botorch:turbo": BoTorchTurbo,
}

# Those that know several outcomes.
SEVERAL = {
    "optuna:tpe": OptunaTpeSeveral,
    "optuna:gp": OptunaGpSeveral,
    "optuna:nsga-ii": OptunaNsga2,
    "pymoo:nsga-ii": PymooNsga2,
    "botorch:gp-ei": BoTorchSeveral,
}

ONE = [{"goal": "maximize"}]


class OneOfSeveral:
    """A peer of several outcomes that is given one."""

    def __init__(self, name, dim, seed, budget):
        self.peer = SEVERAL[name](dim, seed, budget, ONE)

    def ask(self):
        return self.peer.ask()

    def tell(self, x, y):
        self.peer.tell(x, [y])


def start(name, init):
    dim, seed, budget, goals = init["dim"], init["seed"] % 2**31, init["budget"], init.get("goals")
    if goals is None and name in PEERS:
        return PEERS[name](dim, seed, budget)
    if goals is None:
        return OneOfSeveral(name, dim, seed, budget)
    if name not in SEVERAL:
        raise ValueError(f"{name} knows one outcome; choose from {', '.join(SEVERAL)}")
    return SEVERAL[name](dim, seed, budget, goals)


def serve(name, lines, out):
    peer = None
    for line in lines:
        message = json.loads(line)
        if "init" in message:
            peer = start(name, message["init"])
        elif "tell" in message:
            told = message["tell"]
            peer.tell(told["x"], told["values"] if "values" in told else told["y"])
        elif "ask" in message:
            out.write(json.dumps({"x": peer.ask()}) + "\n")
            out.flush()


def main():
    # Only answers go to standard output, whatever a package prints.
    out, sys.stdout = sys.stdout, sys.stderr
    try:
        serve(sys.argv[1], sys.stdin, out)
    except Exception as error:
        out.write(json.dumps({"error": f"{type(error).__name__}: {error}"}) + "\n")
        out.flush()
        sys.exit(1)


if __name__ == "__main__":
    main()
