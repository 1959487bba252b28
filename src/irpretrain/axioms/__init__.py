"""ARES (Chen et al., SIGIR 2022): axioms that compare two queries of a document, and what is made of them."""
