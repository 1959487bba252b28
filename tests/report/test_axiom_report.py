"""The page of ARES: its tables, its figures, and where a predictor's number comes from."""

import json
from typing import Any

import pytest
from axiom_run import axiom_files, with_axioms
from page_reader import plain_text
from small_run import ARES_YAML, MANIFEST, flat_rows, write_results
from test_html import sidecar

from irpretrain.config import Config
from irpretrain.report.figures import make_figures
from irpretrain.report.html import write_report
from irpretrain.report.result_files import ResultFiles


@pytest.fixture(scope="module")
def page(config: Config, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    base = tmp_path_factory.mktemp("page")
    config = with_axioms(config)
    results = write_results(base, flat_rows("squad", {"control": 0.1, "prop": 0.3}))
    files = axiom_files(base)
    values = "results/axioms/pretraining/values-0.parquet"
    sidecar(base, "compute_axioms", values, [])
    scores = str(files["predictors"][0])
    sidecar(base, "train_predictor", "results/predictors/i/model", [values], outputs={scores: "ab" * 32})
    make_figures(ARES_YAML, config, ResultFiles(*results, **files), [], base / "results" / "figures")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(base)
        all_files, page = ResultFiles(*results, **files), base / "report.html"
        counts = write_report(config, [ARES_YAML], all_files, base / "results", MANIFEST, page)
    return (base / "report.html").read_text(encoding="utf-8"), counts


def _cells(text: str) -> dict[str, Any]:
    _, _, script = text.partition('<script type="application/json" id="provenance">')
    return json.loads(script.partition("</script>")[0])


def test_the_page_holds_all_tables_and_figures(page) -> None:
    text, counts = page
    assert (counts["tables"], counts["figures"]) == (7, 2)
    for name in ("table2", "rank_intervals", "table4", "table5", "table6"):
        assert f'<section id="ares_{name}"' in text
    assert '<figure id="ares_figure2"' in text
    plain = plain_text(text)
    missing = plain.partition("Of the paper, not in this run")[2]
    table7 = "Table 7: Variants of ARES ( tables/ares_table7.md has the printed numbers and the reasons)"
    assert table7 in missing
    assert "ARES, figure 3: " in missing
    assert "Table 2: The preference predictor in four settings" in plain
    assert "II negatives: a pseudo-query by softmax(1 / RANK)" in plain


def test_where_a_predictors_number_comes_from(page) -> None:
    found = _cells(page[0])
    (cell,) = (one for one in found["cells"] if dict(one["facts"]).get("Model") == "I (predictor i)")
    facts = dict(cell["facts"])
    assert facts["File"].endswith("results/predictors/i/scores.json")
    assert (facts["Measure"], facts["Value"], facts["Test pairs"]) == ("AUC", "0.900 [0.890, 0.910]", "200")
    (run,) = cell["runs"]
    record = found["records"][str(run)]
    assert record["stage"] == "train_predictor"
    assert [found["records"][str(one)]["stage"] for one in record["sources"]] == ["compute_axioms"]
    assert {"Queries", "Pseudo-queries"} <= {name for cell in found["cells"] for name, _ in cell["facts"]}
