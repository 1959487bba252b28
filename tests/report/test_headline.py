import os
import re
from pathlib import Path

import pytest
from small_run import PROP_YAML

from irpretrain.config import Config
from irpretrain.report.headline import WIDTH, headline, print_headlines
from irpretrain.report.tables import make_tables


@pytest.fixture
def made(config: Config, results, tmp_path: Path) -> Path:
    make_tables([PROP_YAML], config, *results, tmp_path / "tables", tmp_path / "verdicts.csv")
    return tmp_path


def test_the_table_in_plain_text(made: Path) -> None:
    text = headline(made, paper="prop")
    # The last lines name files, whose paths may be longer; a terminal must be able to copy them.
    table = text.partition("Report:")[0].splitlines()
    assert max(len(line) for line in table) <= WIDTH
    assert table[0] == "SQuAD 1.1, 20 queries"
    prop = next(line for line in table if line.startswith("PROP "))
    assert prop.split("  ")[0] == "PROP"
    assert "0.450†  [" in prop
    assert "0.630*† [" in prop
    assert prop.endswith("0.700*†")
    assert f"Report:  {made / 'reports/prop.html'}" in text


def test_what_a_run_has_made_is_printed(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def printed(since: float) -> str:
        print_headlines(made, since, "here")
        return capsys.readouterr().out

    (made / "reports").mkdir()
    for place, name in enumerate(("report.html", "reports/prop.html", "reports/php.html"), 1):
        (made / name).touch()
        os.utime(made / name, (place, place))
    # The whole report was made before, those of two papers now.
    text = printed(since=2)
    assert "here/reports/php.html" in text
    assert "significantly better than BM25" in text
    assert "here/report.html" not in text
    assert "here/reports/prop.html" not in printed(since=3)
    # All were made now; none was, as when there was nothing to do.
    for since in (1, 4):
        assert re.findall(r"Report:  (\S+)", printed(since)) == ["here/report.html"]


def test_without_a_table_the_place_is_still_named(tmp_path: Path) -> None:
    assert headline(tmp_path).startswith("Report:")
    assert "Report:  runs/fruit/results/report.html\n" in headline(tmp_path, called="runs/fruit/results")


def test_long_labels_are_cut(made: Path) -> None:
    path = made / "tables" / "prop_headline.csv"
    path.write_text(path.read_text().replace("random sampling (", "random sampling of every word there is ("))
    table = headline(made, paper="prop").partition("Report:")[0].splitlines()
    assert any(line.startswith("random sampling of every wor… ") for line in table)
    assert max(len(line) for line in table) <= WIDTH
