"""`irpretrain init` reads what the run reads: each folder it accepts can be run, and each refusal says what to do."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from irpretrain.config.corpora import CorpusConfig, QrelsConfig, TopicsConfig
from irpretrain.corpora.file_lists import role_of
from irpretrain.corpora.policy import RecordTally
from irpretrain.corpora.sources import write_shard
from irpretrain.corpora.topics_and_judgements import read_judgements, read_queries, source_files
from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.library import own_folder

JSONL = '{"id": "1", "text": "apple pie"}\n{"id": "2", "text": "pear"}\n'
TOPICS = "q\tapple\n"
QRELS = "q 0 1 1\n"
FAR = "id\ttitle\ttext\n" + "".join(f"{n}\tT\ta text of words, number {n}\n" for n in range(2000))

# Files beside those of a case, which have the place of those of their role.
SOUND = {"documents.jsonl": JSONL, "topics.tsv": TOPICS, "qrels.txt": QRELS}

# Name → files beside sound ones, and how each is read: format, columns.
FOLDERS: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "a spreadsheet": (
        {
            "documents.csv": '\ufeffID;Title;Text\r\n1;Apple;"red;\r\nround"\r\n2;;pear\r\n;;\r\n',
            "queries.csv": "Query ID;Question\r\nq;apple\r\n",
            "qrels.csv": "query_id;docno;relevance\r\nq;1;1\r\n",
        },
        {"mine": {"format": "csv"}, "queries": {"format": "csv"}, "qrels": {"format": "csv"}},
    ),
    "a spreadsheet of judgements with the texts that were judged": (
        {
            "documents.csv": "id,text\n1,apple\n",
            "queries.csv": "id,text\nq,apple\n",
            "qrels.csv": "query_id,query,document_id,document,grade\nq,apple,1,apple,2\n",
        },
        {"qrels": {"format": "csv"}},
    ),
    "Excel's first line": (
        {
            "documents.csv": "\ufeffsep=;\r\nid;text\r\n1;apple, red, round\r\n",
            "queries.csv": "sep=\t\r\nid\ttext\r\nq\tapple\r\n",
            "qrels.txt": "sep=;\nq;1;1\n",
        },
        {
            "mine": {"format": "csv"},
            "queries": {"format": "csv"},
            "qrels": {"format": "csv", "options": {"columns": ["query_id", "document_id", "relevance"]}},
        },
    ),
    "bars": (
        {
            "documents.csv": "id|text\n1|apple, red\n",
            "queries.csv": "q|red apple pie today\n",
            "qrels.csv": "q|1|1\n",
        },
        {
            "mine": {"format": "csv"},
            "queries": {"format": "csv", "options": {"columns": ["id", "text"]}},
            "qrels": {"format": "csv", "options": {"columns": ["query_id", "document_id", "relevance"]}},
        },
    ),
    "longer names": (
        {
            "documents.csv": "Doc ID,Doc Title,Document Text\n1,Apple,red\n",
            "queries.csv": "Query ID,Query Text\nq,apple\n",
            "qrels.csv": "Query ID,Document ID,Relevance Grade\nq,1,1\n",
        },
        {"mine": {"format": "csv"}, "queries": {"format": "csv"}, "qrels": {"format": "csv"}},
    ),
    "longer names, by tabs": (
        {
            "documents.tsv": "DocID\tdoc_text\n1\tapple\n",
            "queries.tsv": "Query ID\tQuery Text\nq\tapple\n",
            "qrels.txt": QRELS,
        },
        {"mine": {"format": "tsv"}, "queries": {"format": "tsv"}},
    ),
    "longer names in JSON": (
        {
            "documents.jsonl": '{"id": "1", "text": "apple", "passage text": "no"}',
            "queries.jsonl": '{"Query ID": "q", "Topic Title": "apple"}',
            "qrels.txt": QRELS,
        },
        {},
    ),
    "judgements by query and document": (
        {"qrels.tsv": "query\tdocument\tgrade\nq\t1\t1.0\n"},
        {"qrels": {"format": "tsv"}},
    ),
    "tables without headers": (
        {
            "documents.csv": '1,"apple, red"\n2,pear\n',
            "queries.csv": "1,red apple\n",
            "qrels.csv": "1,0,1,1\n",
        },
        {
            "mine": {"format": "csv", "options": {"columns": ["id", "text"]}},
            "queries": {"format": "csv", "options": {"columns": ["id", "text"]}},
            "qrels": {
                "format": "csv",
                "options": {"columns": ["query_id", "iteration", "document_id", "relevance"]},
            },
        },
    ),
    "MS MARCO": (
        {
            "collection.tsv": "1\tApples are a fruit.\n2\tPears too.\n",
            "queries.dev.tsv": TOPICS,
            "qrels.dev.tsv": "q\t0\t1\t1\n",
        },
        {"mine": {"format": "tsv", "options": {"columns": ["id", "text"]}}, "queries": {"format": "tsv"}},
    ),
    "MS MARCO's documents": (
        {"documents.tsv": "1\thttps://a.b/c\tApple\tred\n"},
        {"mine": {"format": "tsv", "options": {"columns": ["id", "url", "title", "body"]}}},
    ),
    "headers": (
        {
            "documents.tsv": "id\ttext\n1\tapple\n",
            "queries.tsv": "query_id\tquery\nq\tapple\n",
            "qrels.tsv": "query_id\tdocno\trelevance\nq\t1\t1\n",
        },
        {"mine": {"format": "tsv"}, "queries": {"format": "tsv"}, "qrels": {"format": "tsv"}},
    ),
    "a header of blanks": (
        {"qrels.txt": "qid docid rel\nq 1 1\n"},
        {"qrels": {"format": "tsv"}},
    ),
    "a line break in a cell, far down the file": (
        {"documents.tsv": f'{FAR}x\tT\t"first\nsecond"\n'},
        {"mine": {"format": "csv", "options": {"separator": "\t"}}},
    ),
    "a line break in a cell, at the beginning": (
        {"documents.tsv": f'{FAR[:14]}x\tT\t"first\nsecond"\n{FAR[14:]}'},
        {"mine": {"format": "csv"}},
    ),
    "quotation marks of texts": (
        {"documents.tsv": 'id\ttext\n1\t"Apple" and 5" pear\n2\t"x\n'},
        {"mine": {"format": "tsv"}},
    ),
    "ranx": ({"qrels.json": '{"q": {"1": 1, "2": 0}}'}, {"qrels": {"format": "json"}}),
    "LETOR's folds": (
        {
            "qrels/Readme.md": "Of MQ2007.",
            **{f"qrels/Fold{n}/test.txt": f"{n - 1} qid:q 1:0.5 #docid = {n}\n" for n in (1, 2)},
        },
        {"qrels": {"format": "letor"}},
    ),
    "Health Misinformation": (
        {"topics.xml": "<topics><topic><number>q</number><query>apple</query></topic></topics>"},
        {"queries": {"format": "trec"}},
    ),
    "a readme of judgements": ({"qrels.readme": "Of Cranfield.\n", "qrels": QRELS}, {}),
}


def beside_sound(files: dict[str, str]) -> dict[str, str]:
    """The files and, for each role that none of them has, a sound one."""
    roles = set(map(role_of, files))
    return {name: text for name, text in SOUND.items() if role_of(name) not in roles} | files


def write_folder(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode())
    return folder


@pytest.mark.parametrize("case", FOLDERS)
def test_what_it_accepts_the_run_reads(case: str, tmp_path: Path, monkeypatch, call) -> None:
    files, expected = FOLDERS[case]
    folder = write_folder(tmp_path / "mine", beside_sound(files))
    made = call("init", folder)
    assert made.status == 0, made.err
    overlay = yaml.safe_load((folder / "my-collection.yaml").read_text())
    sections = {"mine": overlay["corpora"]["mine"], **overlay["datasets"]["mine"]}
    for name, described in expected.items():
        assert described == {
            key: sections[name][key] for key in sections[name] if key not in ("path", "about")
        }
    monkeypatch.chdir(folder)
    corpus = CorpusConfig(**sections["mine"])
    counts = write_shard(corpus, corpus.path, 0, tmp_path / "documents", tmp_path / "redirects")
    assert not counts["malformed"]
    names = DOCUMENTS.read(tmp_path / "documents")["document_id"].to_pylist()
    assert f"; {len(names):,} document" in made.err
    is_read_as_csv = case == "a line break in a cell, far down the file"
    assert ("quoted cells go on in the next line, so the table is read as csv" in made.err) == is_read_as_csv
    topics, qrels = TopicsConfig(**sections["queries"]), QrelsConfig(**sections["qrels"])
    queries = read_queries(topics, source_files(topics, topics.path), RecordTally(topics.malformed, ""))
    judged = read_judgements(qrels, source_files(qrels, qrels.path), RecordTally(qrels.malformed, ""))
    assert queries.keys() == judged.keys()
    # By these a plan says what the run costs.
    numbers = {"mine": len(names), "queries": len(queries), "qrels": 0}
    numbers["qrels"] = sum(grade > 0 for grades in judged.values() for grade in grades.values())
    assert numbers == {name: sections[name]["about"] for name in numbers}
    assert {name for grades in judged.values() for name in grades} <= {*names}


# Name → files beside sound ones, and words of the refusal.
REFUSED: dict[str, tuple[dict[str, str], str]] = {
    "far fault": ({"documents.tsv": FAR + FAR[:14] * 9}, "header within the table"),
    "unknown columns": (
        {"documents.csv": "doc no,inhalt\n1,apple\n"},
        "--option id_field=NAME --option 'body_fields=[NAME]'",
    ),
    "unclear header": ({"documents.tsv": "one\tapple\n"}, "--option 'columns=[id, text]'"),
    "a spreadsheet": ({"documents.xlsx": "PK\x03\x04"}, "Save the sheet as CSV (UTF-8), and give that."),
    "a spreadsheet called CSV": (
        {"documents.csv": "PK\x03\x04" + 26 * "x" + "[Content_Types].xml"},
        "Save the sheet as CSV (UTF-8), and give that.",
    ),
    "grades of halves": ({"qrels.txt": "q 0 1 0.5\n"}, "(for 0, 0.5, 1 write 0, 1, 2)"),
    "unclear columns of judgements": (
        {"qrels.csv": "query_id,document_id\nq,1\n"},
        "each line needs a grade, in one of the columns relevance, ",
    ),
    "a header of two unknown columns of judgements": (
        {"qrels.csv": "question,answer\nq1,1\n"},
        "the file has question, answer\n  Name it in the first line.\n",
    ),
    "two columns of queries": (
        {"qrels.csv": "query_id,qid,docno,rel\nq,q,1,1\n"},
        "Rename one of them in the first line.\n",
    ),
    "twice": ({"documents.jsonl": JSONL + JSONL}, "document id '1' occurs twice"),
    "queries alone": (
        {"queries.txt": "red apple\npear\n"},
        """number them: awk '{print NR "\\t" $0}' FILE""",
    ),
    "twice in a spreadsheet": (
        {"documents.csv": "id,text\n1,a\n1,b\n"},
        "(record 2)\n  Identifiers must be unique: delete all but one of these documents, or rename them.",
    ),
    "decimal commas": ({"qrels.csv": "q;1;1,0\n"}, "Write whole numbers (2, not 2,0)"),
    "blanks behind commas": ({"qrels.csv": "q, 1, 1\n"}, "around it: remove them (TRIM in a spreadsheet)"),
    "unknown documents": ({"qrels.txt": "q 0 7 1\n"}, "1 of 1 judged document is not among the documents"),
    "nothing relevant": ({"qrels.txt": "q 0 1 0\n"}, "none of its 1 judgement marks a document as relevant"),
    "zeros": ({"qrels.txt": "q 0 01 1\n"}, "documents.jsonl has 1 in place of 01"),
    "no title": ({"topics.txt": "<top><num>q<desc>apple</top>"}, "--topics-option 'fields=[description]'"),
    "three columns": ({"qrels.txt": "q 1 1\n"}, "awk '{print $1, 0, $2, $3}'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_says_what_to_do(case: str, tmp_path: Path, call) -> None:
    files, words = REFUSED[case]
    refused = call("init", write_folder(tmp_path, beside_sound(files)))
    assert (refused.status, words in refused.err, "Traceback" in refused.err) == (2, True, False)
    assert not (tmp_path / "my-collection.yaml").exists()


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (["all.xlsx"], "all.xlsx: this is a workbook, which is not read\n  Save each sheet as a CSV file"),
        (["a.csv", "b.csv"], "nothing here is named like qrels (judgements): the folder has a.csv, b.csv\n"),
        ([], "nothing here is named like qrels (judgements): the folder is empty\n"),
    ],
)
def test_a_folder_without_the_three_files_is_described(
    files: list[str], words: str, tmp_path: Path, call
) -> None:
    refused = call("init", write_folder(tmp_path, dict.fromkeys(files, "PK")))
    assert (refused.status, words in refused.err) == (2, True)


def test_a_folder_of_judgements_asks_for_one_of_its_files(tmp_path: Path, call) -> None:
    """As BEIR's qrels; where one file is there, it is taken."""
    table = "query-id\tcorpus-id\tscore\nq\t1\t1\n"
    write_folder(tmp_path, {"documents.jsonl": JSONL, "topics.tsv": TOPICS})
    write_folder(tmp_path / "qrels", {"train.tsv": table, "test.tsv": table})
    refused = call("init", tmp_path)
    assert "qrels: this is a folder; test.tsv and train.tsv could be the qrels" in refused.err
    assert "Give the path in the folder: --qrels PATH" in refused.err
    assert call("init", tmp_path, "--qrels", "qrels/test.tsv", "-o", "-").status == 0
    (tmp_path / "qrels/train.tsv").unlink()
    assert "path: qrels/test.tsv" in call("init", tmp_path, "-o", "-").out


