import math
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas
import pytest
from scipy import stats
from small_run import PROP_YAML, ROOT, rows_of, write_results

from base_config import base_config
from irpretrain.config import Config, load_config, parse_config
from irpretrain.config.papers import known_papers, load_published
from irpretrain.report.cells import Table, letter
from irpretrain.report.result_files import ResultFiles
from irpretrain.report.scores import RunName, Scores
from irpretrain.report.table_files import cell_text, latex, latex_escape, markdown
from irpretrain.report.tables import build_headline, build_table, make_tables

LABEL = r"<script>alert('x')</script> & 50% of $x_1$ {a|b} \input ~^#"


def _table(config: Config, results, name: str) -> Table:
    return build_table(load_published(PROP_YAML), name, config, Scores.read(results[1]))


def _texts(table: Table, panel: int) -> dict[str, list[str]]:
    return {row.key: [cell_text(table, cell) for cell in row.cells] for row in table.panels[panel].rows}


def test_panel_of_the_papers_data_sets(config: Config, results) -> None:
    table = _table(config, results, "table3")
    groups = [column.group for column in table.panels[0].columns]
    assert groups == ["Robust04", "ClueWeb09-B", "Gov2", "MQ2007", "MQ2008"]
    numbers = ("0.467", "0.306", "0.503", "0.511", "0.249")
    not_run = [f"{number} · not run ({a})" for number, a in zip(numbers, "abcde", strict=True)]
    assert _texts(table, 0)["mlm"] == not_run
    assert _texts(table, 0)["rop"][0] == "0.481† · not run (a)"
    first_note = next(iter(table.letters))
    assert first_note.startswith("data set Robust04 is not in this configuration: its documents")


def test_panel_of_our_data_set(config: Config, results) -> None:
    table = _table(config, results, "table3")
    assert table.panels[1].title == "This configuration: SQuAD 1.1"
    assert [(c.group, c.label) for c in table.panels[1].columns] == [
        (f"SQuAD 1.1, {regime}", measure)
        for regime in ("fine-tuned", "zero-shot")
        for measure in ("RR@10", "nDCG@20", "P@20")
    ]
    texts = {
        key: [re.sub(r" \[.*", "", text) for text in cells[1::3]] for key, cells in _texts(table, 1).items()
    }
    assert texts == {"mlm": ["0.500", "0.300"], "rop": ["0.650†", "0.450†"], "rop-mlm": ["0.700†", "0.500†"]}
    assert all(
        cell.difference is None and not cell.note for row in table.panels[1].rows for cell in row.cells
    )


def test_interval_and_p_value_against_references(config: Config, results) -> None:
    cells = _table(config, results, "table5").cells()
    name = ("document-model", "nDCG@20", "zero-shot")
    cell = next(cell for cell in cells if (cell.row, cell.measure, cell.regime) == name)
    scores = Scores.read(results[1])
    ours, random = (
        scores.get(RunName("squad", "bm25", model, "zero-shot"), "nDCG@20").values[0]
        for model in ("prop-rop", "prop-random")
    )
    assert cell.ours.comparisons[0].p == pytest.approx(stats.ttest_rel(ours, random).pvalue)
    assert cell.ours.comparisons[0].difference == pytest.approx(0.1)
    # The zigzag ±0.07 around 0.45 has standard error 0.07 / sqrt(20); the bootstrap must be near the normal interval.
    assert (cell.ours.low, cell.ours.high) == pytest.approx((0.45 - 0.0307, 0.45 + 0.0307), abs=0.005)


def test_further_pre_training_that_changes_nothing_has_no_mark(config: Config, results) -> None:
    table = _table(config, results, "table4")
    cells = [c.ours for c in table.cells() if c.row == "further" and c.ours and c.ours.comparisons]
    assert {(ours.marks, ours.comparisons[0].p) for ours in cells} == {("", 1)}
    assert [ours.comparisons[0].difference for ours in cells] == pytest.approx([0] * len(cells))


def test_table2_maps_rows_honestly(config: Config, results) -> None:
    table = _table(config, results, "table2")
    rows = {row.key: row for row in table.panels[1].rows}
    texts = _texts(table, 1)
    assert rows["prop-here"].label == "PROP (enwiki-excerpt + squad-train-passages)"
    assert rows["bert"].filled_by == "control (MiniLM-L6-H384, first 4 layers, fresh score head)"
    assert "prop-here" not in _texts(
        table, 0
    )  # nothing stands for the paper's own models on the paper's data
    assert texts["bm25"][1].startswith("0.600† [")
    assert texts["prop-here"][1].startswith("0.700*† [")
    notes = {letter: note for note, letter in table.letters.items()}
    for row, start in [
        ("ict", "objective ict is not part of this configuration"),
        ("sota", "published only"),
        ("prop-wikipedia", "the whole English Wikipedia is not in this configuration"),
    ]:
        mark = re.fullmatch(r"not run \((.+)\)", texts[row][0])[1]
        assert notes[mark].startswith(start)
    assert rows["prop-here"].cells[1].ours.marks == "*†"  # ‡ compares with ICT, which was not run
    assert rows["bert"].cells[1].ours.marks == ""  # 0.400 against BM25's 0.600


