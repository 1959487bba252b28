"""Every ranker gives the scores of its formulas, whatever it is padded or batched with."""

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from references import reference
from small_rankers import LETTERS, TYPES, ids, ranker, score

names = pytest.mark.parametrize("name", TYPES)
texts = st.lists(st.integers(1, len(LETTERS)), max_size=14)
TOLERANCE = 1e-6
"""Between single and double precision."""


@names
@example(query=[], document=[])
@example(query=[1, 2], document=[])
@example(query=[], document=[3, 1])
@given(query=texts.map(lambda words: words[:6]), document=texts)
def test_a_score_is_that_of_the_formulas(name: str, query: list[int], document: list[int]) -> None:
    made = ranker(name)
    document = document * (8 if name.startswith("duet") else 1)  # more words than Duet takes a maximum over
    assert score(made, query, document) == pytest.approx(reference(made, query, document), abs=TOLERANCE)


@names
@given(pairs=st.lists(st.tuples(texts, texts), min_size=1, max_size=4), beyond=st.integers(0, 5))
def test_padding_and_neighbours_change_no_score(
    name: str, pairs: list[tuple[list[int], list[int]]], beyond: int
) -> None:
    made = ranker(name)
    queries, documents = zip(*pairs, strict=True)
    wide = [ids(*some, width=max(map(len, some)) + beyond) for some in (queries, documents)]
    with torch.inference_mode():
        together = made(*wide).numpy()
    alone = np.array([score(made, query, document) for query, document in pairs])
    np.testing.assert_allclose(together, alone, atol=TOLERANCE)


@names
def test_gradients_reach_all_that_is_trained_and_never_the_padding(name: str) -> None:
    made = ranker(name).train()
    made(ids([1, 2, 3], [4]), ids([2, 5, 1, 7, 3], [9, 4])).sum().backward()
    for parameter_name, parameter in made.named_parameters():
        if parameter.requires_grad:
            assert parameter.grad is not None, parameter_name
            assert torch.isfinite(parameter.grad).all()
    if "vectors.weight" in dict(made.named_parameters()) and made.vectors.weight.requires_grad:
        assert not made.vectors.weight.grad[0].any()
        assert made.vectors.weight.grad.any()


@names
def test_a_narrow_format_changes_no_score(name: str) -> None:
    """In bfloat16 a cosine of 0.997 is 1, an exact match."""
    made, pair = ranker(name), (ids([1, 2, 3]), ids([2, 5, 1, 7]))
    with torch.inference_mode():
        wide = made(*pair)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert torch.equal(made(*pair), wide)
