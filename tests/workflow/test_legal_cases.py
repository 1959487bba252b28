"""configs/legal-paper.yaml on look-alikes of its data: Chinese from files of cases and a dump to the paper's table."""

import json
import math
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import tiny_legal as data
import yaml
from tiny import ROOT, copy_project, run_project

from irpretrain.evaluation.runs import Run, read_run
from irpretrain.foundation.contracts import DOCUMENTS, GROUPS
from irpretrain.text.words import find_words

pytestmark = [pytest.mark.deep, pytest.mark.workflow]

TABLE = "results/tables/wikiformer_table4.md"
CAIL_RUN = "results/runs/cail-lcr/bm25-given/first-stage.run.gz"
MODELS = ("control", "wikiformer")
QUERY_PIECES, ALL_PIECES = 255, 512


def test_chinese_from_files_to_the_table(tmp_path: Path) -> None:
    run_on_look_alikes(tmp_path)
    results = tmp_path / "results"
    check_wikipedia(results)
    first_stages = {
        name: read_run(results / f"runs/lecard/{name}/first-stage.run.gz")
        for name in ("bm25-given", "ql-given")
    }
    fine_tuned = {model: run_of_folds(results, model) for model in MODELS}
    for run in (first_stages | fine_tuned).values():
        assert candidates(run) == candidates_of_files()
    check_words(first_stages["bm25-given"])
    assert read_run(tmp_path / CAIL_RUN) == first_stages["bm25-given"], (
        "both data sets have the same cases here"
    )
    for model, run in fine_tuned.items():
        check_lengths(results, model, run)
    check_table(tmp_path / TABLE, first_stages | fine_tuned)


def run_on_look_alikes(folder: Path) -> None:
    """Run the workflow by configs/legal-paper.yaml; the catalogue's copy knows how few queries there are."""
    project = copy_project(folder / "project")
    for entry in ("lecard", "cail-lcr"):
        data.count_look_alike(project / f"resources/datasets/{entry}.yaml")
    data.write_data(folder / "data")
    (folder / "small.yaml").write_text(yaml.safe_dump(data.overlay()))
    overlays = [ROOT / "configs/legal-paper.yaml", folder / "small.yaml"]
    run_project(project, folder, TABLE, CAIL_RUN, overlays=overlays, cores=1)


def check_wikipedia(results: Path) -> None:
    """Of variants the simplified script is read. See Also is known in both scripts, and all tasks have groups."""
    first = DOCUMENTS.read(results / "corpora/wikipedia-zh/documents-0.parquet").to_pylist()[0]
    assert first["title"] == "盗窃罪"
    assert first["body"] == (
        "盗窃罪是计算机列出的罪名。\n构成\n盗窃有要件。\n主体\n盗窃的人。\n客体\n盗窃的物。\n"
        "处罚\n盗窃处以罚金。\n参见\n诈骗罪\n参考文献\n刑法"
    )
    roles = {section["heading"]: section["role"] for section in first["sections"]}
    assert roles == {
        "": "",
        "构成": "",
        "主体": "",
        "客体": "",
        "处罚": "",
        "参见": "see-also",
        "参考文献": "boilerplate",
    }
    groups = {
        task: GROUPS.read(results / f"groups/pretraining/{task}.parquet")
        for task in ("srr", "rwi", "ati", "ltm")
    }
    articles = len(data.CRIMES)
    # Two groups of sections compete in an article. Each article has one entry of See Also, half of them by redirects.
    assert {task: len(rows) for task, rows in groups.items()} == {
        "srr": 2 * articles,
        "rwi": articles,
        "ati": articles,
        "ltm": articles,
    }
    positives = {
        row["queries"][0]["document_id"]: row["documents"][0]["document_id"]
        for row in groups["ltm"].to_pylist()
    }
    assert positives == {f"zhwiki/{n}": f"zhwiki/{(n + 1) % articles + 1}" for n in range(1, articles + 1)}


def run_of_folds(results: Path, model: str) -> Run:
    """The runs of all folds together; every query is tested in its own fold."""
    folds = json.loads((results / "datasets/lecard/folds.json").read_text())["queries"]
    assert set(folds) == set(data.QUERIES)
    joined: Run = {}
    for fold in (1, 2, 3):
        run = read_run(results / f"runs/lecard/given/{model}/full/seed-1/fold-{fold}.run.gz")
        assert {folds[query] for query in run} == {fold}
        joined |= run
    return joined


def candidates(run: Run) -> dict[str, list[str]]:
    return {query: sorted(document for document, _ in ranking) for query, ranking in run.items()}


def candidates_of_files() -> dict[str, list[str]]:
    return {query: sorted(cases) for query, cases in data.CANDIDATES.items()}