def test_it_says_what_it_has_not_read(tmp_path: Path, monkeypatch, call) -> None:
    files = beside_sound({"documents.jsonl": JSONL + "{broken\n", "qrels.txt": "q 0 9 1\n"})
    monkeypatch.setattr(own_folder, "MAX_DOCUMENTS", 1)
    made = call("init", write_folder(tmp_path, files), "--output", "-")
    assert "; 1 document in documents.jsonl (jsonl), the first of more: the others are not read" in made.err
    assert "about" not in yaml.safe_load(made.out)["corpora"]["mine"]
    monkeypatch.setattr(own_folder, "MAX_DOCUMENTS", 2)
    made = call("init", write_folder(tmp_path, SOUND), "--output", "-")
    assert yaml.safe_load(made.out)["corpora"]["mine"]["about"] == 2


def test_a_format_that_is_named_is_not_guessed(tmp_path: Path, call) -> None:
    folder = write_folder(tmp_path, beside_sound({"documents.tsv": "key\ttext\n1\tapple\n"}))
    said = call("init", folder, "-o", "-", "--format", "tsv", "--option", "id_field=key").out
    assert yaml.safe_load(said)["corpora"]["mine"]["options"] == {"id_field": "key"}


def test_judged_documents_that_are_missing_are_counted(tmp_path: Path, call) -> None:
    files = beside_sound({"qrels.txt": "q 0 1 1\nq 0 9 1\nq 0 8 1\n"})
    said = call("init", write_folder(tmp_path, files), "--output", "-").err
    assert "2 of 3 judged documents are not among the documents, such as 8 (query q)" in said


