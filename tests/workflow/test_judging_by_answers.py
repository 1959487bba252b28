"""A look-alike of EntityQuestions through the real workflow: passages, questions, judgements of what was retrieved."""

import gzip
import json
from pathlib import Path

import pytest
import yaml
from tiny import TOPICS, make_project, no_experiments, overlay_config, run_workflow, words

from irpretrain.foundation.atomic import read_csv

pytestmark = [pytest.mark.deep, pytest.mark.workflow]

PASSAGES = [
    (str(number), f'"The {words(number)[0]} lies near ""{words(number)[1]}"" of old."', words(number)[2])
    for number in range(2 * len(TOPICS))
]
"""Two passages a topic, with its first two words; the title has the third. Quoted as the published file is."""


def write_data(folder: Path) -> None:
    lines = ["id\ttext\ttitle", *("\t".join(passage) for passage in PASSAGES)]
    (folder / "data/psgs_w100.tsv.gz").write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    (folder / "data/test").mkdir()
    for relation, answer in (("P1", 1), ("P2", 2)):  # the second is asked for a word that only the title has
        questions = [
            {"question": f"What is the {words(topic)[0]} near?", "answers": [words(topic)[answer].upper()]}
            for topic in range(3)
        ]
        (folder / f"data/test/{relation}.test.json").write_text(json.dumps(questions))


OVERLAY = """
corpora:
  wikipedia-passages: {format: tsv, path: data/psgs_w100.tsv.gz, options: {quotes: true}}
datasets:
  entity-questions:
    label: EntityQuestions
    corpus: wikipedia-passages
    queries: {format: entity-questions, path: data/test}
    qrels: {format: entity-questions, path: data/test}
    folds: 3
    measures: [P@10, Success@10]
experiments:
  questions: {dataset: entity-questions, models: [control], regimes: [zero-shot], papers: [ares]}
"""


def overlay(shards: int) -> dict:
    found = overlay_config(experiments=no_experiments())
    for section, entries in yaml.safe_load(OVERLAY).items():
        found[section] |= entries
    found["corpora"]["wikipedia-passages"]["shards"] = shards
    return found


def test_retrieved_passages_are_judged_by_answers(tmp_path):
    make_project(tmp_path)
    write_data(tmp_path)
    judged, qrels = {}, tmp_path / "results/datasets/entity-questions/qrels.txt"
    for shards in (1, 3):
        qrels.unlink(missing_ok=True)  # so that it is made again
        (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(overlay(shards)))
        run_workflow(tmp_path, "results/scores/questions.csv")
        judged[shards] = qrels.read_text()
    assert judged[1] == judged[3]
    relevant = {tuple(line.split()[::2]) for line in judged[1].splitlines() if line.endswith(" 1")}
    # The three first topics, twice; passages 0 and 12 are of topic 0.
    assert relevant == {(f"P1-{topic}", str(topic + 12 * again)) for topic in range(3) for again in range(2)}
    rows = [row for row in read_csv(tmp_path / "results/scores/questions.csv") if row["fold"] == "0"]
    scores = {(row["model"], row["measure"]): row for row in rows}
    for model in ("bm25", "control"):
        assert scores[model, "P@10"]["queries"] == "6"  # also those that no retrieved passage answers
    # BM25 finds both passages of a topic among its first ten; a model without training ranks all twenty as it likes.
    assert float(scores["bm25", "P@10"]["value"]) == pytest.approx(3 * 2 / 10 / 6)
    assert float(scores["bm25", "Success@10"]["value"]) == pytest.approx(0.5)
