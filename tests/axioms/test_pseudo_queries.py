"""Pseudo-queries: frequencies against the exact law of the reference, lengths, shards, documents that give none."""

import itertools
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from contrastive_reference import distribution
from hypothesis import given
from hypothesis import strategies as st
from made_collection import TEXT, MadeCollection, write_shards
from scipy import stats

from irpretrain.axioms.contrastive import read_contrastive_model
from irpretrain.axioms.pseudo_queries import PseudoQuerySampler, sample_pseudo_queries
from irpretrain.config.axioms import PseudoQueriesConfig
from irpretrain.foundation.contracts import DOCUMENT_QUERIES
from irpretrain.foundation.errors import IntegrityError
from irpretrain.text.set_sizes import set_size_probabilities
from irpretrain.text.statistics import count_words
from irpretrain.text.word_store import WordStore, write_word_store
from irpretrain.text.words import find_words
from small_documents import write_documents

FIVE_WORDS = "apple apple banana cherry durian"
OTHERS = ["banana cherry elder elder", "banana fig fig grape", "cherry banana grape apple", "banana"]


def options(**given: Any) -> PseudoQueriesConfig:
    return PseudoQueriesConfig(
        **{"stop_list": "none", "minimum_count": 1, "support": "document", "temperature": 1.0, **given}
    )


def patch_lengths(patch: pytest.MonkeyPatch, mean: float = 3.0, most: int = 20) -> np.ndarray:
    """Set the law of lengths; return it."""
    law = set_size_probabilities(mean, most)
    patch.setattr("irpretrain.axioms.pseudo_queries.set_size_probabilities", lambda: law)
    return law


class Made:
    """Pseudo-queries of some documents, whose statistics may come from other texts."""

    def __init__(
        self,
        folder: Path,
        texts: Sequence[str],
        chosen: PseudoQueriesConfig,
        collection: Sequence[str] = (),
        seed: int = 1,
    ) -> None:
        self.statistics, self.store = folder / "words.parquet", folder / "store"
        count_words(
            write_documents(folder / "collection.parquet", collection or texts), TEXT, self.statistics
        )
        documents = write_documents(folder / "documents.parquet", texts)
        write_word_store(documents, self.statistics, TEXT, self.store)
        output = folder / "queries.parquet"
        self.counts = sample_pseudo_queries(self.store, self.statistics, chosen, seed, output)
        self.rows: list[dict[str, Any]] = DOCUMENT_QUERIES.read(output).to_pylist()
        self.queries = [row["query"].split(" ") for row in self.rows]


def successive(probabilities: dict[str, float], length: int) -> Iterator[tuple[tuple[str, ...], float]]:
    """Yield every sequence of words with its probability, each word drawn from what is left."""
    for words in itertools.permutations(probabilities, length):
        chance, left = 1.0, dict(probabilities)
        for word in words:
            chance *= left[word] / sum(left.values())
            del left[word]
        yield words, chance


def assert_law(
    folder: Path, chosen: PseudoQueriesConfig, lengths: np.ndarray, documents: int = 20_000
) -> Made:
    """Compare the frequencies of whole queries with the exact law (chi-square; the seed is fixed)."""
    made = Made(folder, [FIVE_WORDS] * documents, chosen, [FIVE_WORDS, *OTHERS])
    # The queries of a document share their length, so one of each document counts, now the first, now the second.
    independent = [made.queries[2 * number + number % 2] for number in range(documents)]
    model = read_contrastive_model(made.statistics, chosen)
    rows = np.array(WordStore(made.store).words[:5])
    shares = distribution(model, rows, chosen.temperature, chosen.support)
    names = model.words.to_pylist()
    words = {name: float(share) for name, share in zip(names, shares, strict=True) if share > 0}
    expected: Counter[tuple[str, ...]] = Counter()
    for length, probability in enumerate(lengths, 1):
        for sequence, chance in successive(words, min(length, len(words))):
            expected[sequence] += float(probability * chance)
    assert sum(expected.values()) == pytest.approx(1)
    found = Counter(map(tuple, independent))
    assert set(found) <= set(expected)
    rare = {one for one, chance in expected.items() if chance * documents < 5}
    observed = [found[one] for one in expected if one not in rare]
    wanted = [expected[one] * documents for one in expected if one not in rare]
    if rare:
        observed.append(sum(found[one] for one in rare))
        wanted.append(sum(expected[one] for one in rare) * len(made.queries))
    assert stats.chisquare(observed, np.array(wanted) * sum(observed) / sum(wanted)).pvalue > 1e-3
    return made


