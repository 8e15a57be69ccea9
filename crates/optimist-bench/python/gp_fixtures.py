"""What BoTorch says of random Gaussian processes: the fixtures of crates/optimist/tests/gp_fixtures.rs.

Written to standard output as JSON, one case a line. Every case has data, hyper-parameters and query points, and
BoTorch's posterior, log marginal likelihood with its gradient, log-EI, log-PI and UCB for them.
"""

import json
import math
import sys

import torch
from botorch.acquisition.analytic import (
    LogExpectedImprovement,
    LogProbabilityOfImprovement,
    UpperConfidenceBound,
)
from botorch.models import SingleTaskGP
from gpytorch.kernels import MaternKernel, RBFKernel, ScaleKernel
from gpytorch.likelihoods import GaussianLikelihood

DIMENSIONS = [1, 2, 3, 5, 8, 12, 20, 30]
CASES_PER_DIMENSION = 5
N_QUERIES = 3
BETA = 1.7


def main():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(20)
    cases = [case(d, i) for d in DIMENSIONS for i in range(CASES_PER_DIMENSION)]
    lines = ",\n".join(json.dumps(case) for case in cases)
    sys.stdout.write(f"[\n{lines}\n]\n")


def case(d, index):
    n = int(torch.randint(3, 13, ()))
    kernel = ["squared-exponential", "matern-5/2"][index % 2]
    lengthscales = 0.25 * math.sqrt(d) * torch.exp(0.5 * torch.randn(d))
    signal_var = float(torch.exp(0.5 * torch.randn(())))
    noise_var = float(10 ** (-3.5 + 2.5 * torch.rand(())))
    mean = float(torch.randn(()))
    x = rounded(torch.rand(n, d))
    y = rounded(torch.sin(4 * x).sum(-1, keepdim=True) + 0.1 * torch.randn(n, 1))
    queries = rounded(torch.rand(N_QUERIES, d))

    model = SingleTaskGP(
        x,
        y,
        likelihood=GaussianLikelihood(),
        covar_module=ScaleKernel(base_kernel(kernel, d)),
        outcome_transform=None,
    )
    model.covar_module.base_kernel.lengthscale = lengthscales
    model.covar_module.outputscale = signal_var
    model.likelihood.noise = noise_var
    model.mean_module.constant = mean

    value, grad = log_likelihood(model, x, y.squeeze(-1))
    model.eval()
    # A best value far above the data puts some queries deep into the tail of the improvement.
    best = float(y.max()) + [0.0, 0.5, 3.0, 20.0, 100.0][index % 5]
    at = queries.unsqueeze(-2)
    with torch.no_grad():
        posterior = model.posterior(queries)
        return {
            "kernel": kernel,
            "lengthscales": numbers(model.covar_module.base_kernel.lengthscale),
            "signal_var": float(model.covar_module.outputscale),
            "noise_var": float(model.likelihood.noise),
            "mean": float(model.mean_module.constant),
            "x": x.tolist(),
            "y": numbers(y),
            "log_likelihood": value,
            "grad": grad,
            "queries": queries.tolist(),
            "posterior_mean": numbers(posterior.mean),
            "posterior_var": numbers(posterior.variance),
            "best": best,
            "beta": BETA,
            "log_ei": numbers(LogExpectedImprovement(model, best)(at)),
            "log_pi": numbers(LogProbabilityOfImprovement(model, best)(at)),
            "ucb": numbers(UpperConfidenceBound(model, BETA)(at)),
            "default_lengthscale": numbers(SingleTaskGP(x, y).covar_module.lengthscale)[0],
            "default_noise_var": float(SingleTaskGP(x, y).likelihood.noise),
        }


def base_kernel(name, d):
    return RBFKernel(ard_num_dims=d) if name == "squared-exponential" else MaternKernel(nu=2.5, ard_num_dims=d)


def log_likelihood(model, x, y):
    """log N(y; mean, K + noise) without priors; its derivatives in the logs of the positive hyper-parameters."""
    model.train()
    value = model.likelihood(model(x)).log_prob(y)
    natural = {
        "lengthscales": model.covar_module.base_kernel.raw_lengthscale,
        "signal_var": model.covar_module.raw_outputscale,
        "noise_var": model.likelihood.noise_covar.raw_noise,
        "mean": model.mean_module.raw_constant,
    }
    slopes = torch.autograd.grad(value, list(natural.values()))
    constraints = [
        model.covar_module.base_kernel.raw_lengthscale_constraint,
        model.covar_module.raw_outputscale_constraint,
        model.likelihood.noise_covar.raw_noise_constraint,
    ]
    grad = {"mean": float(slopes[3])}
    for (name, raw), slope, constraint in zip(list(natural.items())[:3], slopes, constraints):
        leaf = raw.detach().clone().requires_grad_()
        log = constraint.transform(leaf).log()
        (log_slope,) = torch.autograd.grad(log.sum(), leaf)
        grad[name] = numbers(slope / log_slope)
    grad["signal_var"], grad["noise_var"] = grad["signal_var"][0], grad["noise_var"][0]
    return float(value.detach()), grad


def rounded(values):
    """Four digits: short in JSON, and the same number on both sides."""
    return torch.round(values * 1e4) / 1e4


def numbers(values):
    return values.detach().reshape(-1).tolist()


main()
