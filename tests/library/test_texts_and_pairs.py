"""What the library takes for texts, documents and pairs: iterators count once, missing values are no text."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from irpretrain import (
    Collection,
    CrossEncoder,
    Options,
    TermWeigher,
    own_groups,
    parse_wikitext,
    read_documents,
)
from irpretrain.foundation.contracts import GROUPS
from irpretrain.foundation.errors import ConfigError, InputError
from tiny_models import write_bert

BODIES = {"d0": "apple pie with apple juice", "d1": "pear pie", "d2": "an apple and a pear"}
OPTIONS = Options(word_vectors={"minimum_count": 1, "dimensions": 4})
PAIRS = [("apple pie", "d0"), ("juice", "d1")]
Compute = Callable[[Collection, Iterable[tuple[str, str]]], Any]
COMPUTATIONS: dict[str, Compute] = {
    "ranks": lambda collection, pairs: collection.ranks(pairs),
    "axioms": lambda collection, pairs: collection.axioms(pairs)["rank"],
}


@pytest.fixture(scope="module")
def collection() -> Collection:
    return Collection(BODIES.items(), OPTIONS)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> CrossEncoder:
    directory = write_bert(tmp_path_factory.mktemp("models") / "model", labels=1)
    return CrossEncoder(directory, max_length=32, query_length=8)


@pytest.fixture(scope="module")
def weigher(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> TermWeigher:
    from irpretrain.models.term_weight_regressor import TermWeightRegressor

    directory = tmp_path_factory.mktemp("weighers") / "weigher"
    TermWeightRegressor.from_encoder(tiny_encoder).save(directory)
    return TermWeigher(directory, max_length=32)


@pytest.mark.parametrize("name", COMPUTATIONS)
def test_an_iterator_of_pairs_gives_what_a_list_gives(name: str, collection: Collection) -> None:
    queries, documents = zip(*PAIRS, strict=True)
    values = COMPUTATIONS[name](collection, zip(queries, documents, strict=True))
    assert len(values) == 2
    np.testing.assert_array_equal(values, COMPUTATIONS[name](collection, PAIRS))


def test_a_model_takes_iterators(model: CrossEncoder, weigher: TermWeigher) -> None:
    pairs = [("word01", "word02"), ("word01", "ab cd")]
    np.testing.assert_array_equal(model.predict(iter(pairs)), model.predict(pairs))
    texts = [text for _, text in pairs]
    assert weigher.weigh(iter(texts)) == weigher.weigh(texts)
    assert model.predict([]).shape == (0,)


@pytest.mark.parametrize("name", COMPUTATIONS)
@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("apple", "d9")], "pair 0: the collection has no document 'd9'"),
        ([("apple", "d0"), (None, "d0")], "pair 1: a text is needed in its position 0, not None"),
        (["ab"], "pair 0: a query and an identifier are needed, not 'ab'"),
        ("ab", "pairs: give a list, not 'ab'"),
    ],
    ids=["unknown", "none", "text", "no pairs"],
)
def test_pairs_that_are_none(name: str, pairs: Any, message: str, collection: Collection) -> None:
    with pytest.raises(ConfigError, match=message):
        COMPUTATIONS[name](collection, pairs)


def test_models_refuse_missing_texts(model: CrossEncoder, weigher: TermWeigher) -> None:
    with pytest.raises(ConfigError, match="pair 1: a text is needed in its position 1, not nan"):
        model.predict([("word01", "ab"), ("word01", float("nan"))])
    with pytest.raises(ConfigError, match="text 1: a text is needed, not None"):
        weigher.weigh(["ab", None])
    with pytest.raises(ConfigError, match="texts: give a list, not 'pie'"):
        weigher.weigh("pie")


HALF = "\ud800 apple"
"""Half of a character, as JSON can hold it."""


def test_half_a_character_is_cleaned_everywhere(
    collection: Collection, model: CrossEncoder, weigher: TermWeigher
) -> None:
    whole = HALF.replace("\ud800", "\ufffd")
    for compute in COMPUTATIONS.values():
        np.testing.assert_array_equal(
            compute(collection, [(HALF, "d0")]), compute(collection, [(whole, "d0")])
        )
    np.testing.assert_array_equal(model.predict([(HALF, HALF)]), model.predict([(whole, whole)]))
    assert weigher.weigh([HALF]) == weigher.weigh([whole])
    assert parse_wikitext(HALF).body == whole
    assert parse_wikitext("A pear.").title == ""


@pytest.mark.parametrize("missing", [None, float("nan"), np.float64("nan")], ids=["None", "nan", "numpy"])
def test_missing_values_are_no_text(missing: Any) -> None:
    [text] = Collection([{"document_id": "x", "title": missing, "body": "hello"}]).texts().values()
    assert text == "hello"
    with pytest.raises(ConfigError, match=r"document 1: body: a text is needed, not (None|.*nan)"):
        Collection(["one", {"document_id": "x", "body": missing}])
    with pytest.raises(ConfigError, match="document 0: docno: a text is needed"):
        Collection([{"docno": missing, "text": "hello"}])
    with pytest.raises(ConfigError, match=r"document 0: document_id: a text is needed, not (None|.*nan)"):
        Collection([{"document_id": missing, "body": "hello"}])


def test_missing_values_of_pandas_are_no_text() -> None:
    import pandas as pd

    frame = pd.DataFrame({"document_id": [1, 2], "title": ["one", pd.NA], "body": ["a", "b"]})
    assert Collection(frame.to_dict("records")).texts() == {"1": "one. a", "2": "b"}


def test_dictionaries_have_the_names_of_jsonl_files(tmp_path: Path) -> None:
    documents = [{"id": 7, "title": "Pie", "text": "of apples"}, {"docno": "x", "contents": "pears"}]
    file = tmp_path / "d.jsonl"
    file.write_text("".join(f"{json.dumps(document)}\n" for document in documents))
    expected = {"7": "Pie. of apples", "x": "pears"}
    assert Collection(documents).texts() == Collection.read(file).texts() == expected


def test_a_mapping_holds_texts_by_identifier() -> None:
    collection = Collection(BODIES)
    assert collection.texts() == BODIES
    assert Collection(collection.texts()).texts() == BODIES


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ("pie", "documents: give a list, not 'pie'"),
        ({"document_id": "x", "body": "pie"}, "documents: this is one document; put it into a list"),
        ({"id": "x", "text": "pie"}, "documents: this is one document; put it into a list"),
        ([{"id": "x", "docno": "y", "text": "pie"}], "document 0: 'id' and 'docno' mean the same; give one"),
        (Path("pie.jsonl"), "documents: give a list, not .*Collection.read reads files"),
        ([("a", "b", "c")], "document 0: a text, an identifier and a text, or a mapping is needed"),
        ([7], "document 0: a text, an identifier and a text, or a mapping is needed, not 7"),
        ([("a", None)], "document 0: body: a text is needed, not None"),
        ([{"document_id": "a"}], "document 0: body is missing"),
        ([{"txt": "a"}], "document 0: 'txt' is unknown; known are _id, body, content, contents, doc"),
        ([("a", "x"), ("a", "y")], "document 1: the identifier 'a' occurs twice"),
    ],
)
def test_documents_that_are_none(documents: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Collection(documents)


def test_a_search_by_hand(collection: Collection) -> None:
    """d0 alone has juice, and apple twice; and and a are stop words, so d1 and d2 tie in pear but for their lengths."""
    found = collection.search({"q2": "pear", "q1": "apple juice", "q0": "zebra", "q3": ""}, depth=2)
    rows = found[["query_id", "doc_id", "rank"]].values.tolist()
    assert rows == [["q2", "d1", 1], ["q2", "d2", 2], ["q1", "d0", 1], ["q1", "d2", 2]]
    assert all(ranked["score"].is_monotonic_decreasing for _, ranked in found.groupby("query_id"))


def test_a_search_finds_each_document_at_its_rank(collection: Collection) -> None:
    queries = ["apple pie", "pear", "an apple and juice", "pie pie"]
    found = collection.search(iter(queries), model="ares-bm25")
    pairs = [(queries[int(row.query_id)], row.doc_id) for row in found.itertuples()]
    assert found["rank"].tolist() == collection.ranks(pairs).tolist()
    everything = [(query, name) for query in queries for name in BODIES]
    assert len(found) == np.count_nonzero(collection.ranks(everything))
    assert collection.ranks(everything, 10**40).tolist() == collection.ranks(everything).tolist()
    assert found.equals(collection.search(queries, 10**9, "ares-bm25"))


@pytest.mark.parametrize("query", ["dog", "run", "dogged runs", "the dogs"])
def test_a_query_finds_documents_by_stems_of_words_that_no_document_has(query: str) -> None:
    """Of "running dogs" the query's words have the stems; axioms and ranks find the document too."""
    walk = Collection({"a": "apple pear pie", "b": "pears and pears", "c": "running dogs"}, OPTIONS)
    for model in ("bm25", "ares-bm25"):
        assert walk.search([query], model=model)["doc_id"].tolist() == ["c"]
    assert walk.ranks([(query, "c"), (query, "a")]).tolist() == [1, 0]
    assert walk.axioms([(query, "c"), (query, "a")])["rank"].fillna(-1).tolist() == [1, -1]