# Name → a run of others, in which d1 is first.
RUNS = {
    "Tevatron": "q\td2\t12.5\nq\td1\t13.25\n",
    "blanks": "q d2 12.5\nq d1 13.25\n",
    "one line": "q d1 12.5\n",
    "negative scores": "q\td2\t-3\nq\td1\t-2.5e-1\n",
    "ranks": "q\td1\t1\nq\td2\t2\n",
    "ranks and blanks": "q d1 1\nq d2 2\n",
    "ranks and scores": "q\td1\t1\t12\nq\td2\t2\t11.5\n",
    "ranx": '{"q": {"d2": 0.25, "d1": 0.5}}',
    "a header": "Query ID\tdocno\tscore\nq\td2\t1\nq\td1\t2\n",
    "CSV": "qid,docno,score\nq,d2,1\nq,d1,2\n",
    "CSV without a header": "q,d2,1.5\nq,d1,2\n",
    "CSV of ranks without a header": "q,d1,1\nq,d2,2\n",
    "CSV after Excel's first line": "sep=;\nqid;docno;score\nq;d2;1\nq;d1;2\n",
    "CSV without a header after Excel's first line": "sep=\t\nq\td2\t1.5\nq\td1\t2\n",
    "TREC": "q Q0 d1 1 2 t\nq Q0 d2 2 1 t\n",
}