@pytest.fixture(scope="module")
def robust(tmp_path_factory):
    """A configuration that has the paper's own data set, three seeds, and other options."""
    squad = {"format": "squad", "path": "embedded:squad-dev"}
    robust04 = {"label": "Robust04", "corpus": "squad-dev", "queries": squad, "qrels": squad}
    base = base_config()
    base["datasets"] = {"robust04": {**robust04, "measures": ["nDCG@20", "P@20"]}}
    base["report"]["papers"] = ["prop"]
    base["term_weights"] = {}
    base["experiments"] = {
        "one": {"dataset": "robust04", "models": ["prop"], "regimes": ["full"], "seeds": [1, 2, 3]}
    }
    base["finetuning"], base["reranking"] = {"recipe": "prop"}, {}
    base["models"]["prop"]["label"] = LABEL
    rows = [r for r in rows_of("robust04", seeds=(1, 2, 3)) if r["measure"] != "RR@10"]
    return parse_config(base), write_results(tmp_path_factory.mktemp("robust"), rows)


def test_numbers_are_compared_on_the_papers_own_data_set(robust) -> None:
    table = _table(*robust, "table3")
    cell = next(c for c in table.cells() if c.row == "rop" and c.dataset == "robust04" and c.regime == "full")
    assert cell.ours.seeds == (1, 2, 3)
    assert cell.ours.mean == pytest.approx(0.66)
    half = stats.t.ppf(0.975, 2) * 0.01 / math.sqrt(3)  # means 0.65, 0.66, 0.67
    assert (cell.ours.low, cell.ours.high) == pytest.approx((0.66 - half, 0.66 + half))
    assert cell.difference == pytest.approx(0.66 - 0.481)
    text = cell_text(table, cell)
    assert text == f"0.481† · ours 0.660† [{0.66 - half:.3f}, {0.66 + half:.3f}], +0.179"
    zero_shot = next(c for c in table.cells() if c.row == "rop" and c.ours and c.regime == "zero-shot")
    assert zero_shot.published is None  # the paper's numbers are fine-tuned


def test_headline(config: Config, results) -> None:
    table = build_headline(config, Scores.read(results[1]))
    panel = table.panels[0]
    assert table.title == "Runs on SQuAD 1.1"
    values = [max(cell.ours.mean for cell in (row.cells[0], row.cells[-5])) for row in panel.rows]
    assert values == sorted(values, reverse=True), "best first"
    assert {"bm25", "ql", "control", "prop"} <= {row.key for row in panel.rows}
    assert [c.label for c in panel.columns[:5]] == [
        "RR@10", "nDCG@20", "P@20", "RR@10 against the control", "RR@10 against BM25",
    ]  # fmt: skip
    texts = _texts(table, 0)
    assert texts["control"][3] == "–"
    assert texts["bm25"][4] == "–"
    assert texts["prop"][3] == "+0.270 (p < 0.001)"
    assert texts["prop"][4] == "-0.090 (p < 0.001)"
    assert texts["prop"][0].startswith("0.450ᶜ [")
    assert texts["prop"][-5].startswith("0.630ᵇᶜ [")


def test_small_print(config: Config, results) -> None:
    notes = "\n".join(_table(config, results, "table2").notes)
    assert "nDCG@20: sum of grade / log2(rank + 1), linear gain as in trec_eval" in notes
    assert "SQuAD 1.1: 20 queries; the top 20 of BM25 are re-ranked" in notes
    assert "counts as not found. Fine-tuned on queries of SQuAD 1.1 train." in notes
    assert "The encoder (MiniLM) was distilled" in notes
    assert "bootstrap over queries (2,000 resamples)" in notes
    assert "46 %" in notes


def test_hostile_labels_in_markdown(robust) -> None:
    text = markdown(_table(*robust, "table3"))
    assert "<script" not in re.sub(r"\\<", "", text)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in rows}
    assert widths == {
        len(re.findall(r"(?<!\\)\|", rows[0])),
        1 + 2 + 4,
    }  # both panels: every line of equal length


def _check_latex(text: str) -> None:
    """Braces balance, environments nest, and every row of a tabular has as many cells as the tabular has columns."""
    bare = re.sub(r"\\.", "", re.sub(r"(?m)^%.*", "", text.replace(r"\\", "")))
    assert bare.count("{") == bare.count("}")
    assert "$" not in re.sub(r"\$[^$\n]*\$", "", bare)
    stack = []
    for kind, name in re.findall(r"\\(begin|end)\{([a-z*]+)\}", text):
        if kind == "begin":
            stack.append(name)
        else:
            assert stack.pop() == name
    assert not stack
    for columns, body in re.findall(r"\\begin\{tabular\}\{([lr]+)\}(.*?)\\end\{tabular\}", text, re.DOTALL):
        for line in (line for line in body.splitlines() if line.endswith(r"\\")):
            spans = [int(n) for n in re.findall(r"\\multicolumn\{(\d+)\}", line)]
            cells = len(re.findall(r"(?<!\\)&", line)) + 1
            assert cells + sum(n - 1 for n in spans) == len(columns), line


