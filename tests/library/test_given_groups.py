"""Pre-training and fine-tuning on pairs and groups of one's own."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from irpretrain import Collection, CrossEncoder, Groups, Options, finetune, own_groups, pretrain, read_groups
from irpretrain.foundation.errors import ConfigError, InputError
from irpretrain.library import own_groups as own_groups_module

PAIRS = [
    ("word01 word02", "word01 word02 ab"),
    ("word03", "word03 cd"),
    ("word05 word06", "word06 ef word05"),
]
SHORT = {"max_length": 24, "query_length": 8}


def texts_of(groups: Groups) -> list[tuple[list[str], list[str]]]:
    return [(group.queries, group.documents) for group in groups]


def test_groups_of_one_s_own_stay_as_they_are() -> None:
    given = [
        ("q", ["a word", "another word"]),
        {"queries": ["likelier", "other"], "document": "a text"},
        {"query": "q", "documents": ("another word", "a word"), "scores": [2, 1]},
    ]
    assert sorted(texts_of(own_groups(given))) == [
        (["likelier", "other"], ["a text"]),
        (["q"], ["a word", "another word"]),
        (["q"], ["another word", "a word"]),
    ]


def test_a_pair_is_preferred_to_what_bm25_finds_first() -> None:
    pairs = [("apple", "apple pie"), ("pear", "pear"), ("apple", "green apple"), ("plum", "apple juice")]
    groups = {tuple(group.queries + group.documents[:1]): group.documents for group in own_groups(pairs)}
    assert groups["apple", "apple pie"] == ["apple pie", "apple juice"]
    assert groups["apple", "green apple"] == ["green apple", "apple juice"]
    assert groups["pear", "pear"] == ["pear", "apple pie"], "no other document has a word of the query"
    assert all(len(group.documents) == 4 for group in own_groups([*PAIRS, ("a", "b")], negatives=3))


FRUIT = {"1": "green apple pie", "2": "pear pie", "3": "apple juice", "4": "plum"}
FORMS = {
    "tsv": {
        "corpus.tsv": "id\ttext\n" + "".join(f"{n}\t{t}\n" for n, t in FRUIT.items()),
        "queries.tsv": "q1\tapple\nq2\tpear pie\n",
        "qrels.tsv": "query-id\tcorpus-id\tscore\nq1\t3\t2\nq1\t2\t0\nq1\t9\t1\nq1\t8\t1\nq2\t2\t1\n",
    },
    "jsonl": {
        "corpus.jsonl": "".join(json.dumps({"_id": n, "text": t}) + "\n" for n, t in FRUIT.items()),
        "queries.jsonl": '{"_id": "q1", "text": "apple"}\n{"_id": "q2", "text": "pear pie"}\n',
        "judgements.json": '{"q1": {"3": 2, "2": 0, "9": 1, "8": 1}, "q2": {"2": 1}}',
    },
}
"""Documents, topics and judgements as files; documents 8 and 9 are judged and missing."""


@pytest.mark.parametrize("form", FORMS)
def test_a_folder_s_relevant_documents_are_preferred_to_what_bm25_finds_first(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    for name, text in FORMS[form].items():
        (tmp_path / name).write_text(text)
    groups = texts_of(read_groups(tmp_path))
    assert groups == [
        (["pear pie"], ["pear pie", "green apple pie"]),
        (["apple"], ["apple juice", "green apple pie"]),
    ]
    assert "2 relevant documents not among the 4 documents, such as 8; left out." in capsys.readouterr().err


def test_relevant_documents_that_bm25_does_not_find_teach_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    """Beside BM25's best they would teach against shared words; a topic of which it finds none keeps all."""
    monkeypatch.setattr(own_groups_module, "CANDIDATES", 2)
    texts = ["pear pie", "pear", "apple cake", "bread and butter", "milk", "pear juice and more"]
    documents = "".join(f"{number}\t{text}\n" for number, text in enumerate(texts))
    (tmp_path / "documents.tsv").write_text(f"id\ttext\n{documents}")
    (tmp_path / "topics.tsv").write_text("1\tpear\n2\tdrink\n")
    (tmp_path / "qrels.txt").write_text("1 0 1 1\n1 0 3 1\n1 0 5 1\n2 0 4 1\n2 0 5 1\n")
    groups = [(group.queries[0], group.document_ids) for group in read_groups(tmp_path)]
    assert [(query, names[0]) for query, names in groups] == [("pear", "1"), ("drink", "4"), ("drink", "5")]
    assert groups[0][1] == ["1", "0"], "no relevant document is a negative"
    assert "2 relevant documents not among BM25's first 2 of their topic" in capsys.readouterr().err


