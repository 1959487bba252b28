"""Word-set pairs: frequencies against the exact distributions, likelihoods, ties, skipping, shards."""

import math
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from document_model import DocumentModel
from irpretrain.config.papers import read_preset
from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import DOCUMENTS, GROUPS
from irpretrain.foundation.errors import ConfigError, SetupError
from irpretrain.objectives.groups import Span
from irpretrain.objectives.prop.language_model import CollectionModel
from irpretrain.objectives.prop.options import RopOptions
from irpretrain.objectives.prop.pair_sampler import PairSampler
from irpretrain.objectives.shard import Shard, merge_groups, write_groups
from irpretrain.text.set_sizes import set_size_probabilities
from irpretrain.text.statistics import count_words, merge_counts
from small_documents import write_documents

TEXT = TextConfig(words="alphanumeric")
FIVE_WORDS = "apple apple banana cherry durian"
OTHER = "banana banana cherry elder elder fig fig fig grape grape grape grape"


def options(preset: str = "paper", **given: Any) -> RopOptions:
    """A preset's options, with counts and thresholds that suit a few words."""
    small = {"minimum_count": 1, "stop_list": "none", "short_document_pieces": 0}
    return RopOptions(**{"type": "rop", **read_preset(preset)["objectives"]["rop"], **small, **given})


def patch_sizes(patch: pytest.MonkeyPatch, support: int = 500, mean: float = 3.0, most: int = 20) -> None:
    """Set the size of the support of document-and-sample, and the law of set sizes."""
    module = "irpretrain.objectives.prop.pair_sampler"
    patch.setattr(f"{module}.SUPPORT_SIZE", support)
    patch.setattr(f"{module}.set_size_probabilities", lambda: set_size_probabilities(mean, most))


class Made:
    """Groups of some documents, whose statistics may come from other texts."""

    def __init__(
        self,
        folder: Path,
        texts: Sequence[str],
        chosen: RopOptions,
        collection: Sequence[str] = (),
        seed: int = 1,
    ) -> None:
        count_words(
            write_documents(folder / "collection.parquet", collection or texts),
            TEXT,
            folder / "words.parquet",
        )
        write_documents(folder / "documents.parquet", texts)
        shard = Shard(folder / "documents.parquet", TEXT, seed, statistics=folder / "words.parquet")
        self.counts = write_groups(shard, chosen, folder / "groups.parquet")
        self.groups: list[dict[str, Any]] = GROUPS.read(folder / "groups.parquet").to_pylist()
        self.sampler = PairSampler(folder / "words.parquet", chosen, TEXT, seed)
        self.model: CollectionModel = self.sampler.collection

    def sets(self) -> list[list[str]]:
        return [query["text"].split(" ") for group in self.groups for query in group["queries"]]

    def frequencies(self, words: Sequence[str]) -> np.ndarray:
        found = Counter(words)
        return np.array([found[term] for term in self.model.terms])


def p_value(observed: np.ndarray, probabilities: np.ndarray) -> float:
    """Chi-squared goodness of fit over cells that can be expected at least five times."""
    expected = probabilities * observed.sum()
    assert observed[probabilities == 0].sum() == 0
    seen = expected >= 5
    rest = [observed[~seen].sum()], [expected[~seen].sum()]
    tail = rest[1][0] >= 5
    cells = np.concatenate([observed[seen], rest[0] if tail else []])
    means = np.concatenate([expected[seen], rest[1] if tail else []])
    return float(stats.chisquare(cells, means * cells.sum() / means.sum()).pvalue)


