"""The nine axioms of ARES (Chen et al., SIGIR 2022): what they compare, how they prefer, and what is made of it."""
