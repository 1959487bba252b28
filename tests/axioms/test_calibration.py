"""A collection's temperature: ranks as the workflow computes them, whatever the shards; what cannot be calibrated."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_collection import TEXT, MadeCollection, write_shards

from irpretrain.axioms import calibration
from irpretrain.axioms.batch import open_terms
from irpretrain.axioms.calibration import SAMPLE_DOCUMENTS, RankSample, calibrate_temperature
from irpretrain.axioms.pseudo_queries import PseudoQuerySampler, sample_pseudo_queries
from irpretrain.axioms.rank_engine.document_rank import document_ranks
from irpretrain.axioms.rank_intervals import count_in_intervals
from irpretrain.config.axioms import AxiomsConfig, PseudoQueriesConfig
from irpretrain.config.corpora import CorpusConfig
from irpretrain.config.papers import load_published
from irpretrain.corpora.embedded import materialise
from irpretrain.corpora.sources import write_shard
from irpretrain.foundation.contracts import DOCUMENT_QUERIES
from irpretrain.foundation.errors import ConfigError, InputError, IntegrityError
from irpretrain.text.words import find_words

ROOT = Path(__file__).resolve().parents[2]
AXIOMS = AxiomsConfig()
SHARES = load_published(ROOT / "resources/published/ares.yaml").axioms.rank_intervals.shares


class Files(MadeCollection):
    """A collection whose pseudo-queries are ranked."""

    def __init__(self, folder: Path, documents: Sequence[Path]) -> None:
        super().__init__(folder, documents)
        self.postings = self.write_postings(AXIOMS)

    @classmethod
    def of(cls, folder: Path, texts: Sequence[str], shards: int = 1) -> Files:
        return cls(folder, write_shards(folder, texts, shards))

    def sample(self, documents: int = 100, **changes: Any) -> RankSample:
        return RankSample(self.stores, self.statistics, self.postings, AXIOMS, documents, 1, **changes)

    def sampler(self, temperature: float, **given: Any) -> PseudoQuerySampler:
        return PseudoQuerySampler(self.statistics, PseudoQueriesConfig(temperature=temperature, **given), 1)

    def calibrate(
        self, name: str = "temperature.json", documents: int = 60, threads: int = 1, **given: Any
    ) -> dict[str, Any]:
        sample = self.sample(documents, threads=threads)
        return calibrate_temperature(sample, PseudoQueriesConfig(**given), SHARES, self.folder / name)


def web(documents: int, words: int = 60) -> list[str]:
    """Documents of some words that they repeat, between words by Zipf's law; the first two are empty."""
    random = np.random.default_rng(1)
    vocabulary = 4000
    chances = 1 / np.arange(5, vocabulary + 5)
    texts = ["", "the of"]
    for _ in range(documents - 2):
        own = random.choice(vocabulary, 8, p=chances / chances.sum())
        drawn = np.concatenate(
            [random.choice(own, words // 3), random.choice(vocabulary, words, p=chances / chances.sum())]
        )
        texts.append(" ".join(f"w{word}" for word in drawn))
    return texts


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return Files.of(tmp_path_factory.mktemp("web"), web(600))


# The sample


def test_ranks_are_those_of_the_queries_that_the_workflow_draws(files: Files, tmp_path: Path) -> None:
    """Four queries a document are the first four of ten, and their ranks those of their texts."""
    output, options = tmp_path / "queries.parquet", PseudoQueriesConfig(temperature=0.03)
    sample_pseudo_queries(files.stores[0], files.statistics, options, 1, output)
    sample = files.sample()
    chosen = set(sample.document_ids.to_pylist())
    rows = [row for row in DOCUMENT_QUERIES.read(output).to_pylist() if row["document_id"] in chosen]
    queries = [find_words(row["query"], TEXT.words) for row in rows if row["sample"] < 4]
    numbers = [int(row["document_id"][1:]) for row in rows if row["sample"] < 4]
    terms, postings = open_terms(files.statistics, files.postings, AXIOMS)
    found = terms.terms(terms.words([word for query in queries for word in query]))
    wanted = document_ranks(postings, np.array(numbers), found, np.cumsum([0, *map(len, queries)]), depth=50)
    ranks = sample.ranks(files.sampler(0.03, per_document=4))
    assert ranks.tolist() == wanted.tolist()
    assert len(ranks) == 400
    assert len(set(ranks.tolist())) > 5


def test_only_documents_with_words_are_drawn_and_a_larger_sample_holds_a_smaller_one(files: Files) -> None:
    small, large, whole = (files.sample(size).document_ids.to_pylist() for size in (50, 100, 10_000))
    assert len(small) == 50
    assert set(small) < set(large) < set(whole)
    assert whole == [f"d{i}" for i in range(2, 600)]


# Calibration


def test_the_closest_temperature_is_chosen_and_all_that_were_tried_are_reported(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    found = files.calibrate()
    written = json.loads((files.folder / "temperature.json").read_text())
    assert found.pop("temperatures") == len(written["tried"])
    assert found.items() <= written.items()
    assert (found["documents"], found["queries"]) == (60, 240)
    assert written["paper"] == SHARES
    tried = written["tried"]
    assert found["distance"] == min(one["distance"] for one in tried) < 0.25
    assert (found["at_bound"], found["support"]) == (False, "collection")
    for one in tried:
        assert list(one["shares"]) == ["1-2", "3-5", "6-10", "11-50", ">50"]
        assert sum(one["shares"].values()) == pytest.approx(1, abs=1e-5)
        distance = sum(abs(one["shares"][name] - SHARES[name]) for name in SHARES) / 2
        assert one["distance"] == pytest.approx(distance, abs=1e-5)
    # Bisection by the last share ends between two temperatures that differ by a hundredth.
    assert any(
        low["shares"][">50"] < SHARES[">50"] <= high["shares"][">50"]
        and high["temperature"] <= 1.011 * low["temperature"]
        for low, high in pairwise(tried)
    )
    chosen = next(one for one in tried if one["temperature"] == found["temperature"])
    ranks = files.sample(60).ranks(files.sampler(found["temperature"], per_document=4))
    counts = count_in_intervals(ranks, (2, 5, 10, 50))
    assert list(chosen["shares"].values()) == pytest.approx((counts / 240).tolist(), abs=1e-6)
    reported = capsys.readouterr().err.splitlines()
    assert len(reported) == len(tried) + 1
    assert f"chosen: T = {found['temperature']:g}: ranks 1-2: " in reported[-1]


def test_queries_are_drawn_at_the_temperature_that_was_found_unless_one_is_given(
    files: Files, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found, calibrated = files.calibrate()["temperature"], files.folder / "temperature.json"

    def drawn(temperature: float | str, path: Path | None) -> tuple[bytes, float, str]:
        given = PseudoQueriesConfig(temperature=temperature)
        output = tmp_path / "queries.parquet"
        counts = sample_pseudo_queries(files.stores[0], files.statistics, given, 1, output, path)
        return output.read_bytes(), counts["temperature"], capsys.readouterr().err

    at_found, temperature, message = drawn("calibrated", calibrated)
    assert at_found == drawn(found, None)[0]
    assert temperature == found
    assert f"temperature {found:g}: calibrated on the collection\n" in message
    at_half, temperature, message = drawn(0.5, calibrated)
    assert at_half == drawn(0.5, None)[0] != at_found
    assert temperature == 0.5
    assert "temperature 0.5: a number in the configuration" in message


def test_neither_shards_nor_threads_matter(tmp_path: Path) -> None:
    texts = web(150, 30)
    whole, dealt = Files.of(tmp_path / "whole", texts), Files.of(tmp_path / "dealt", texts, 3)
    assert whole.calibrate() == dealt.calibrate(threads=2)
    paths = [one.folder / "temperature.json" for one in (whole, dealt)]
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_the_best_at_a_bound_is_reported(
    files: Files, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(calibration, "LOWEST", 0.1)
    found = files.calibrate("bound.json")
    assert (found["temperature"], found["at_bound"]) == (0.1, True)
    assert capsys.readouterr().err.splitlines()[-1].endswith("a bound of the search")


@pytest.mark.deep
def test_squads_paragraphs_have_the_temperature_that_was_found_by_hand(tmp_path: Path) -> None:
    corpus = CorpusConfig(format="squad", path="embedded:squad-train")
    materialise("squad-train", ROOT / "resources/embedded.yaml", tmp_path / "source")
    write_shard(
        corpus, tmp_path / "source", 0, tmp_path / "documents.parquet", tmp_path / "redirects.parquet"
    )
    files = Files(tmp_path, [tmp_path / "documents.parquet"])
    found = files.calibrate(documents=SAMPLE_DOCUMENTS, minimum_count=1)
    assert found["queries"] == 4000
    assert found["distance"] < 0.1
    assert found["temperature"] == pytest.approx(0.028, rel=0.05)
    tried = json.loads((tmp_path / "temperature.json").read_text())["tried"]
    assert all(low["shares"][">50"] <= high["shares"][">50"] + 0.01 for low, high in pairwise(tried))


# What cannot be


@pytest.mark.parametrize(
    ("texts", "changes", "fault"),
    [
        ([], {}, "none of the 0 documents has a word outside the stop list"),
        (["", "the of"], {"stop_list": "none"}, "none of the 2 documents has a word outside the stop list"),
        # `bat` is a term that stands once, and only `the` occurs often enough for the vocabulary.
        (
            ["bat", "the the the"],
            {"stop_list": "none", "minimum_count": 3},
            "none of the 1 document drawn, such as d0, has a word",
        ),
    ],
)
def test_a_collection_without_words_is_refused(
    tmp_path: Path, texts: list[str], changes: dict[str, Any], fault: str
) -> None:
    files = Files.of(tmp_path / "files", texts)
    with pytest.raises(InputError, match=fault):
        files.calibrate(**changes)
    assert not (tmp_path / "files" / "temperature.json").exists()


def test_nothing_is_drawn_without_a_number(files: Files) -> None:
    with pytest.raises(ConfigError, match="calibrate the collection first"):
        sample_pseudo_queries(
            files.stores[0], files.statistics, PseudoQueriesConfig(), 1, files.folder / "queries"
        )


@pytest.mark.parametrize("text", ["", "{}", '{"temperature": 0}', '{"temperature": "hot"}', None])
def test_a_damaged_temperature_is_refused(files: Files, tmp_path: Path, text: str | None) -> None:
    path, output = tmp_path / "temperature.json", tmp_path / "queries.parquet"
    if text is not None:
        path.write_text(text)
    with pytest.raises(IntegrityError, match="this is not a calibrated temperature"):
        sample_pseudo_queries(files.stores[0], files.statistics, PseudoQueriesConfig(), 1, output, path)
    assert not output.exists()