@pytest.fixture
def evaluate(tmp_path: Path, call):
    """Return a function that evaluates a run of query q by RR, where d1 is relevant."""

    def evaluated(run: str, qrels: str = "q 0 d1 1\n", name: str = "run", qrels_name: str = "qrels"):
        folder = write_folder(tmp_path, {qrels_name: qrels, name: run})
        return call("evaluate", folder / qrels_name, folder / name, "--measure", "RR", "--csv")

    return evaluated


def mean_of(done) -> str:
    """The mean that a call printed."""
    return done.out.splitlines()[1].split(",")[3]


@pytest.mark.parametrize("case", RUNS)
def test_runs_of_few_columns_are_read(case: str, evaluate) -> None:
    done = evaluate(RUNS[case])
    assert (mean_of(done), "none of its documents is judged" in done.err) == ("1.0", False)


@pytest.mark.parametrize("separator", [",", ";", "\t"], ids=["comma", "semicolon", "tab"])
@pytest.mark.parametrize(
    "header",
    [
        ["Query ID", "Doc ID", "Relevance"],
        ["QueryID", "DocID", "RELEVANT"],
        ["query id", "Document ID", "LABEL"],
        ["Topic", "Doc No", "Grade", "Who judged it"],
        ["query", "document", "relevance", "annotator 1"],
    ],
    ids=lambda names: names[0],
)
def test_columns_are_found_however_a_spreadsheet_writes_them(
    header: list[str], separator: str, evaluate
) -> None:
    def table(*rows: list[str]) -> str:
        return "".join(separator.join([*row, "A B"][: len(header)]) + "\n" for row in rows)

    scored = [*header[:2], "Score", *header[3:]]
    run = table(scored, ["q", "d2", "1"], ["q", "d1", "2"])
    assert mean_of(evaluate(run, table(header, ["q", "d1", "1"]), "run.csv", "qrels.csv")) == "1.0"


