"""Re-ranking by the library and the command: the bytes that the workflow's job writes."""

import gzip
import json
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest

from irpretrain import Collection, CrossEncoder, Options, finetune, own_groups, pretrain
from irpretrain.command import main
from irpretrain.config.retrieval import RerankingConfig
from irpretrain.evaluation.runs import falling_scores, read_run
from irpretrain.foundation.errors import ConfigError, InputError
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.retrieval.rerank import CorpusTexts, rerank
from small_documents import write_candidates, write_queries
from tiny_models import write_bert, write_roberta

WORDS = [f"word{number:02}" for number in range(60)]
BODIES = {f"d{n}": " ".join(WORDS[n * 3 : n * 5 + 9]) + ". ab, cd; ef." for n in range(8)}
TITLES = {name: f"word{n:02}" for n, name in enumerate(BODIES)}
QUERY_TEXTS = {"q1": "word01 word02", "q2": "word30, word31 ab"}
CANDIDATES = {"q1": [f"d{n}" for n in range(8)], "q2": ["d7", "d3", "d5"]}
PASSAGES = {"words": 6, "stride": 3}


@pytest.fixture(scope="module")
def collection() -> Collection:
    rows = [{"id": name, "title": TITLES[name], "text": body} for name, body in BODIES.items()]
    return Collection(rows, Options())


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> dict[str, Path]:
    """A pre-trained and a fine-tuned model, one with the head of CEDR-KNRM, and two from elsewhere."""
    folder = tmp_path_factory.mktemp("models")
    groups = Collection(BODIES, encoder=tiny_encoder).groups("rop", minimum_count=1)
    pretrain(groups, folder / "prop", steps=2, batch_groups=2, max_length=24, query_length=8)
    learned = own_groups([("word01", BODIES["d0"]), ("word21", BODIES["d4"])], encoder=folder / "prop")
    finetune(learned, folder / "tuned", epochs=1, max_length=20, query_length=6)
    CrossEncoderModel.from_encoder(tiny_encoder, "cedr-knrm").save(folder / "cedr")
    write_bert(folder / "theirs", labels=2)
    write_roberta(folder / "roberta")
    return {path.name: path for path in folder.iterdir() if (path / "config.json").exists()}


def by_the_workflow(
    model: Path, collection: Collection, options: RerankingConfig, folder: Path, own: bool
) -> Path:
    """Return the run that rule rerank writes."""
    from irpretrain.text.token_store import write_token_store

    text = collection.options.text
    queries = write_queries(folder / "queries", QUERY_TEXTS)
    candidates = write_candidates(folder / "candidates.run.gz", CANDIDATES)
    corpus = CorpusTexts((), [collection.documents], text)
    if own:
        write_token_store(collection.documents, model, text, folder / "tokens")
        corpus = CorpusTexts([folder / "tokens"])
    rerank(model, corpus, queries, candidates, options, folder / "workflow.run.gz")
    return folder / "workflow.run.gz"


@pytest.mark.parametrize("passages", [None, PASSAGES], ids=["whole", "passages"])
@pytest.mark.parametrize("name", ["prop", "cedr", "theirs", "roberta"])
def test_a_collection_is_re_ranked_as_by_the_workflow(
    name: str,
    passages: dict[str, int] | None,
    models: dict[str, Path],
    collection: Collection,
    tmp_path: Path,
) -> None:
    options = {"max_length": 24, "query_length": 8, "depth": 6, "passages": passages}
    is_own = name in ("prop", "cedr")
    run = by_the_workflow(models[name], collection, RerankingConfig(**options), tmp_path, is_own)
    found = collection.rerank(CANDIDATES, QUERY_TEXTS, CrossEncoder(models[name], **options))
    expected = [
        (query, document, place)
        for query, ranking in read_run(run).items()
        for place, (document, _) in enumerate(ranking, 1)
    ]
    assert list(found[["query_id", "doc_id", "rank"]].itertuples(index=False, name=None)) == expected
    scores = [score for ranking in read_run(run).values() for _, score in ranking]
    written = found.groupby("query_id")["score"].agg(lambda some: falling_scores(some.tolist()))
    assert np.float32([score for some in written for score in some]).tolist() == np.float32(scores).tolist()
    texts = collection.texts()
    pairs = [(QUERY_TEXTS[query], texts[document]) for query, document, _ in expected]
    np.testing.assert_allclose(CrossEncoder(models[name], **options).predict(pairs), scores, atol=2e-6)


