"""The report's first picture shows the numbers of the headline table."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_run import flat_rows, write_results

from irpretrain.config import Config
from irpretrain.report.figure_views import headline_bars
from irpretrain.report.headline_table import build_headline
from irpretrain.report.scores import Scores


def test_dots_lie_where_their_means_are(config: Config, tmp_path: Path) -> None:
    rows = flat_rows("squad", {"untrained": 0.2, "prop": 0.4}, ("zero-shot", "full"))
    scores, per_query = write_results(tmp_path, rows)
    zero_shot, fine_tuned = headline_bars(build_headline(config, Scores.read(per_query, scores)))
    assert (zero_shot.title, zero_shot.measure) == ("SQuAD 1.1, zero-shot", "RR@10")
    assert fine_tuned.title == "SQuAD 1.1, fine-tuned"
    assert [(bar.label, bar.text) for bar in zero_shot.bars] == [
        ("BM25", "0.300"), ("QL", "0.250"), ("encoder", "0.200"), ("PROP", "0.400"),
    ]  # fmt: skip
    assert zero_shot.end == fine_tuned.end  # one scale for both
    for chart, mean in ((zero_shot, 0.4), (fine_tuned, 0.6)):
        prop = chart.bars[-1]
        assert prop.mean == pytest.approx(100 * mean / chart.end, abs=0.01)
        assert prop.low < prop.mean < prop.high <= 100


def test_one_query_and_missing_runs(config: Config, tmp_path: Path) -> None:
    rows = [r for r in flat_rows("squad", {"prop": 0.4}) if r["query_id"] == "q00"]
    scores, per_query = write_results(tmp_path, rows)
    (chart,) = headline_bars(build_headline(config, Scores.read(per_query, scores)))
    assert all(bar.low == bar.mean == bar.high for bar in chart.bars)
    assert headline_bars(build_headline(config, Scores({}))) == []