@pytest.mark.parametrize(
    "run",
    [
        "q Q0 d2 1 13,25 t\n",
        "q\td2\t13,25\n",
        "q d2 13,25\n",
        "q;d2;13,25\n",
        "qid;docno;score\nq;d2;13,25\n",
        'qid,docno,score\nq,d2,"13,25"\n',
    ],
)
def test_decimal_commas_of_scores_are_refused(run: str, evaluate) -> None:
    refused = evaluate(run).err
    assert "score is not a finite number, such as '13,25'" in refused
    assert "Write decimals with a point (3.5, not 3,5)" in refused


def test_queries_without_a_relevant_document_are_told(evaluate) -> None:
    done = evaluate("q Q0 d1 1 2 t\nr Q0 d1 1 2 t\n", "q 0 d1 1\nr 0 d1 0\n")
    assert mean_of(done) == "0.5"
    assert "no relevant document for 1 of 2 judged queries, such as r: 0 counts, as in trec_eval" in done.err


def test_a_first_line_that_may_be_a_header_is_no_record(evaluate) -> None:
    assert "is needed; the file has q, d1, x" in evaluate("q,d1,x\nq,d2,1\n", name="run.csv").err


def test_whole_numbers_that_fall_have_the_line_that_converts(evaluate) -> None:
    refused = evaluate("q d2 30\nq d1 20\n").err
    assert "ranks fall from line to line, as scores do, such as q, from 30" in refused
    assert """If they are scores: awk '{print $1, "Q0", $2, 0, $3, "run"}'""" in refused
    assert mean_of(evaluate("q Q0 d2 0 30 run\nq Q0 d1 0 20 run\n")) == "0.5", "what awk makes"


def test_results_of_pyterrier_are_a_run(evaluate) -> None:
    """Its docid is a number of its index, beside the identifier docno; its ranks begin at 0."""
    run = "qid,docid,docno,rank,score,query\nq,7,d2,0,3.5,pie\nq,6,d1,1,2.5,pie\n"
    assert mean_of(evaluate(run, name="run.csv")) == "0.5"
