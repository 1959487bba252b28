"""Runs of others: what is taken, in which order, and that all that is wrong comes in one message."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.config.retrieval import RunConfig
from irpretrain.evaluation.runs import read_run
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.provenance import sidecar_path
from irpretrain.retrieval.runs_of_others import read_ordered, take_run
from small_documents import write_documents, write_queries

SOUND = (
    "q1 Q0 d1 1 9.5 theirs\nq1 Q0 d2 2 9.5 theirs\nq1 Q0 d3 3 -1e-3 theirs\n"
    "q2 Q0 d3 1 4 theirs\nq2 Q0 d1 2 2 theirs\n"
)


@pytest.fixture
def take(tmp_path):
    """Return a function that takes a run over the queries q1 and q2 and the documents d1 ... d4."""
    queries = write_queries(tmp_path / "queries.parquet", {"q1": "x", "q2": "x"})
    shards = [tmp_path / f"documents-{shard}.parquet" for shard in range(2)]
    for shard, names in zip(shards, (("d1", "d3"), ("d2", "d4")), strict=True):
        write_documents(shard, dict.fromkeys(names, "x"))

    def taken(content: str | bytes | list[str], most: int = 10, **options):
        several = content if isinstance(content, list) else [content]
        files = [tmp_path / f"theirs-{number}.run" for number in range(len(several))]
        for path, text in zip(files, several, strict=True):
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        output = tmp_path / "run.gz"
        output.unlink(missing_ok=True)
        config = RunConfig(path="x", **options)
        counts = take_run(config, files, "theirs", queries, shards, most, output)
        return read_run(output), counts

    taken.folder = tmp_path
    return taken


def test_a_sound_run_is_taken_in_canonical_order(take):
    run, counts = take(SOUND)
    below = float(np.nextafter(np.float32(9.5), np.float32(0)))  # 9.5 again would let trec_eval order by name
    assert run == {
        "q1": [("d1", 9.5), ("d2", below), ("d3", -0.001)],
        "q2": [("d3", 4.0), ("d1", 2.0)],
    }
    assert {name: count for name, count in counts.items() if count} == {
        "written": 5,
        "queries": 2,
        "lines": 5,
        "equal_scores": 1,
    }
    text = gzip.decompress((take.folder / "run.gz").read_bytes()).decode()
    assert text.splitlines()[0] == "q1 Q0 d1 1 9.5 theirs"


def test_order_of_lines_compression_and_number_of_files_do_not_matter(take):
    expected, _ = take(SOUND)
    lines = SOUND.splitlines(keepends=True)
    assert take("".join(reversed(lines)))[0] == expected
    assert take(gzip.compress(SOUND.encode()))[0] == expected
    assert take(["".join(lines[:2]), "".join(lines[2:])])[0] == expected
    assert [len(ranking) for ranking in take(SOUND, 2)[0].values()] == [2, 2]


def test_distances_are_ordered_by_rank(take):
    distances = "q1 Q0 d3 1 0.1 x\nq1 Q0 d1 2 0.7 x\nq2 Q0 d2 1 0.2 x\n"
    with pytest.raises(InputError, match="scores contradict their ranks"):
        take(distances)
    assert take(distances, order_by="rank")[0] == {
        "q1": [("d3", -1.0), ("d1", -2.0)],
        "q2": [("d2", -1.0)],
    }


def test_tables_of_query_document_and_rank(take):
    rows = "q1\td2\t1\nq1\td1\t2\nq2\td4\t1\n"
    assert take(rows, format="tsv")[0] == {"q1": [("d2", -1.0), ("d1", -2.0)], "q2": [("d4", -1.0)]}
    scored = "qid\tpid\tx\tsim\nq1\td2\t?\t0.5\nq2\td1\t?\t0.25\n"
    options = {"columns": ["query_id", "document_id", "text", "score"], "header": True}
    assert take(scored, format="tsv", options=options)[0] == {"q1": [("d2", 0.5)], "q2": [("d1", 0.25)]}
    with pytest.raises(InputError, match=r"2 queries without ranks.*\n.*order_by: score"):
        take(scored, format="tsv", options=options, order_by="rank")


def test_queries_that_the_data_set_does_not_have(take):
    run, counts = take(SOUND + "q3 Q0 d9 1 2 x\n")
    assert list(run) == ["q1", "q2"]
    assert counts["lines_of_other_queries"] == 1


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ("q3 Q0 d1 1 2 x\n", r"none .* a query of the data set, such as q3; the data set has q1"),
        (
            SOUND.replace("q2 ", "q02 ") + "q3 Q0 d9 1 2 x\n",
            r"\n  The data set has q2 in place of q02: identifiers differ by zeros",
        ),
        (SOUND.replace("q", "Q0"), r"\n  The data set has q1 in place of Q01: identifiers differ"),
        (SOUND.replace("d1", "D1"), r"\n  The corpus has d1 in place of D1: identifiers differ"),
        (SOUND.replace("q2 ", "q3 "), r"\n  Check that run, queries and corpus belong together"),
    ],
    ids=["none", "zeros", "capitals", "documents", "others"],
)
def test_other_identifiers_are_refused_with_what_may_be_the_cause(take, run, message):
    with pytest.raises(InputError, match=message):
        take(run)


WRONG = {
    "score": ("q1 Q0 d4 4 nan x\n", "1 lines: score is not a finite number, such as 'nan' (theirs-0.run:6)"),
    "too large": ("q1 Q0 d4 4 1e400 x\n", "Write scores as decimals between -1.7e308 and 1.7e308"),
    "rank": ("q1 Q0 d4 last 4 x\n", "1 lines: rank is not a whole number, such as 'last' (theirs-0.run:6)"),
    "columns": (
        "q1 Q0 d4\n",
        "wrong number of columns, such as 3 instead of 6 (query Q0 document rank score tag)",
    ),
    "twice": (
        "q1 Q0 d1 4 -2 x\n",
        "documents that a query has twice, such as d1 of query q1 (theirs-0.run:6)",
    ),
    "unknown": (
        "q1 Q0 d9 4 -2 x\n",
        "1 documents that the corpus lacks, such as d9 of query q1 (theirs-0.run:6)",
    ),
    "against the ranks": ("q1 Q0 d4 4 99 x\n", "such as q1, ranks 3 and 4 (theirs-0.run:6)"),
}


@pytest.mark.parametrize(("line", "message"), WRONG.values(), ids=WRONG)
def test_what_is_refused(take, line, message):
    with pytest.raises(InputError) as caught:
        take(SOUND + line)
    assert message in str(caught.value)
    assert not (take.folder / "run.gz").exists()


def test_a_run_without_tags_comes_with_the_command_that_adds_them(take):
    with pytest.raises(InputError, match=r"""column is missing: awk '\{print \$0, "run"\}' FILE adds it"""):
        take(SOUND.replace(" theirs\n", "\n"))


def test_all_that_is_wrong_comes_in_one_message(take):
    with pytest.raises(InputError) as caught:
        take("q1 Q0 d1 1 1 x\nq1 Q0 d8 2 2 x\nq1 Q0 d9 4 1 x\nq1 Q0 d9 5 1 x\n")
    text = str(caught.value)
    assert "the run cannot be used\n  - 1 queries of the data set without a document, such as q2" in text
    assert "  - 1 documents that a query has twice, such as d9 of query q1 (theirs-0.run:4)" in text
    assert "  - 1 queries whose scores contradict their ranks" in text
    assert "  - 2 documents that the corpus lacks, such as d8 of query q1 (theirs-0.run:2)" in text
    for key in ("missing_queries: ignore", "unknown_documents: drop", "order_by: rank, or order_by: score"):
        assert key in text.splitlines()[-1]


def test_documents_that_the_corpus_lost_for_lack_of_text_are_named_as_the_cause(take):
    counts = {
        "read": 5,
        "skipped": {"empty document": 1},
        "first_left_out": {"empty document": "c (document d9)"},
    }
    sidecar_path(take.folder / "documents-1.parquet").write_text(json.dumps({"counts": counts}))
    with pytest.raises(InputError, match=r"unknown_documents: drop") as caught:
        take(SOUND + "q1 Q0 d9 4 -2 x\n")
    expected = "1 of 5 documents are left out (1 × empty document), such as c (document d9)."
    assert f"Of the corpus, {expected}" in str(caught.value)


@pytest.mark.parametrize("line", ["q1 Q0 d4 4 nan x", "q1 Q0 d4 4 0.1"])
def test_lines_that_cannot_be_read_are_the_only_fault(take, line):
    with pytest.raises(InputError) as caught:
        take(line)
    reason, remedy = str(caught.value).splitlines()
    assert "the run cannot be used: 1 lines: " in reason
    assert "allows it" not in remedy  # no line is sound
    with pytest.raises(InputError, match=r"malformed: \{skip: <share>\}"):
        take(f"{SOUND}{line}")


def test_ranks_that_say_nothing_leave_the_order_to_the_scores(take):
    expected = [name for name, _ in take(SOUND)[0]["q2"]]
    for first, second in ((0, 0), (7, 2)):
        lines = f"{SOUND.partition('q2')[0]}q2 Q0 d3 {first} 4 x\nq2 Q0 d1 {second} 2 x\n"
        assert [name for name, _ in take(lines, order_by="score")[0]["q2"]] == expected
    one_rank = "q1 Q0 d1 1 2 x\nq1 Q0 d2 1 1 x\nq2 Q0 d2 1 1 x\n"
    with pytest.raises(InputError, match=r"one rank for two documents.*\n.*order_by: score"):
        take(one_rank, order_by="rank")
    assert [name for name, _ in take(one_rank)[0]["q1"]] == ["d1", "d2"]


def test_comments_and_headers_are_passed_over(take):
    header = "# ir_metadata.start\n# tag: bm25\n# a b c 1 2.0 d\n#x\n# ir_metadata.end\n"
    run, counts = take(header + SOUND)
    assert run == take(SOUND)[0]
    assert (counts["comments"], counts["lines"], counts["malformed"]) == (5, 5, 0)


DOCUMENT_IDS = ["d1", "d2", "d3", "d4"]


@given(
    st.lists(st.tuples(st.sampled_from([3.0, 2.0, 2.5]), st.integers(0, 5)), min_size=4, max_size=4),
    st.randoms(use_true_random=False),
)
def test_order_is_that_of_the_ranks_or_of_trec_eval(tmp_path_factory, resolved, random):
    folder = tmp_path_factory.mktemp("run")
    queries = write_queries(folder / "queries.parquet", {"q1": "x"})
    documents = write_documents(folder / "documents.parquet", dict.fromkeys(DOCUMENT_IDS, "x"))
    lines = [
        f"q1 Q0 {name} {rank} {score} t" for name, (score, rank) in zip(DOCUMENT_IDS, resolved, strict=True)
    ]
    random.shuffle(lines)
    (folder / "theirs.run").write_text("\n".join(lines))
    config = RunConfig(path="x", order_by="score")
    take_run(config, folder / "theirs.run", "x", queries, [documents], 9, folder / "run.gz")
    by_rank = sorted(zip(resolved, DOCUMENT_IDS, strict=True), key=lambda entry: entry[0][1])
    ranks, scores = [rank for (_, rank), _ in by_rank], [score for (score, _), _ in by_rank]
    if len(set(ranks)) == 4 and scores == sorted(scores, reverse=True):
        expected = [name for _, name in by_rank]
    else:  # trec_eval itself ranks one relevant document at a time
        given_run = {"q1": dict(zip(DOCUMENT_IDS, (score for score, _ in resolved), strict=True))}
        positions = {}
        for name in DOCUMENT_IDS:
            evaluator = pytrec_eval.RelevanceEvaluator({"q1": {name: 1}}, {"recip_rank"})
            positions[1 / evaluator.evaluate(given_run)["q1"]["recip_rank"]] = name
        expected = [positions[position] for position in sorted(positions)]
    assert [name for name, _ in read_run(folder / "run.gz")["q1"]] == expected


def test_what_may_be_left_out(take):
    with_unknown = SOUND + "q1 Q0 d9 4 -2 x\n"
    run, counts = take(with_unknown, unknown_documents="drop")
    assert run == take(SOUND)[0]
    assert counts["unknown_documents_left_out"] == 1
    only_one = "q1 Q0 d1 1 2 x\n"
    with pytest.raises(InputError, match="1 queries of the data set without a document, such as q2"):
        take(only_one)
    run, counts = take(only_one, missing_queries="ignore")
    assert list(run) == ["q1"]
    assert (counts["queries"], counts["queries_without_candidates"]) == (2, 1)
    for skipped in ("skip", {"skip": 0.5}):
        run, counts = take(SOUND + "broken\n", malformed=skipped)
        assert run == take(SOUND)[0]
        assert counts["malformed"] == 1


def test_the_number_of_lines_is_checked(take):
    assert take(SOUND, expected=5)[1]["written"] == 5
    with pytest.raises(InputError, match="other number of lines than expected, such as 5 in place of 6"):
        take(SOUND, expected=6)


@given(content=st.one_of(st.binary(max_size=200), st.text("q1 dQ0\n\t.-e", max_size=120).map(str.encode)))
def test_garbage_is_refused_or_a_run(tmp_path_factory, content):
    folder = tmp_path_factory.mktemp("run")
    queries = write_queries(folder / "queries.parquet", {"q1": "x"})
    documents = write_documents(folder / "documents.parquet", {"d1": "x"})
    (folder / "theirs.run").write_bytes(content)
    for options in ({}, {"format": "tsv", "options": {"columns": ["query_id", "document_id", "score"]}}):
        config = RunConfig(path="x", **options)
        try:
            take_run(config, folder / "theirs.run", "x", queries, [documents], 5, folder / "run.gz")
        except InputError as error:
            assert error.path == folder / "theirs.run"  # noqa: PT017
        else:
            assert read_run(folder / "run.gz").keys() <= {"q1"}


def test_a_run_of_three_columns_has_the_options_that_read_it(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("q1 d1 12.5\n")
    arguments = tmp_path / "run", {"q1"}, "run", "evaluate", "judgements"
    with pytest.raises(InputError, match=r"format: tsv; scores need options: \{columns: \[query_id"):
        read_ordered(RunConfig(format="trec", path="run"), *arguments)
    options = {"columns": ["query_id", "document_id", "score"]}
    run = read_ordered(RunConfig(format="tsv", path="run", options=options), *arguments)
    assert run == {"q1": [("d1", 12.5)]}


def test_a_query_s_own_document_stays_unless_it_is_to_be_dropped(tmp_path):
    queries = write_queries(tmp_path / "queries.parquet", {"d1": "x"})
    documents = write_documents(tmp_path / "documents.parquet", {"d1": "x", "d2": "x"})
    (tmp_path / "theirs.run").write_text("d1 Q0 d1 1 2 theirs\nd1 Q0 d2 2 1 theirs\n")
    arguments = [tmp_path / "theirs.run"], "theirs", queries, [documents], 10
    take_run(RunConfig(path="x"), *arguments, tmp_path / "run.gz")
    assert read_run(tmp_path / "run.gz") == {"d1": [("d1", 2.0), ("d2", 1.0)]}
    take_run(RunConfig(path="x"), *arguments, tmp_path / "run.gz", queries_are_documents=True)
    assert read_run(tmp_path / "run.gz") == {"d1": [("d2", 1.0)]}