@pytest.mark.parametrize("queries", [[], {}, ["zebra"]])
def test_a_search_that_finds_nothing_has_no_rows(queries: Any, collection: Collection) -> None:
    for searched in (collection, Collection([])):
        found = searched.search(queries)
        assert list(found) == ["query_id", "doc_id", "rank", "score"]
        assert not len(found)


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        ("pie", "queries: give a list, not 'pie'"),
        (["pie", None], "query 1: a text is needed, not None"),
        ({"a b": "pie"}, "query 'a b': the identifier 'a b' holds white space"),
        ({7.5: "pie"}, "query 7.5: an identifier is a text or a whole number"),
        ({"a": 7}, "query 'a': a text is needed, not 7"),
    ],
)
def test_queries_that_are_none(queries: Any, message: str, collection: Collection) -> None:
    with pytest.raises(ConfigError, match=message):
        collection.search(queries)


@pytest.mark.parametrize("depth", [0, -1, "two", True])
def test_no_depth_is_refused(depth: Any, collection: Collection) -> None:
    for compute in (collection.search, collection.ranks):
        with pytest.raises(ConfigError, match="depth: a whole number from 1 on is needed, not"):
            compute([], depth)


@pytest.mark.parametrize(
    "names",
    [
        ("document_id", "body"),
        ("Doc ID", "Text"),
        ("Doc ID", "Doc Text"),
        ("docno", "text"),
        ("id", "contents"),
    ],
)
def test_frames_are_documents_and_queries(names: tuple[str, str], capsys: pytest.CaptureFixture) -> None:
    import pandas as pd

    frame = pd.DataFrame({names[0]: [7, 8], names[1]: ["apple pie", "pear"], "year": [1, 2]})
    Collection(frame.assign(titel="Pie"))
    note = "columns that are not read: year, titel (did you mean title?); rename a column to have it read\n"
    assert note in capsys.readouterr().err
    collection = Collection(frame)
    assert dict(collection) == {"7": "apple pie", "8": "pear"}
    assert "documents] NOTE: columns that are not read: year" in capsys.readouterr().err
    assert dict(Collection(frame.set_index(names[0]))) == dict(collection)
    for name, text in (
        ("qid", "query"),
        ("Query ID", "Question"),
        ("topic", "text"),
        ("Query ID", "Query Text"),
    ):
        found = collection.search(pd.DataFrame({name: ["q1", "q2"], text: ["pears", "apples"]}))
        assert found[["query_id", "doc_id"]].values.tolist() == [["q1", "8"], ["q2", "7"]]
    of_pyterrier = pd.DataFrame({"docid": [0], "docno": ["d7"], "text": ["pie"]})
    assert list(dict(Collection(of_pyterrier))) == ["d7"]
    queries = pd.DataFrame({"qid": ["q1"], "query": ["pears"]}).set_index("qid")
    assert collection.search(queries)["query_id"].tolist() == ["q1"]