def test_a_folder_without_its_three_files_is_refused(tmp_path: Path) -> None:
    for name, text in FORMS["tsv"].items():
        (tmp_path / name).write_text(text.replace("\t3\t2", "\t7\t2").replace("\t2\t1", "\t8\t1"))
    with pytest.raises(InputError, match="no relevant document of the topics is among the 4 documents"):
        read_groups(tmp_path)
    (tmp_path / "queries.tsv").unlink()
    with pytest.raises(InputError, match=r"named like topics: .*\n  .* its name needs the word topics"):
        read_groups(tmp_path)


@pytest.mark.parametrize("key", ["positives", "few_shot_queries", "optimiser.learning_rate", "keep_models"])
def test_a_key_that_groups_do_not_need_is_refused(key: str, tiny_encoder: Path, tmp_path: Path) -> None:
    section, _, inner_key = key.rpartition(".")
    given = {section: {inner_key: 1}} if section else {key: "all"}
    with pytest.raises(ConfigError, match=f"finetuning.{key} changes nothing here: "):
        finetune(own_groups(PAIRS, tiny_encoder), tmp_path / "tuned", **given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "groups: one or more groups are needed"),
        ("text", "groups: give a list"),
        ([("q", "d")], "group 0: all documents here are of its query; a pair needs another document"),
        ([("q", ["a", "b"]), "text"], "group 1: a query and its documents are needed, not 'text'"),
        ([(["q", "r"], ["a", "b"])], "group 0: 2 queries and 2 documents; one of the two must be"),
        ([("q", ["a", None])], "group 0: documents: a text is needed, not None"),
        ([{"query": "q"}], "group 0: neither document nor documents given"),
    ],
)
def test_what_is_no_group_is_refused(given: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        own_groups(given)


def test_pairs_pre_train_and_fine_tune(tiny_encoder: Path, tmp_path: Path) -> None:
    counts = pretrain(own_groups(PAIRS, tiny_encoder), tmp_path / "own", steps=2, batch_groups=2, **SHORT)
    assert counts["steps"] == 2
    epoch = pretrain(own_groups(PAIRS, tiny_encoder), tmp_path / "epoch", batch_groups=1, **SHORT)
    assert epoch["steps"] == len(PAIRS)
    tuned = finetune(
        own_groups(PAIRS, tmp_path / "own"), tmp_path / "tuned", epochs=2, batch_sizes=[2], **SHORT
    )
    assert (tuned["training_queries"], tuned["validation_queries"]) == (2, 1)
    before, after = (CrossEncoder(tmp_path / name, **SHORT).predict(PAIRS) for name in ("own", "tuned"))
    assert not (before == after).all()
    record = json.loads((tmp_path / "tuned.meta.json").read_text())
    assert (record["stage"], record["counts"]) == ("finetune", tuned)
    assert not (tmp_path / "tuned.checkpoints").exists()
    finetune(
        own_groups(PAIRS, tmp_path / "own"), tmp_path / "tuned", epochs=1, **SHORT
    )  # its own output goes


def test_groups_of_an_objective_fine_tune_where_a_document_is_preferred(
    tiny_encoder: Path, tmp_path: Path
) -> None:
    sentences = [" ".join(f"Word{number + n:02d}" for n in range(5)) + "." for number in range(0, 60, 5)]
    texts = [" ".join(sentences[number : number + 4]) for number in range(0, 12, 4)]
    pretrain(own_groups(PAIRS, tiny_encoder), tmp_path / "start", steps=1, batch_groups=2, **SHORT)
    collection = Collection(texts, Options(), tmp_path / "start")
    counts = finetune(collection.groups("ict"), tmp_path / "tuned", epochs=1, **SHORT)
    assert counts["training_groups"]
    with pytest.raises(ConfigError, match=r"a group has one document and 2 queries.*pretrain learns"):
        finetune(collection.groups("rop", minimum_count=1), tmp_path / "other", epochs=1, **SHORT)


def test_too_few_queries_choose_nothing(tiny_encoder: Path, tmp_path: Path) -> None:
    groups = own_groups(PAIRS[:2], tiny_encoder)
    with pytest.raises(ConfigError, match=r"2 queries are too few to hold some out.*epochs=1"):
        finetune(groups, tmp_path / "tuned")
    with pytest.raises(InputError, match="classifier"):
        finetune(groups, tmp_path / "tuned", epochs=1, **SHORT)  # the encoder has no score head
    assert not list(tmp_path.iterdir()), "nothing is left behind"
    with pytest.raises(InputError, match=r"no folder can be written here\n  Name a folder\."):
        pretrain(groups, "/dev/stdout", steps=1, batch_groups=2, **SHORT)


@pytest.mark.parametrize(
    ("scores", "fault"),
    [
        ([1, 2], "the first sequence is preferred, but has 1, and another 2; put the preferred one first"),
        ([1], "2 numbers are needed"),
        ([1, None], "2 numbers are needed"),
        (["2", "1"], "2 numbers are needed"),
        ([2, float("nan")], "2 numbers are needed"),
    ],
)
def test_scores_agree_with_the_order_of_a_group(scores: list[Any], fault: str) -> None:
    with pytest.raises(ConfigError, match=f"group 0: scores: {fault}"):
        own_groups([{"query": "q", "documents": ["a word", "another word"], "scores": scores}])


def write_fruit(folder: Path, **changes: str) -> Path:
    """Write a folder of documents, topics and judgements; `changes` replace files."""
    files = {
        "documents.tsv": "id\ttext\n" + "".join(f"{n}\t{t}\n" for n, t in FRUIT.items()),
        "topics.tsv": "1\tapple\n2\tpear\n3\tplum\n",
        "qrels.txt": "1 0 3 1\n2 0 2 1\n3 0 4 1\n",
    }
    folder.mkdir(exist_ok=True)
    for name, text in {**files, **changes}.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("topics", "note"),
    [
        ("1\tapple\n2\tpear\n003\tplum\n", "topics.tsv has 003 in place of 3: identifiers differ by zeros"),
        ("1\tapple\n2\tpear\n", "no topic for 1 of 3 judged queries, such as 3"),
        ("1\tapple\n2\tpear\n3\tplum\n9\tmilk\n", "4 topics in topics.tsv (tsv), 3 with a relevant"),
    ],
)
def test_a_folder_s_lost_topics_are_noted(
    topics: str, note: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    read_groups(write_fruit(tmp_path, **{"topics.tsv": topics}))
    assert note in capsys.readouterr().err


@pytest.mark.parametrize(
    ("qrels", "message"),
    [
        ("01 0 3 1\n", "none of the 1 query in it is in .*topics.tsv: .*\n.*in place of"),
        ("1 0 3 0\n", "none of its 1 judgement marks a document as relevant"),
        ("1 0 03 1\n", "1 judged document not in the corpus, such as 03.*\n.*has 3 in place of 03"),
        ("3 0 1 1\n1 0 2 0\n", None),
    ],
)
def test_a_folder_is_checked_as_the_workflow_checks_it(
    qrels: str, message: str | None, tmp_path: Path
) -> None:
    folder = write_fruit(tmp_path, **{"qrels.txt": qrels})
    if message is None:
        assert len(read_groups(folder)) == 1
        return
    with pytest.raises(InputError, match=message):
        read_groups(folder)


@pytest.mark.parametrize(
    "documents",
    [
        "id\ttext\n" + "".join(f"{n}\t{t}\n" for n, t in FRUIT.items()) + "x y\tpie\n",
        "key\tname\n" + "".join(f"{n}\t{t}\n" for n, t in FRUIT.items()),
    ],
    ids=["malformed", "unknown header"],
)
def test_the_advice_on_a_folder_s_documents_runs_as_it_is_written(
    documents: str, tmp_path: Path, tiny_encoder: Path, call
) -> None:
    folder = write_fruit(tmp_path / "own", **{"documents.tsv": documents})
    command = ["pretrain", folder, tmp_path / "model", "--encoder", tiny_encoder]
    for setting in ("steps=1", "batch_groups=2", "max_length=24", "query_length=8"):
        command += ["--set", setting]
    advice = re.search(r"(--(set|option) ('[^']*'|\S+))", call(*command).err)
    assert advice
    assert call(*command, *shlex.split(advice[1])).status == 0
    assert not (tmp_path / "model.checkpoints").exists()


@pytest.mark.parametrize(
    "given",
    [
        [("apple", ["red apple pie apple", "pear"]), ("apple", "green apple"), ("plum", "a plum")],
        [("apple", "green apple"), ("apple", "an apple"), ("plum", "green  apple"), ("pear", "a plum")],
        [(["apple", "pear"], "apple apple"), ("apple", "green apple"), ("plum", "a plum")],
    ],
)
def test_no_drawn_negative_is_a_document_that_a_group_of_the_query_holds(given: list[Any]) -> None:
    pairs = [
        group for group in own_groups(given) if group.queries == ["apple"] and "green" in group.documents[0]
    ]
    assert [group.documents for group in pairs] == [["green apple", "a plum"]]


def test_a_copy_of_a_relevant_document_is_no_negative(tmp_path: Path) -> None:
    documents = "id\ttext\n1\tapple apple\n2\tapple apple\n3\tan apple\n"
    folder = write_fruit(tmp_path, **{"documents.tsv": documents, "qrels.txt": "1 0 1 1\n"})
    assert [group.document_ids for group in read_groups(folder)] == [["1", "3"]]


@pytest.mark.parametrize(
    ("given", "left", "note"),
    [
        ({"query": "a", "document": ""}, None, "left out: 1 × group with an empty text, first group 1"),
        ({"query": " \t", "document": "b"}, None, "left out: 1 × group with an empty text"),
        ({"query": "a", "documents": ["b", ""]}, None, "left out: 1 × group with an empty text"),
        ({"query": "a", "documents": ["", "b", "c"]}, None, "left out: 1 × group with an empty text"),
        ({"query": "a", "documents": ["b", "", "c"]}, ["b", "c"], "left out: 1 × empty text, first group 1"),
        ({"query": "a", "documents": ["b c", "b  c "]}, None, "left out: 1 × group of equal texts"),
        ({"query": "a", "documents": ["b", "c", "b", "c"]}, ["b", "c"], "left out: 2 × repeated text"),
        ({"queries": ["a", "a"], "document": "b"}, None, "left out: 1 × group of equal texts"),
    ],
)
def test_texts_that_teach_nothing_are_left_out(
    given: Any, left: list[str] | None, note: str, capsys: pytest.CaptureFixture
) -> None:
    groups = own_groups([("q", ["x", "y"]), given])
    assert [group.documents for group in groups] == [["x", "y"], *([left] if left else [])]
    assert note in capsys.readouterr().err
    if not left:
        with pytest.raises(ConfigError, match="nothing to learn from is left; left out: 1 ×"):
            own_groups([given])


def test_documents_that_groups_of_a_query_contradict_are_said(
    tiny_encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    against = [("a", ["x", "y"]), ("a", ["y", "x"])]
    with pytest.raises(ConfigError, match=r"1 of 1 query, such as 'a', some groups .* nothing is left"):
        own_groups(against).judged()
    judged = own_groups([*against, ("b", ["x", "y", "z"]), ("b", ["y", "z"]), ("c", ["x", "y"])]).judged()
    assert list(judged.queries.values()) == ["b", "c"]
    said = capsys.readouterr().err
    assert "of 2 of 3 queries, such as 'a', some groups prefer a document that others do not" in said
    assert "1 left out, whose documents are all relevant then" in said
    own_groups([("a", ["x", "y"]), ("a", ["x", "z"]), ("a", "v"), ("b", "w")]).judged()
    assert "some groups" not in capsys.readouterr().err


def test_too_few_documents_for_the_negatives_are_noted(capsys: pytest.CaptureFixture) -> None:
    own_groups(PAIRS, negatives=50)
    note = "pairs of 3 queries have fewer than 50 negatives, the fewest 2"
    assert note in capsys.readouterr().err


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("", "own.jsonl: one or more groups are needed"),
        ('{"query": "a", "documents": null}', "own.jsonl:2: documents: a text is needed, not None"),
        ('{"query": 1.5, "document": "b"}', "own.jsonl:2: query: a text is needed, not 1.5"),
        ('{"query": "a", "document": "b"}', "own.jsonl:2: all documents here are of its query"),
        ('{"query": "a", "documents": ["b", "b"]}', "left out: 1 × group of equal texts, first "),
    ],
)
def test_faults_of_a_file_of_groups_name_file_and_line(
    lines: str, message: str, tmp_path: Path, tiny_encoder: Path, call
) -> None:
    (tmp_path / "own.jsonl").write_text(f"\n{lines}\n")
    pretrained = call("pretrain", tmp_path / "own.jsonl", tmp_path / "out", "--encoder", tiny_encoder)
    tuned = call("finetune", tiny_encoder, tmp_path / "own.jsonl", tmp_path / "out")
    assert pretrained.status == tuned.status == 2
    assert message in pretrained.err
    assert message in tuned.err