@pytest.mark.parametrize("temperature", [1.0, 0.2, 0.05])
@pytest.mark.parametrize("support", ["document", "collection"])
def test_queries_follow_the_exact_law(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, support: str, temperature: float
) -> None:
    lengths = patch_lengths(monkeypatch, most=3)
    made = assert_law(tmp_path, options(support=support, temperature=temperature, per_document=2), lengths)
    outside = sum(word not in FIVE_WORDS for query in made.queries for word in query)
    assert made.counts["words_outside_document"] == outside
    assert (outside > 0) == (support == "collection")


def test_the_law_holds_with_many_classes_and_long_queries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = options(support="collection", temperature=0.002, per_document=2)
    made = assert_law(tmp_path, chosen, patch_lengths(monkeypatch, mean=6, most=7))
    sampler = PseudoQuerySampler(made.statistics, chosen, 1)
    assert len(sampler.tables.classes.tops) >= 3
    assert made.counts["lengths"]["7"]["queries"] > 0


@pytest.mark.parametrize("support", ["document", "collection"])
def test_a_tiny_temperature_sorts_by_divergence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, support: str
) -> None:
    patch_lengths(monkeypatch, mean=20)
    chosen = options(support=support, temperature=1e-9)
    made = Made(tmp_path, [FIVE_WORDS], chosen, [FIVE_WORDS, *OTHERS])
    # apple occurs twice; cherry is in three documents of the five, durian in one, banana in four.
    wanted = ["apple", "durian", "cherry", "banana"]
    for query in made.queries:
        assert [word for word in query if word in wanted] == wanted
        assert len(query) == len(set(query)) == (4 if support == "document" else 7)


def test_a_query_is_cut_to_the_words_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    patch_lengths(monkeypatch, mean=30)
    made = Made(tmp_path, ["ape bat ape", "cat"], options(per_document=4))
    assert [sorted(query) for query in made.queries] == [["ape", "bat"]] * 4 + [["cat"]] * 4
    assert made.counts["lengths_cut"] == 8


def test_lengths_are_poisson_and_equal_within_a_document(tmp_path: Path) -> None:
    text = " ".join(f"w{i}" for i in range(20))
    made = Made(tmp_path, [text] * 3000, options(per_document=2))
    lengths = np.array([len(query) for query in made.queries]).reshape(3000, 2)
    assert (lengths[:, 0] == lengths[:, 1]).all()
    probabilities = set_size_probabilities(3.0, 20)
    observed = np.bincount(lengths[:, 0], minlength=21)[1:]
    merged, law = ([*counts[:8], counts[8:].sum()] for counts in (observed, 3000 * probabilities))
    assert stats.chisquare(merged, law).pvalue > 1e-3
    assert made.counts["lengths"]["3"]["expected"] == pytest.approx(6000 * probabilities[2], abs=1e-3)
    assert made.counts["lengths"]["3"]["queries"] == 2 * observed[2]


def test_documents_without_words_of_the_vocabulary_give_no_queries(tmp_path: Path) -> None:
    texts = ["", "the of and", "ape rare", "...", "ape"]
    made = Made(tmp_path, texts, options(stop_list="inquery", minimum_count=2, per_document=3))
    keys = [(row["document_id"], row["position"], row["sample"], row["query_id"]) for row in made.rows]
    assert keys == [(f"d{i}", i, sample, "") for i in (2, 4) for sample in range(3)]
    assert {row["query"] for row in made.rows} == {"ape"}
    assert made.counts["documents"] == 5
    assert made.counts["documents_without_words"] == 3
    assert made.counts["queries"] == 6
    assert made.counts["vocabulary"] == 1