def test_the_command_writes_the_workflow_s_run(
    models: dict[str, Path], collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = RerankingConfig(max_length=20, query_length=6, depth=6)
    run = by_the_workflow(models["tuned"], collection, options, tmp_path, own=True)
    lines = [{"id": name, "title": TITLES[name], "text": body} for name, body in BODIES.items()]
    Path("documents.jsonl").write_text("\n".join(map(json.dumps, lines)))
    Path("topics.tsv").write_text("".join(f"{query}\t{text}\n" for query, text in QUERY_TEXTS.items()))
    command = ["rerank", "candidates.run.gz", "documents.jsonl", "topics.tsv", "out.run", "--set", "depth=6"]
    assert main([*command, "--model", str(models["tuned"])]) == 0, "lengths are those of its training"
    assert Path("out.run").read_bytes() == gzip.decompress(run.read_bytes())


def test_a_model_reads_as_in_its_training(
    models: dict[str, Path], tiny_encoder: Path, tmp_path: Path
) -> None:
    assert "max_length=24, query_length=8)" in repr(CrossEncoder(models["prop"]))
    assert "max_length=20, query_length=6)" in repr(CrossEncoder(models["tuned"]))
    model = CrossEncoderModel.from_encoder(tiny_encoder)
    model.trained_length, model.trained_reading = 24, {"query_length": 8, "passages": PASSAGES}
    model.save(tmp_path / "model")
    read = CrossEncoder(tmp_path / "model").options
    assert read.passages is not None
    assert (read.max_length, read.query_length, read.passages.words, read.passages.stride) == (24, 8, 6, 3)
    assert CrossEncoder(tmp_path / "model", passages=None).options.passages is None
    again = CrossEncoderModel.load(tmp_path / "model")
    again.save(tmp_path / "again")
    assert CrossEncoder(tmp_path / "again").options == read, "a copy is read alike"


def test_texts_are_ranked_as_sentence_transformers_ranks_them(models: dict[str, Path]) -> None:
    model, texts = CrossEncoder(models["prop"]), [*BODIES.values(), BODIES["d0"]]
    scores = model.predict([("word01", text) for text in texts])
    with pytest.raises(ConfigError, match="top_k: 1 or more are needed"):
        model.rank("word01", texts, top_k=-1)
    ranked = model.rank("word01", texts, top_k=3)
    assert [entry["score"] for entry in ranked] == sorted(scores.tolist(), reverse=True)[:3]
    places = [entry["corpus_id"] for entry in model.rank("word01", texts)]
    assert places.index(0) + 1 == places.index(len(texts) - 1), "equal scores stand in the order of the texts"
    assert model.rank("word01", []) == []
    with_texts = model.rank("word01", iter(texts), top_k=3, return_documents=True)
    assert with_texts == [{**entry, "text": texts[entry["corpus_id"]]} for entry in ranked]


@pytest.mark.parametrize("kind", [tuple, list])
def test_one_pair_has_one_score(kind: Any, models: dict[str, Path]) -> None:
    model, pair = CrossEncoder(models["prop"]), kind(("word01", BODIES["d0"]))
    score = model.predict(pair)
    assert isinstance(score, np.float32)
    assert score == model.predict([pair])[0]
    with pytest.raises(ConfigError, match="pair 0: a text is needed in its position 1, not None"):
        model.predict(kind(("word01", None)))


def frame(query: object, document: object = "d1") -> pd.DataFrame:
    """A table of one candidate."""
    cells = {"qid": [query], "docno": [document]}
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in cells.items()})


TWO_LEVELS = pd.MultiIndex.from_tuples([("a", "b")], names=["k", "k"])


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        (["d1"], "a table with columns such as qid and docno, or a mapping .* is needed"),
        (frame("q1").rename(columns={"docno": "key"}), "one of the columns id, .*; the table has qid, key"),
        (frame("q1").set_index(TWO_LEVELS), "candidates: the index has two levels called k"),
        ({"q1": "d1"}, "candidates of q1: give a list, not 'd1'"),
        ({"q1": ["d1", "d1"]}, "query 'q1' has the document 'd1' twice"),
        ({"q9": ["d1"]}, "query 'q9' has no text among the queries"),
        ({"q1": ["d9"]}, "1 document not in the corpus, such as d9"),
        *(
            (candidates, r"candidates of q1, .* an identifier is")
            for name in (None, 1.5, float("nan"), b"d1")
            for candidates in ({"q1": ["d1", name]}, frame("q1", name))
        ),
        # They were taken for queries called None, 1.0 or nan.
        *((frame(name), "candidates: query ") for name in (None, 1.0, float("nan"), True, "", ["q1"])),
    ],
)
def test_what_is_no_candidates_is_refused(
    candidates: Any, message: str, models: dict[str, Path], collection: Collection
) -> None:
    queries = QUERY_TEXTS | {str(name): "word01" for name in (None, 1.0, float("nan"), True)}
    with pytest.raises((ConfigError, InputError), match=message) as caught:
        collection.rerank(candidates, queries, CrossEncoder(models["prop"]))
    assert "/tmp" not in str(caught.value)


