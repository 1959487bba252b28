"""Small inputs that were once read wrongly without a word, or refused for a wrong reason: what they give now.

Each folder of `tests/cases/retrieval` has documents, topics, judgements, a run and the overlay that names them. They
pass through the functions that the workflow's stages call.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import yaml

from irpretrain.command import main
from irpretrain.config.corpora import CorpusConfig, DatasetConfig
from irpretrain.config.retrieval import RunConfig
from irpretrain.config.text import TextConfig
from irpretrain.corpora.make_folds import make_folds
from irpretrain.corpora.sources import write_shard
from irpretrain.corpora.testcollection import prepare
from irpretrain.evaluation.evaluate import evaluate
from irpretrain.evaluation.folds import read_folds
from irpretrain.evaluation.measures import parse_measure
from irpretrain.foundation.contracts import QUERIES
from irpretrain.foundation.errors import ConfigError, InputError
from irpretrain.foundation.provenance import Recorder
from irpretrain.retrieval.expansion import check_expansion, expand_documents
from irpretrain.retrieval.runs_of_others import take_run

CASES = Path(__file__).parents[1] / "cases/retrieval"


class Case:
    """One folder of inputs, and the files that the stages write for it."""

    def __init__(self, name: str, folder: Path) -> None:
        self.inputs, self.folder = CASES / name, folder
        self.overlay = yaml.safe_load((self.inputs / "overlay.yaml").read_text())
        self.dataset = DatasetConfig(**self.overlay["datasets"]["mine"])
        self.documents = folder / "documents.parquet"
        self.queries, self.qrels = folder / "queries.parquet", folder / "qrels.txt"

    def read(self) -> None:
        """Read documents, topics and judgements."""
        corpus = CorpusConfig(**self.overlay["corpora"]["mine"])
        source = self.inputs / "documents"
        write_shard(corpus, source, 0, self.documents, self.folder / "redirects.parquet")
        topics, judged = self.inputs / "topics.txt", self.inputs / "qrels.txt"
        prepare(self.dataset, topics, judged, [self.documents], 0, self.queries, self.qrels)

    def scores(self) -> dict[str, float]:
        """Return the mean of each measure for the run."""
        self.read()
        config = RunConfig(**self.overlay["first_stages"]["theirs"]["runs"]["mine"])
        run, means = self.folder / "run.gz", self.folder / "scores.csv"
        take_run(config, self.inputs / "run.txt", "theirs", self.queries, [self.documents], 100, run)
        key = {
            "dataset": "mine",
            "candidates": "theirs",
            "model": "theirs",
            "regime": "first-stage",
            "seed": 0,
        }
        measures = self.dataset.measures
        evaluate([{**key, "paths": [run]}], self.qrels, None, measures, self.folder / "per-query", means)
        with means.open() as file:
            return {row["measure"]: float(row["value"]) for row in csv.DictReader(file)}


@pytest.fixture
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    return Case(request.param, tmp_path)


@pytest.mark.parametrize(
    ("case", "measure", "right", "note"),
    [
        ("01-ties-rank-column", "RR", 1.0, "1 documents have the score of the one above them; the ranks"),
        ("03-run-ranks-all-zero", "RR", 0.5, ""),
        ("04-run-rank-gap", "RR", 0.5, ""),
        ("05-run-ir-metadata-header", "RR", 1.0, ""),
        ("07-qrels-five-columns-doc0", "RR", 1.0, "read as: query iteration document relevance weight"),
    ],
    indirect=["case"],
)
def test_scores(
    case: Case, measure: str, right: float, note: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert case.scores()[measure] == right
    assert note in capsys.readouterr().err


@pytest.mark.parametrize(
    ("case", "fault", "remedy"),
    [
        ("09-leading-zeros-wrong-diagnosis", "none of the 2 queries", "topics.txt has 1 in place of 001"),
        ("11-smart-rel-original", "the third column, .* is 0 on every line", "awk '{print $1, 0, $2, 1}'"),
        ("13-json-qrels-repeated-query", "the key 'q1' twice", ""),
        ("25-hint-changes-file-name", "none of the 1 query", "topics.txt has 51 in place of 051"),
        ("26-json-array-documents", "a JSON list: one object per line is read", "jq -c '.[]'"),
    ],
    indirect=["case"],
)
def test_inputs_that_are_refused(case: Case, fault: str, remedy: str) -> None:
    with pytest.raises(InputError, match=fault) as refused:
        case.read()
    assert remedy in str(refused.value)


@pytest.mark.parametrize(
    ("case", "fault"),
    [
        ("22-run-false-follow-on-fault", "5 instead of 6 (query Q0 document rank score tag) (run.txt:1)"),
        ("23-run-nan-follow-on-fault", "score is not a finite number, such as 'nan' (run.txt:1)"),
    ],
    indirect=["case"],
)
def test_runs_that_are_refused_have_one_fault(case: Case, fault: str) -> None:
    with pytest.raises(InputError) as refused:
        case.scores()
    assert fault in refused.value.reason
    assert "\n" not in refused.value.reason


@pytest.mark.parametrize("case", ["08-qrels-five-columns-message"], indirect=True)
def test_five_columns_are_named(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.read()
    assert case.qrels.read_text() == "1 0 10 1\n1 0 20 0\n"
    assert "five columns are read as: query iteration document relevance weight" in capsys.readouterr().err


@pytest.mark.parametrize("case", ["16-ntcir-cdata-topics", "32-topics-clef"], indirect=True)
def test_topics(case: Case) -> None:
    case.read()
    assert QUERIES.read(case.queries)["text"].to_pylist() == ["apples"]


@pytest.mark.parametrize("case", ["15-folds-bom"], indirect=True)
def test_folds(case: Case) -> None:
    QUERIES.write(case.queries, ({"query_id": f"00{n}", "text": f"query {n}"} for n in range(1, 7)))
    dataset = case.dataset.model_copy(update={"folds": str(case.inputs / "folds.tsv")})
    make_folds(case.queries, dataset, 0, case.folder / "folds.json")
    assert read_folds(case.folder / "folds.json").queries(1) == ["001", "002"]


@pytest.mark.parametrize("case", ["18-expansion-of-other-ids"], indirect=True)
def test_added_text(case: Case) -> None:
    case.read()
    vectors = case.folder / "vectors.parquet"
    expansions = case.inputs / "expansions.tsv"
    recorder = Recorder("expand_documents", [str(case.documents), str(expansions)], [str(vectors)], {}, {})
    recorder.write(
        expand_documents(
            case.documents, expansions, TextConfig(words="alphanumeric", fields=["title", "body"]), vectors
        )
    )
    with pytest.raises(InputError, match=r"none of its 2 lines names a document of the corpus"):
        check_expansion([vectors])


@pytest.mark.parametrize("case", ["29-cli-queries-beir"], indirect=True)
def test_queries_of_the_command(case: Case) -> None:
    output = case.folder / "run"
    names = ["documents.jsonl", "queries.jsonl"]
    assert main(["search", *(str(case.inputs / name) for name in names), str(output)]) == 0
    assert output.read_text().startswith("1 Q0 d1 1 ")


@pytest.mark.parametrize("case", ["31-measure-hint-keeps-cutoff"], indirect=True)
def test_measures(case: Case) -> None:
    with pytest.raises(ConfigError, match=r"did you mean ndcg_cut_10\?"):
        parse_measure((case.inputs / "measure.txt").read_text().strip())


def test_every_case_is_tried() -> None:
    source = Path(__file__).read_text()
    assert [path.name for path in CASES.iterdir() if f'"{path.name}"' not in source] == []
