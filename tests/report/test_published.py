from pathlib import Path

import pytest
from small_run import PROP_YAML, changed_paper

from irpretrain.config.papers import load_published
from irpretrain.config.printed import PublishedValue
from irpretrain.foundation.errors import InputError


def test_prop_numbers_as_printed() -> None:
    paper = load_published(PROP_YAML)
    table = paper.tables["table2"]
    assert table.value("bert", "robust04", "nDCG@20") == PublishedValue(
        value=0.459, marks="*", printed="0.459*"
    )
    assert table.value("prop-msmarco", "mq2008", "P@10").printed == "0.269*†‡"
    assert table.value("ict", "gov2", "nDCG@20").marks == "*†"
    assert table.value("sota", "clueweb09b", "P@20") is None
    assert table.value("ql", "robust04", "nDCG@10") is None
    assert paper.tables["table3"].value("mlm", "clueweb09b", "nDCG@20").value == 0.306
    assert paper.tables["table4"].value("further", "gov2", "nDCG@20").printed == "0.531†"
    assert paper.tables["table5"].value("random", "mq2007", "nDCG@10").value == 0.513


def test_numbers_agree_where_two_tables_print_the_same_run() -> None:
    tables = load_published(PROP_YAML).tables
    for dataset, measure in [(c.dataset, c.measure) for c in tables["table3"].columns]:
        # Table 3's last row is PROP on MS MARCO of Table 2; Table 4's first row is the better PROP of Table 2.
        both = [tables["table2"].value(f"prop-{c}", dataset, measure).value for c in ("wikipedia", "msmarco")]
        assert tables["table3"].value("rop-mlm", dataset, measure).value == both[1]
        assert tables["table4"].value("without", dataset, measure).value == max(both)


def test_gains_of_the_running_text() -> None:
    """Section 4.5 gives 24.4 %, 6.7 % and 9 % over the previous best on Gov2, MQ2007 and MQ2008."""
    table = load_published(PROP_YAML).tables["table2"]
    for dataset, measure, row, gain in [
        ("gov2", "nDCG@20", "prop-msmarco", 24.4),
        ("mq2007", "nDCG@10", "prop-wikipedia", 6.7),
        ("mq2008", "nDCG@10", "prop-msmarco", 9.0),
    ]:
        ours, best = table.value(row, dataset, measure).value, table.value("sota", dataset, measure).value
        assert round(100 * (ours / best - 1), 1) == gain


def test_names_for_the_workflow() -> None:
    assert list(load_published(PROP_YAML).tables) == ["table2", "table3", "table4", "table5"]
    assert list(load_published(PROP_YAML).figures) == ["figure1a", "figure1b", "figure2"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c["tables"]["table3"]["rows"][0]["values"].pop(), "row mlm: 4 values for 5 columns"),
        (
            lambda c: c["tables"]["table3"]["rows"][0]["values"].__setitem__(0, "0,467"),
            "is not a number with marks",
        ),
        (lambda c: c["tables"]["table3"]["rows"][0]["values"].__setitem__(0, "0.467‡"), "does not explain"),
        (
            lambda c: c["tables"]["table3"]["columns"][0].update(dataset="robust05"),
            "unknown data set robust05",
        ),
        (lambda c: c["tables"]["table3"]["marks"][0].update(over="nothing"), "no row has the key nothing"),
        (lambda c: c["tables"]["table3"].update(colour="red"), "tables.table3.colour"),
        (
            lambda c: c["tables"]["table3"]["rows"][0].update(stands_for=["rop"]),
            "either values or stands_for",
        ),
        (lambda c: c["tables"]["table3"]["rows"][0].update(key="rop"), "two rows have the same key"),
    ],
)
def test_faults_are_named(tmp_path: Path, change, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_published(changed_paper(PROP_YAML, tmp_path, change))


def test_a_missing_file_is_a_message(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.yaml: cannot be read"):
        load_published(tmp_path / "none.yaml")