def test_frames_of_other_tools_are_candidates(models: dict[str, Path], collection: Collection) -> None:
    found, model = collection.search(QUERY_TEXTS), CrossEncoder(models["prop"])
    ranked = collection.rerank(found, QUERY_TEXTS, model)
    names_of_ranx = found.rename(columns={"query_id": "q_id"})
    names_of_pyterrier = found.rename(columns={"query_id": "qid", "doc_id": "docno"}).assign(query="apple")
    for frame in (names_of_ranx, names_of_pyterrier, found.set_index(["query_id", "doc_id"])):
        assert collection.rerank(frame, QUERY_TEXTS, model).equals(ranked)


def test_ir_measures_takes_what_a_search_returns(collection: Collection) -> None:
    found = collection.search(QUERY_TEXTS)
    best = found[found["rank"] == 1]
    judgements = [ir_measures.Qrel(row.query_id, row.doc_id, 1) for row in best.itertuples()]
    assert ir_measures.calc_aggregate([ir_measures.RR], judgements, found) == {ir_measures.RR: 1.0}


def test_a_number_and_its_text_are_one_query(models: dict[str, Path], collection: Collection) -> None:
    model = CrossEncoder(models["prop"])
    frame = pd.DataFrame({"qid": pd.Series([1, "1"], dtype=object), "docno": ["d1", "d2"]})
    for candidates in (frame, {1: ["d1"], "1": ["d2"]}):
        ranked = collection.rerank(candidates, {"1": "word01"}, model)
        assert sorted(ranked.doc_id) == ["d1", "d2"]
    with pytest.raises(ConfigError, match="an identifier occurs twice: '1'"):
        collection.rerank(frame, {1: "word01", "1": "word02"}, model)


@pytest.fixture
def rerank_files(models: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Any) -> Any:
    """Return a function that writes a run and calls the command on it, in the folder of `documents.jsonl`."""
    monkeypatch.chdir(tmp_path)

    def reranked(run: str, *options: str) -> Any:
        Path("run").write_text(run)
        return call("rerank", "run", "documents.jsonl", "topics.tsv", "--model", models["prop"], *options)

    return reranked


def test_a_run_of_other_documents_is_refused(rerank_files: Any) -> None:
    Path("documents.jsonl").write_text('{"id": "d0", "text": "word01"}\n')
    Path("topics.tsv").write_text("q1\tword01\n")
    refused = rerank_files("q1 Q0 d9 1 2.0 x\nq7 Q0 d0 1 2.0 x\n")
    assert refused.status == 2
    assert "ERROR: run: 1 document not among the documents, such as d9" in refused.err
    assert "run: left out: 1 of 2 lines, of queries without topics, such as q7" in refused.err


def test_candidates_without_text_are_left_out_as_by_the_workflow_s_drop(
    models: dict[str, Path], rerank_files: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run of others may hold documents that readers leave out; they were called unknown."""
    Path("documents.jsonl").write_text('{"id": "d0", "text": "word01"}\n{"id": "empty", "text": ""}\n')
    Path("topics.tsv").write_text("q1\tword01\nq2\tword02\n")
    printed = rerank_files("q1 Q0 empty 1 3.0 x\nq1 Q0 d0 2 2.0 x\nq2 Q0 empty 1 1.0 x\n", "--set", "depth=1")
    assert printed.status == 0
    assert [line.split()[:4] for line in printed.out.splitlines()] == [["q1", "Q0", "d0", "1"]]
    note = "left out: 2 of 3 candidates, because their documents have no text, such as empty (query q1)"
    assert f"[rerank] NOTE: run: {note}" in printed.err
    collection, model = Collection.read("documents.jsonl"), CrossEncoder(models["prop"])
    queries = {"q1": "word01", "q2": "word02"}
    ranked = collection.rerank({"q1": ["empty", "d0"], "q2": ["empty"]}, queries, model)
    assert ranked["doc_id"].tolist() == ["d0"]
    assert f"candidates: {note}" in capsys.readouterr().err
    assert not len(collection.rerank({"q2": ["empty"]}, queries, model))
    with pytest.raises(ConfigError, match="no document 'empty': it was left out, without text"):
        collection.ranks([("word01", "empty")])
    refused = rerank_files("q1 Q0 empty 1 3.0 x\nq1 Q0 d9 2 2.0 x\n")
    assert refused.status == 2
    assert "1 document not among the documents, such as d9" in refused.err


@pytest.mark.parametrize(
    ("format", "content"),
    [
        ("jsonl", '{"id": "d0", "text": "word01"}\n{"id": "empty", "text": " "}\n'),
        ("tsv", "id\ttext\nd0\tword01\nempty\t\n"),
        (
            "trectext",
            "<DOC><DOCNO>d0</DOCNO><TEXT>a</TEXT></DOC>\n<DOC><DOCNO>empty</DOCNO><TEXT></TEXT></DOC>\n",
        ),
    ],
    ids=["jsonl", "tsv", "trectext"],
)
def test_a_collection_knows_which_documents_have_no_text(tmp_path: Path, format: str, content: str) -> None:
    (tmp_path / "documents").write_text(content)
    collection = Collection.read(tmp_path / "documents", format)
    assert (len(collection), collection.ids_without_text) == (1, {"empty"})
