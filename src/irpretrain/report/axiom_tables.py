"""The tables of a paper on axioms that are no matrices of retrieval scores, by name."""

from __future__ import annotations

from irpretrain.config import Config
from irpretrain.report.axiom_results import AxiomResults
from irpretrain.report.cells import Table
from irpretrain.report.diagnosis_table import build_diagnosis_table
from irpretrain.report.published import Published
from irpretrain.report.rank_interval_table import build_rank_interval_table
from irpretrain.report.settings_table import build_settings_table


def build_axiom_tables(published: Published, config: Config, results: AxiomResults) -> dict[str, Table]:
    """Return the tables that a paper has beside its `tables`, called as in `Published.table_names`."""
    axioms = published.axioms
    if axioms is None:
        return {}
    return {
        f"table{axioms.predictors.number}": build_settings_table(
            published, axioms, config, results.predictors
        ),
        "rank_intervals": build_rank_interval_table(
            published, axioms, config, results.rank_intervals, results.temperatures
        ),
        "diagnosis": build_diagnosis_table(published, axioms, config, results.diagnoses),
    }