def test_a_shard_without_documents_gives_an_empty_table(tmp_path: Path) -> None:
    made = Made(tmp_path, [], options(), OTHERS)
    assert made.counts["documents"] == made.counts["queries"] == len(made.rows) == 0


def test_hostile_words_come_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    patch_lengths(monkeypatch, mean=30)
    text = 'straße 東京 Ǆungla \u0661\u0662 null "quoted" a\tb\x00c ' + "x" * 10_000
    made = Made(tmp_path, [text], options())
    for query in made.queries:
        assert set(query) == set(find_words(text, "alphanumeric"))


@pytest.mark.parametrize("support", ["document", "collection"])
def test_neither_shards_nor_batches_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, support: str
) -> None:
    texts = [" ".join(f"w{(i * j) % 17}" for j in range(i % 9)) for i in range(60)]
    chosen = options(support=support)
    whole = Made(tmp_path, texts, chosen)
    made = MadeCollection(tmp_path / "shards", write_shards(tmp_path / "shards", texts, 3))
    monkeypatch.setattr("irpretrain.axioms.pseudo_queries.DOCUMENTS_AT_ONCE", 3)
    tables = []
    for store in made.stores:
        sample_pseudo_queries(store, made.statistics, chosen, 1, tmp_path / "shard.parquet")
        tables.append(DOCUMENT_QUERIES.read(tmp_path / "shard.parquet"))
    keys = [(name, "ascending") for name in ("part", "position", "sample")]
    DOCUMENT_QUERIES.write(tmp_path / "together", pa.concat_tables(tables).sort_by(keys).combine_chunks())
    assert (tmp_path / "together").read_bytes() == (tmp_path / "queries.parquet").read_bytes()
    assert len(whole.rows) > 0


def test_the_seed_matters(tmp_path: Path) -> None:
    first, second = (Made(tmp_path / str(seed), [FIVE_WORDS] * 9, options(), seed=seed) for seed in (1, 2))
    assert first.queries != second.queries


def test_a_store_of_other_statistics_is_refused(tmp_path: Path) -> None:
    made = Made(tmp_path / "one", ["ape bat"], options())
    other = Made(tmp_path / "two", ["ape"], options())
    with pytest.raises(IntegrityError, match=r"numbers 2 words, but .* has 1"):
        sample_pseudo_queries(made.store, other.statistics, options(), 1, tmp_path / "queries.parquet")
    assert not (tmp_path / "queries.parquet").exists()


CHOSEN = st.builds(
    options,
    per_document=st.integers(2, 4),
    support=st.sampled_from(["document", "collection"]),
    temperature=st.sampled_from([1e-9, 1e-3, 0.1, 1.0, 1e9]),
    minimum_count=st.integers(1, 2),
)


@given(
    texts=st.lists(st.text("abcdef ", max_size=30), min_size=1, max_size=6),
    chosen=CHOSEN,
    mean=st.sampled_from([0.5, 3.0, 9.0]),
    most=st.integers(1, 12),
)
def test_every_query_is_one_that_its_options_allow(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[str],
    chosen: PseudoQueriesConfig,
    mean: float,
    most: int,
) -> None:
    counted = Counter(word for text in texts for word in text.split())
    vocabulary = {word for word, count in counted.items() if count >= chosen.minimum_count}
    if not vocabulary:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch_lengths(patch, mean, most)
        made = Made(tmp_path_factory.mktemp("queries"), texts, chosen)
    own = [set(text.split()) & vocabulary for text in texts]
    assert Counter(row["position"] for row in made.rows) == {
        i: chosen.per_document for i, words in enumerate(own) if words
    }
    for row, query in zip(made.rows, made.queries, strict=True):
        supported = own[row["position"]] if chosen.support == "document" else vocabulary
        assert set(query) <= supported
        assert 1 <= len(query) <= most
        assert len(set(query)) == len(query)
    by_document = itertools.groupby(zip(made.rows, made.queries, strict=True), lambda one: one[0]["position"])
    assert all(len({len(query) for _, query in group}) == 1 for _, group in by_document)
    assert json.loads(json.dumps(made.counts))["queries"] == len(made.rows)
