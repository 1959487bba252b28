"""The nine axioms of ARES (Chen et al., SIGIR 2022, section 3.2): what they compare, and how they prefer."""