def pairs(text: str) -> list[str]:
    """Pairs of neighbours between full stops; no text of the cases has another character that is no letter."""
    return [a + b for sentence in text.split("。") for a, b in pairwise(sentence)]


def check_words(run: Run) -> None:
    """Case 7 is cut as by hand, and BM25 with the paper's k1 and b counts these pairs."""
    cut = ["王某", "某盗", "盗窃", "窃案", "盗窃", "窃手", "手机"]
    assert find_words(data.text_of("7"), "chinese:alphanumeric") == pairs(data.text_of("7")) == cut
    cases = [pairs(data.text_of(case)) for case in data.CASES]
    average = sum(map(len, cases)) / len(cases)
    score = 0.0
    for pair in ("盗窃", "窃手", "手机"):  # those of the query too
        holding = sum(pair in case for case in cases)
        times = Counter(cut)[pair]
        weight = math.log(1 + (len(cases) - holding + 0.5) / (holding + 0.5))
        score += weight * times / (times + 3.8 * (1 - 0.87 + 0.87 * len(cut) / average))
    assert dict(run["206"])["7"] == pytest.approx(score, rel=1e-5)


def check_lengths(results: Path, model: str, run: Run) -> None:
    """Each score is that of [CLS], 255 characters of the query, [SEP], what is left for the candidate, [SEP]."""
    from transformers import AutoModelForSequenceClassification

    folds = json.loads((results / "datasets/lecard/folds.json").read_text())["queries"]
    for query, ranking in run.items():
        retained = results / f"models/finetuned/lecard/given/{model}/full/seed-1/fold-{folds[query]}"
        network = AutoModelForSequenceClassification.from_pretrained(retained).eval()
        text, scores = data.QUERIES[query], [score for _, score in ranking]
        cases = [data.text_of(case) for case, _ in ranking]
        for pieces in (QUERY_PIECES, 64, QUERY_PIECES - 1, QUERY_PIECES + 1):
            by_hand = scores_by_hand(network, text[:pieces], cases)
            reads_the_same = text[:pieces] == text[:QUERY_PIECES]
            assert (scores == pytest.approx(by_hand, abs=1e-4)) == reads_the_same, (query, pieces)


def scores_by_hand(network: Any, query: str, cases: list[str]) -> list[float]:
    """Scores of a query and cases, which fill 512 word pieces at most; each character is one."""
    import torch

    numbers = {piece: number for number, piece in enumerate(data.vocabulary())}
    first = ["[CLS]", *query, "[SEP]"]
    scores = []
    for case in cases:
        second = [*case[: ALL_PIECES - len(first) - 1], "[SEP]"]
        ids = torch.tensor([[numbers[piece] for piece in [*first, *second]]])
        types = torch.tensor([[0] * len(first) + [1] * len(second)])
        with torch.no_grad():
            scores.append(float(network(input_ids=ids, token_type_ids=types).logits[0, 0]))
    return scores


def ndcg_at_5(run: Run) -> float:
    """Mean nDCG@5 by its formula."""
    values = []
    for query, ranking in run.items():
        labels = data.LABELS[query]
        gains = [labels.get(document, 0) for document, _ in ranking[:5]]
        best = sorted(labels.values(), reverse=True)[:5]
        values.append(discounted(gains) / discounted(best))
    return sum(values) / len(values)


def discounted(gains: list[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def check_table(path: Path, runs: dict[str, Run]) -> None:
    """The table names both data sets with their measures; rows of LeCaRD have our numbers, those of CAIL-LCR none."""
    lines = path.read_text(encoding="utf-8").splitlines()
    columns = "| Model | Ours | LeCaRD nDCG@5 | LeCaRD nDCG@15 | CAIL-LCR nDCG@5 | CAIL-LCR nDCG@15 |"
    rows = lines[lines.index(columns) + 2 :]
    displayed = {"BM25": "bm25-given", "QL": "ql-given", "BERT": "control", "Wikiformer": "wikiformer"}
    for row, (label, name) in zip(rows, displayed.items(), strict=False):
        _, model, _, *cells, _ = re.split(r" *(?<!\\)\| *", row)
        assert model == label
        # No query has more than five candidates, so both measures agree.
        assert [re.findall(r"ours ([0-9.]+)", cell) for cell in cells[:2]] == [
            [f"{ndcg_at_5(runs[name]):.3f}"]
        ] * 2
        assert all("not run" in cell for cell in cells[2:])
    assert f"{ndcg_at_5(runs['bm25-given']):.4f}" == "0.8897"
    assert any(line.startswith("- LeCaRD: 4 queries; ") for line in lines)
