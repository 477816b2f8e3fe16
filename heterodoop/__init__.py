"""HeteroDoop: plain C MapReduce filters on CPUs and GPUs together (after the HPDC'15 paper of that name)."""

__version__ = "0.1.0"