@pytest.mark.parametrize(("rare_words", "length"), [("excluded", 3), ("counted", 5)])
def test_which_words_count_in_a_document_s_length(tmp_path: Path, rare_words: str, length: int) -> None:
    """Stop words ("the", "of") never do, words under the minimum count ("cherry", "fig") where the options say so."""
    text = "the apple apple banana of cherry fig"
    collection = ["apple banana"] * 9 + ["apple banana cherry", "fig"]
    chosen = options(rare_words=rare_words, minimum_count=2, stop_list="inquery", subsampling_threshold=0.0)
    made = Made(tmp_path, [text] * 50, chosen, collection)
    assert made.model.terms == ["apple", "banana"]
    assert DocumentModel(made.model, text.split()).length == length
    mu = made.model.mu
    background = 10 / (20 if rare_words == "excluded" else 22)
    logs = {
        "apple": math.log((2 + mu * background) / (length + mu)),
        "banana": math.log((1 + mu * background) / (length + mu)),
    }
    for group in made.groups:
        expected = [sum(logs[word] for word in query["text"].split(" ")) for query in group["queries"]]
        assert group["scores"] == pytest.approx(expected, rel=1e-6)


def test_normalised_scores_divide_by_the_sum_over_the_support(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patch_sizes(monkeypatch, support=4 + 40)
    # Two draws beside the document's four words can only add "elder", the fifth word of the vocabulary.
    texts = [FIVE_WORDS, "banana elder"]
    chosen = {"support": "document-and-sample", "subsampling_threshold": 0.0}
    made = Made(tmp_path, texts, options(**chosen, score_smoothing="normalised"))
    plain = Made(tmp_path, texts, options(**chosen, score_smoothing="unnormalised"))
    for group, other in zip(made.groups, plain.groups, strict=True):
        assert group["queries"] == other["queries"]
        # Forty draws reach every word, so the support is the vocabulary, over which equation 3 sums to one.
        assert group["scores"] == pytest.approx(other["scores"], rel=1e-5)


@pytest.mark.parametrize("background", ["word-counts", "document-frequencies"])
def test_word_frequencies_follow_the_sub_sampled_language_model(tmp_path: Path, background: str) -> None:
    chosen = options(subsampling_threshold=0.02, background=background)
    made = Made(tmp_path, [FIVE_WORDS] * 4000, chosen, [FIVE_WORDS, OTHER, OTHER])
    observed = made.frequencies([word for words in made.sets() for word in words])
    document = DocumentModel(made.model, FIVE_WORDS.split())
    retained = document.probabilities * made.sampler.keep  # of one draw under sub-sampling: ∝ P(w|D) k(w)
    assert p_value(observed, retained / retained.sum()) > 1e-3
    # The test must be able to fail: without k(w) the fit is hopeless.
    assert p_value(observed, document.probabilities) < 1e-6


def test_words_under_the_subsampling_minimum_are_always_kept(tmp_path: Path) -> None:
    """The released code fails on a drawn word with 10 to 99 occurrences."""
    made = Made(tmp_path, ["seldom common"] * 99 + ["common"], options("released"))
    keep = dict(zip(made.model.terms, made.sampler.keep, strict=True))
    assert keep["seldom"] == 1.0 > keep["common"]


def test_counts_are_of_what_was_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    patch_sizes(monkeypatch, most=6)
    made = Made(tmp_path, [FIVE_WORDS] * 300, options(), [FIVE_WORDS, OTHER])
    inside, words = set(FIVE_WORDS.split()), [word for one in made.sets() for word in one]
    assert made.counts["sequences"] == 2 * made.counts["groups"] == len(made.sets())
    assert made.counts["words_drawn"] == len(words)
    assert made.counts["words_outside_document"] == sum(word not in inside for word in words) > 0
    repeated = sum(len(set(one)) < len(one) for one in made.sets())
    assert made.counts["sets_with_repeated_words"] == repeated > 0
    observed = Counter(str(len(one)) for one in made.sets()[::2])
    assert {size: found["pairs"] for size, found in made.counts["set_sizes"].items()} == observed
    law = np.array([3.0**size / math.factorial(size) for size in range(1, 7)])
    expected = [found["expected"] for found in made.counts["set_sizes"].values()]
    assert expected == pytest.approx(1500 * law / law.sum(), abs=1e-3)


def test_equal_products_tie_whatever_rounding_says(tmp_path: Path) -> None:
    """{apple, elder} and {cherry, durian} have 0.3 · 0.1 = 0.2 · 0.15 in `test_language_model`'s collection."""
    collection = [FIVE_WORDS, "banana banana cherry elder elder"]
    made = Made(tmp_path, [FIVE_WORDS] * 3000, options(subsampling_threshold=0.0), collection)
    exact = {"apple": 6, "banana": 5, "cherry": 4, "durian": 3, "elder": 2}  # twentieths
    products = [[math.prod(exact[w] for w in q["text"].split()) for q in g["queries"]] for g in made.groups]
    assert all(first >= second for first, second in products)
    tied = [first == second for first, second in products]
    assert [g["scores"][0] == g["scores"][1] for g in made.groups] == tied
    assert made.counts["ties"] == sum(tied) > 1000


def test_documents_without_vocabulary_words_are_skipped_and_counted(tmp_path: Path) -> None:
    texts = [FIVE_WORDS, "", "the of and", "... !", OTHER]
    made = Made(tmp_path, texts, options(stop_list="inquery"))
    assert made.counts["documents"] == 5
    assert made.counts["skipped"] == {"no_vocabulary_words": 3, "short": 0}
    assert {group["position"] for group in made.groups} == {0, 4}


def test_a_shard_without_documents_gives_a_table_without_groups(tmp_path: Path) -> None:
    count_words(write_documents(tmp_path / "collection.parquet", [OTHER]), TEXT, tmp_path / "words.parquet")
    empty = write_documents(tmp_path / "documents.parquet", [])
    shard = Shard(empty, TEXT, 1, statistics=tmp_path / "words.parquet")
    counts = write_groups(shard, options(), tmp_path / "groups.parquet")
    assert counts["documents"] == counts["pairs"] == GROUPS.count(tmp_path / "groups.parquet") == 0


def test_short_documents_are_skipped_by_their_word_pieces(
    tmp_path: Path, make_store: Callable[..., Path]
) -> None:
    texts = ["word01 word02 word03", "word01 word02 word03 word04"] * 1000
    store = make_store({f"d{number}": text for number, text in enumerate(texts)})
    count_words(write_documents(tmp_path / "documents.parquet", texts), TEXT, tmp_path / "words.parquet")
    shard = Shard(
        tmp_path / "documents.parquet", TEXT, 1, tokens=store, statistics=tmp_path / "words.parquet"
    )
    chosen = options("released", short_document_pieces=4, short_document_skip=0.8)
    counts = write_groups(shard, chosen, tmp_path / "groups.parquet")
    assert stats.binomtest(counts["skipped"]["short"], 1000, 0.8).pvalue > 1e-3
    positions = Counter(row["position"] % 2 for row in GROUPS.read(tmp_path / "groups.parquet").to_pylist())
    assert positions == {0: 5 * (1000 - counts["skipped"]["short"]), 1: 5000}
    cut = TEXT.model_copy(update={"max_word_pieces": 3})
    with pytest.raises(
        ConfigError, match=r"short_document_pieces: 4 is more than text\.max_word_pieces \(3\)"
    ):
        write_groups(replace(shard, text=cut), chosen, tmp_path / "groups.parquet")
    with pytest.raises(SetupError, match="token store"):
        write_groups(replace(shard, tokens=""), chosen, tmp_path / "groups.parquet")


@pytest.mark.parametrize("preset", ["paper", "released"])
def test_one_shard_and_four_give_the_same_bytes(tmp_path: Path, preset: str) -> None:
    random = np.random.default_rng(8)
    words = np.array([f"w{i}" for i in range(50)])
    texts = [" ".join(random.choice(words, random.integers(0, 12))) for _ in range(300)]
    write_documents(tmp_path / "all.parquet", texts)
    table, chosen = DOCUMENTS.read(tmp_path / "all.parquet"), options(preset)
    merged = {}
    for shards in (1, 4):
        counts, groups = [], []
        for shard in range(shards):
            rows = np.flatnonzero(np.arange(len(texts)) // 32 % shards == shard)
            DOCUMENTS.write(tmp_path / f"documents-{shard}.parquet", table.take(rows))
            counts.append(tmp_path / f"counts-{shard}.parquet")
            count_words(tmp_path / f"documents-{shard}.parquet", TEXT, counts[-1])
        merge_counts(counts, tmp_path / "words.parquet")
        for shard in range(shards):
            groups.append(tmp_path / f"groups-{shard}.parquet")
            documents = tmp_path / f"documents-{shard}.parquet"
            write_groups(Shard(documents, TEXT, 1, statistics=tmp_path / "words.parquet"), chosen, groups[-1])
        merge_groups([groups], tmp_path / "groups.parquet")
        merged[shards] = (tmp_path / "words.parquet").read_bytes(), (tmp_path / "groups.parquet").read_bytes()
    assert merged[1] == merged[4]


@given(
    texts=st.lists(st.text("abcd ", max_size=20), min_size=1, max_size=6),
    changes=st.fixed_dictionaries(
        {
            "sampling": st.sampled_from(["document-language-model", "random"]),
            "support": st.sampled_from(["vocabulary", "document-and-sample"]),
            "background": st.sampled_from(["word-counts", "document-frequencies"]),
            "rare_words": st.sampled_from(["excluded", "counted"]),
            "subsampling_threshold": st.sampled_from([0.0, 1e-5, 0.1]),
            "minimum_count": st.integers(1, 2),
            "pairs_per_document": st.integers(1, 4),
            "generated_pairs": st.sampled_from([None, 4, 7]),
        }
    ),
    support=st.integers(1, 10),
    most=st.integers(1, 5),
)
def test_whatever_the_options_every_group_keeps_the_contract(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[str],
    changes: dict[str, Any],
    support: int,
    most: int,
) -> None:
    collection = [*texts, "a a b b"]
    with pytest.MonkeyPatch.context() as patch:
        patch_sizes(patch, support=support, most=most)
        made = Made(tmp_path_factory.mktemp("any"), texts, options(**changes), collection)
    known = {word for text in collection for word in text.split()}
    counts = made.counts
    skipped = sum(counts["skipped"].values())
    assert counts["documents"] == len(texts)
    drawn = counts["pairs"]
    assert drawn == (len(texts) - skipped) * changes["pairs_per_document"]
    assert len(made.groups) == counts["pairs"]
    positions = sorted({group["position"] for group in made.groups})
    numbers = [(group["position"], group["sample"]) for group in made.groups]
    assert numbers == [(p, n) for p in positions for n in range(changes["pairs_per_document"])]
    for group in made.groups:
        assert group["documents"] == [Span(f"d{group['position']}")._asdict()]
        assert group["anchors"] == []
        assert all((q["document_id"], q["start"], q["end"]) == ("", 0, 0) for q in group["queries"])
        better, worse = group["scores"]
        assert worse <= better <= 1e-9
        sets = [query["text"].split(" ") for query in group["queries"]]
        assert 1 <= len(sets[0]) == len(sets[1]) <= most
        assert set(sets[0] + sets[1]) <= known
    assert sum(size["pairs"] for size in counts["set_sizes"].values()) == drawn


def test_impossible_options_are_named() -> None:
    with pytest.raises(ValueError, match=r"generated_pairs.*keeps 5"):
        options(generated_pairs=4)


def test_the_configuration_does_not_load_compiled_code() -> None:
    modules = "sys, irpretrain.config, irpretrain.objectives.prop.rop"
    program = f"import {modules}; print({{'numba', 'torch'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