def test_a_frame_without_identifiers_has_numbers_and_one_of_no_use_is_refused() -> None:
    import pandas as pd

    assert dict(Collection(pd.DataFrame({"text": ["pie", "tart"]}))) == {"0": "pie", "1": "tart"}
    for columns, message in (
        ({"id": ["a"], "abstract": ["pie"]}, "columns text, body, .* needed; the table has id, abstract"),
        ({"id": ["a"], "docno": ["b"], "text": ["pie"]}, "'id' and 'docno' mean the same"),
        ({"id": ["a", "a"], "text": ["pie", "tart"]}, "the identifier 'a' occurs twice"),
        ({"id": ["a"], "text": [float("nan")]}, "a text is needed, not nan"),
    ):
        with pytest.raises(ConfigError, match=message):
            Collection(pd.DataFrame(columns))
    with pytest.raises(ConfigError, match="the table has two columns called text"):
        Collection(pd.DataFrame([["pie", "tart"]], columns=["text", "text"]))
    collection = Collection(["pie"])
    for columns, message in (
        ({"query": ["pie"]}, "queries: one of the columns .* is needed; the table has query"),
        ({"qid": ["q", "q"], "query": ["pie", "tart"]}, "an identifier occurs twice"),
    ):
        with pytest.raises(ConfigError, match=message):
            collection.search(pd.DataFrame(columns))


