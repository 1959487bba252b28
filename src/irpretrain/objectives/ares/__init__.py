"""ARES (Chen et al., SIGIR 2022): its objective and the sampler of pseudo-queries."""