@pytest.mark.parametrize("name", ["table2", "table3", "table4", "table5"])
def test_latex_is_well_formed(robust, name: str) -> None:
    _check_latex(latex(_table(*robust, name)))


def _compile(text: str, folder: Path) -> list[str]:
    """Compile tables in a document of their own as far as references settle; return what runs over the edge of a page,
    or is not found."""
    packages = r"\usepackage[utf8]{inputenc}\usepackage[T1]{fontenc}\usepackage{booktabs,graphicx,textcomp}"
    (folder / "all.tex").write_text(
        rf"\documentclass{{article}}{packages}\begin{{document}}{text}\end{{document}}"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    for _ in range(2):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
        assert done.returncode == 0, done.stdout[-2000:]
    return re.findall(r"Overfull .*|.*too large for page.*|.*[Uu]ndefined.*", done.stdout)


@pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="no pdflatex on the PATH; the structure is tested above"
)
def test_latex_compiles_and_fits_its_pages(robust, config: Config, results, tmp_path: Path) -> None:
    for paper in known_papers():
        published = PROP_YAML.with_name(f"{paper}.yaml")
        make_tables(published, config, ResultFiles(*results), tmp_path / "tables")
    texts = [path.read_text() for path in sorted((tmp_path / "tables").glob("*.tex"))]
    texts.append(latex(_table(*robust, "table3")))
    assert _compile("\n".join(text + r"\clearpage" for text in texts), tmp_path) == []
    assert _compile(r"\rule{20cm}{1pt} \ref{tab:x}", tmp_path) != []


def test_every_panel_is_a_float_of_one_table(config: Config, results) -> None:
    table = _table(config, results, "table2")
    text, panels = latex(table), len(table.panels)
    assert text.count(r"\begin{table*}") == panels > 1
    assert text.count(r"\label{") == 1
    assert text.count("(continued)") == panels - 1


def test_latex_escapes() -> None:
    assert latex_escape(r"a_b & 5% {x} \y $z$") == r"a\_b \& 5\% \{x\} \textbackslash{}y \$z\$"
    assert latex_escape("‡ ≤ café 日 ﬁ ſ ƀ") == r"$^{\ddagger}$ $\le$ café ? fi ſ ?"


def test_files_are_the_same_bytes_twice_and_complete(config: Config, results, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        assert make_tables(PROP_YAML, config, ResultFiles(*results), folder)["tables"] == 5
    tables = ["prop_headline", "prop_table2", "prop_table3", "prop_table4", "prop_table5"]
    assert sorted(path.name for path in one.iterdir()) == sorted(
        f"{table}.{suffix}" for table in tables for suffix in ("md", "csv", "tex", "ledger.csv")
    )
    for path in one.iterdir():
        assert path.read_bytes() == (two / path.name).read_bytes()
    cells = pandas.read_csv(one / "prop_table2.csv", dtype=str, keep_default_na=False)
    cells = cells[(cells.row == "prop-here") & (cells.measure == "nDCG@20") & (cells.regime == "full")]
    columns = ["model", "ours", "marks", "seeds", "published_difference", "note"]
    assert cells[columns].to_numpy().tolist() == [["prop", "0.700000", "*†", "1", "", ""]]


def test_one_query_has_no_interval(config: Config, tmp_path: Path) -> None:
    rows = [row for row in rows_of("squad") if row["query_id"] == "q00"]
    table = _table(config, write_results(tmp_path, rows), "table3")
    cell = next(c for c in table.cells() if c.ours)
    assert np.isnan(cell.ours.low)
    assert "[" not in cell_text(table, cell)
    _check_latex(latex(table))


def test_nothing_run_at_all(config: Config, tmp_path: Path) -> None:
    results = write_results(tmp_path, [])
    table = _table(config, results, "table2")
    assert len(table.panels) == 1
    assert all(cell.ours is None and cell.note for cell in table.cells())
    assert letter(26) == "aa", "beyond z"
    make_tables(PROP_YAML, config, ResultFiles(*results), tmp_path / "tables")


def test_the_default_and_its_ablations_have_every_model_of_the_tables() -> None:
    """A row that says "model x is not in this configuration" must not come from a slip of the pen."""
    models = load_config(ROOT / "config.yaml", ROOT / "configs/embedded-full.yaml").models
    paper = load_published(PROP_YAML)
    wanted = {m for t in paper.tables.values() for r in t.rows for m in r.all_models}
    at_scale = set(load_config(ROOT / "config.yaml", ROOT / "configs/prop-paper.yaml").models)
    assert wanted - set(models) - at_scale == {"bm25", "ql", "given"}
    # `prop-longer` is the control of a claim, not a row of a table.
    assert wanted & set(models) == {"control", *(m for m in models if m.startswith("prop"))} - {"prop-longer"}