def test_tables_that_are_no_frames_are_refused_with_what_makes_one_of_them() -> None:
    import pyarrow as pa

    table = pa.table({"docno": ["d1"], "text": ["apple pie"]})
    with pytest.raises(
        ConfigError, match=r"^documents: give a DataFrame of pandas or polars, not a Table, which to_p"
    ):
        Collection(table)
    assert dict(Collection(table.to_pandas())).keys() == {"d1"}


@pytest.mark.parametrize("name", ["docno", "doc_id", "document_id", "Doc ID"])
def test_frames_are_pairs(name: str, collection: Collection, capsys: pytest.CaptureFixture) -> None:
    import pandas as pd

    queries, documents = zip(*PAIRS, strict=True)
    frame = pd.DataFrame({name: documents, "qid": [1, 2], "query": queries, "score": 0.5}, index=[7, 3])
    for compute in COMPUTATIONS.values():
        expected = compute(collection, PAIRS)
        np.testing.assert_array_equal(compute(collection, frame), expected)
        assert "NOTE" not in capsys.readouterr().err
        with_texts = frame.assign(text="a text", title="a title").set_index(name)
        np.testing.assert_array_equal(compute(collection, with_texts), expected)
        assert "columns that are not read: text, title" in capsys.readouterr().err
        assert not len(compute(collection, frame.head(0)))


def test_a_frame_is_pairs_of_documents(collection: Collection) -> None:
    import pandas as pd

    triples = [("apple juice", "d0", "d1"), ("pear", "d0", "d2")]
    frame = pd.DataFrame(triples, columns=["query", "first", "second"], index=[7, 3])
    expected = collection.axiom_preferences(triples)
    assert collection.axiom_preferences(frame).equals(expected)
    assert collection.axiom_preferences(expected[["second", "first", "query"]]).equals(expected)
    assert not len(collection.axiom_preferences(frame.head(0)))


def test_frames_that_are_no_pairs(collection: Collection) -> None:
    import pandas as pd

    found = collection.search({"q": "apple pie"})
    pair = {"query": ["pie", None], "docno": ["d0", "d1"]}
    for frame, message in (
        (found, "pairs: one of the columns query, question is needed; the table has query_id, doc_id"),
        (pd.DataFrame({"query": ["pie"], "text": ["a pie"]}), "pairs: one of the columns id, _id"),
        (pd.DataFrame(pair).assign(doc_id="d0"), "pairs: 'doc_id' and 'docno' mean the same"),
        (pd.DataFrame(pair), "pair 1: a text is needed in its position 0, not (None|nan)"),
    ):
        for compute in COMPUTATIONS.values():
            with pytest.raises(ConfigError, match=message):
                compute(collection, frame)
    with pytest.raises(ConfigError, match="pairs: column first is needed; the table has query, docno"):
        collection.axiom_preferences(pd.DataFrame(pair))


def test_a_frame_is_no_texts_and_no_groups_and_the_message_converts_it(model: CrossEncoder) -> None:
    import pandas as pd

    frame = pd.DataFrame({"query": ["word01"], "text": ["word02"]})
    with pytest.raises(ConfigError, match=r"^pairs: this is a table; give ") as refusal:
        model.predict(frame)
    assert len(model.predict(eval(str(refusal.value).partition("; give ")[2], {"frame": frame}))) == 1
    with pytest.raises(ConfigError, match=r"^groups: this is a table; give frame.to_dict\('records'\)$"):
        own_groups(frame)


def test_a_series_keeps_its_labels() -> None:
    import pandas as pd

    collection = Collection(pd.Series({"a": "apple pie", "b": "pear"}))
    assert dict(collection) == {"a": "apple pie", "b": "pear"}
    found = collection.search(pd.Series(["pear"], index=["q7"]))
    assert found[["query_id", "doc_id"]].values.tolist() == [["q7", "b"]]
    with pytest.raises(ConfigError, match="a label of the series occurs twice"):
        collection.search(pd.Series(["pear", "pie"], index=["q", "q"]))


def test_an_empty_query_of_a_group_is_an_empty_text(tiny_encoder: Path) -> None:
    groups = Collection(BODIES.items(), encoder=tiny_encoder).groups("rop", minimum_count=1)
    rows = GROUPS.read(groups.table).to_pylist()
    rows[0]["queries"][1]["text"] = ""
    GROUPS.write(groups.table, rows)
    assert next(iter(groups)).queries[1] == ""


