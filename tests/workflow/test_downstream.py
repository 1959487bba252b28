"""Question answering, through the real workflow; a data set that is not there is named."""

import json

import pytest
import yaml
from tiny import document, no_experiments, overlay_config, run_workflow, words

pytestmark = [pytest.mark.deep, pytest.mark.workflow]


def questions(first: int, last: int) -> str:
    """What document i is about: the answer is a word of its topic."""
    paragraphs = []
    for number in range(first, last):
        text = document(number)["text"]
        answer = next(word for word in words(number) if word in text)
        found = {"text": answer, "answer_start": text.index(answer)}
        requested = {"id": f"s{number}", "question": "great river near?", "answers": [found]}
        paragraphs.append({"context": text, "qas": [requested]})
    return json.dumps({"data": [{"title": "Tiny", "paragraphs": paragraphs}]})


OVERLAY = """
downstream_tasks:
  made-spans:
    label: Made
    questions:
      train: {format: squad, path: data/train-questions.json}
      development: {format: squad, path: data/dev-questions.json}
question_answering: {max_length: 32, stride: 4, epochs: 1}
downstream: {others: {papers: [php], tasks: [made-spans, mrqa-squad], models: [prop]}}
report: {papers: [php]}
skip_absent: true
"""


def test_tasks_beside_retrieval(copied):
    data = copied / "data"
    (data / "train-questions.json").write_text(questions(0, 48))
    (data / "dev-questions.json").write_text(questions(48, 72))
    overlay = overlay_config(experiments=no_experiments(), **yaml.safe_load(OVERLAY))
    (copied / "tiny.yaml").write_text(yaml.safe_dump(overlay))
    run_workflow(copied, "downstream", "results/tables/php_table4.md")
    results = copied / "results"
    lines = (results / "downstream/others.csv").read_text().splitlines()
    assert lines[0] == "task,model,seed,set,measure,value,examples"
    cells = [line.split(",") for line in lines[1:]]
    assert [cell[:5] for cell in cells] == [
        ["made-spans", "prop", "1", "test", "F1"],
        ["made-spans", "prop", "1", "test", "EM"],
    ]
    assert [cell[6] for cell in cells] == ["12", "12"]
    table = (results / "tables/php_table4.md").read_text()
    assert "This configuration: Made" in table
    assert "data/mrqa/train/SQuAD.jsonl.gz and 1 more files are missing" in table
    sidecar = json.loads(
        (results / "downstream/predictions/made-spans/prop/seed-1.json.meta.json").read_text()
    )
    assert "results/models/pretrained/prop/seed-1" in sidecar["inputs"]
    assert sidecar["counts"]["questions"] == 48
