"""Compile what draws samples and ranks documents, so that the first run need not: half a minute, once a version.

Called by `envs/install.py` while torch is being fetched. Whatever is not compiled here is compiled at its first use.
"""

from __future__ import annotations

from contextlib import redirect_stderr
from io import StringIO

from irpretrain.library.collection import Collection
from irpretrain.library.options import Options


def main() -> None:
    """Call each compiled part on a few words; the code is kept as `irpretrain.foundation.compiled` says."""
    texts = ["apple pie with apple juice", "a pear and an apple", "pear pie with cream", "cream of pears"]
    vectors = {"minimum_count": 1, "dimensions": 4}
    fruit = Collection(texts, Options(word_vectors=vectors, pseudo_queries={"minimum_count": 1}))
    fruit.word_sets(minimum_count=1)
    fruit.pseudo_queries(temperature=0.5)
    pairs = [("apple pie", "1"), ("cream", "2")]
    fruit.axioms(pairs)
    fruit.ranks(pairs)


if __name__ == "__main__":
    with redirect_stderr(StringIO()):  # how far it is with four documents
        main()