def test_identifiers_may_be_numbers() -> None:
    fruit = Collection([(7, "apple pie"), ("8", "pear")])
    assert dict(fruit) == {"7": "apple pie", "8": "pear"}
    assert fruit.ranks([("pie", 7), ("pie", "8")]).tolist() == [1, 0]
    assert fruit.search({1: "pear"})[["query_id", "doc_id"]].values.tolist() == [["1", "8"]]


@pytest.mark.parametrize(
    ("name", "format", "text"),
    [
        ("a", "jsonl", '{"id": "d1", "text": "An apple."}\n'),
        ("e", "jsonl", '{"version": "1", "id": "d1", "text": "An apple."}\n'),  # a key of SQuAD
        ("b", "tsv", "id\ttext\nd1\tAn apple.\n"),
        ("c.all", "smart", ".I d1\n.W\nAn apple.\n"),
        ("d", "trectext", "<DOC>\n<DOCNO>d1</DOCNO>\n<TEXT>\nAn apple.\n</TEXT>\n</DOC>\n"),
    ],
)
def test_a_format_that_is_not_named_is_known_by_the_beginning(tmp_path, name, format, text):
    (tmp_path / name).write_text(text)
    [found] = read_documents(tmp_path / name)
    assert (found.document_id, found.body) == ("d1", "An apple.")
    assert [found] == list(read_documents(tmp_path / name, format))
    assert list(Collection.read(tmp_path / name)) == [("d1", "An apple.")]


def test_a_folder_of_several_formats_asks_for_one(tmp_path):
    (tmp_path / "a.tsv").write_text("id\ttext\nd1\tone\n")
    (tmp_path / "b.jsonl").write_text('{"id": "d2", "text": "two"}\n')
    with pytest.raises(InputError, match=r"several formats: a\.tsv \(tsv\) and b\.jsonl \(jsonl\)"):
        Collection.read(tmp_path)
    assert list(Collection.read(tmp_path, "jsonl")) == [("d2", "two")]


@pytest.mark.parametrize(
    ("documents", "other"),
    [("judgments-2019.jsonl", "articles.jsonl"), ("query-logs-articles.jsonl", "corpus.jsonl")],
)
def test_patterns_name_the_files_of_a_folder_that_count(tmp_path: Path, documents: str, other: str) -> None:
    for number, name in enumerate((documents, other)):
        (tmp_path / name).write_text(f'{{"id": "d{number}", "text": "a text"}}\n')
    for format in ("jsonl", None):
        with pytest.raises(InputError, match=r"files=\[PATTERN, …\] in Python"):
            Collection.read(tmp_path, format)
        assert len(Collection.read(tmp_path, format, files=["*.jsonl"])) == 2
        assert list(Collection.read(tmp_path, format, files=[documents])) == [("d0", "a text")]
        [document] = read_documents(tmp_path, format, files=(documents,))
        assert document.document_id == "d0"


@pytest.mark.parametrize("files", ["*.jsonl", [], [3], 3])
@pytest.mark.parametrize("format", ["jsonl", None])
def test_patterns_are_a_list_of_texts(tmp_path: Path, format: str | None, files: Any) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "d", "text": "a text"}\n')
    with pytest.raises(ConfigError, match="files: a list of patterns is needed, not "):
        Collection.read(tmp_path, format, files=files)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ('{"version": "2", "data": []}', "has no documents"),
        ("An apple.\n", "its beginning is that of no format of documents"),
    ],
)
def test_a_file_without_documents_is_refused(tmp_path, text, message):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InputError, match=message):
        list(read_documents(tmp_path / "a.json"))


@pytest.mark.parametrize(
    ("choices", "printed"),
    [
        ({}, "Options()"),
        ({"seed": 2, "text": {"words": "alphanumeric"}}, "Options(seed=2)"),
        ({"preset": "released"}, "Options(preset='released')"),
        ({"text": {"language": "german"}}, "Options(text={'language': 'german'})"),
        (
            {"axioms": {"stemming": "none", "bm25": {"k1": 1.0, "b": 0.87}}},
            "Options(axioms={'stemming': 'none', 'bm25': {'k1': 1.0, 'b': 0.87}})",
        ),
    ],
)
def test_options_print_what_differs_from_the_preset(choices: dict[str, Any], printed: str) -> None:
    options = Options(**choices)
    assert repr(options) == str(options) == printed
    assert eval(printed) == options
