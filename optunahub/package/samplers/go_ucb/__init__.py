from .sampler import OptimistSampler


__all__ = ["OptimistSampler"]
