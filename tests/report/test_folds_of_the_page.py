"""What the report says of held-out groups and of tuned first stages."""

import json
from math import nan
from pathlib import Path

import pytest

from irpretrain.config import Config
from irpretrain.foundation.errors import InputError
from irpretrain.report.probes import ProbeAccuracy, ProbedTask, probe_views, read_probe

INPUTS = ("right", "swapped", "none", "before")
HEADING = "task,input,groups,accuracy,low,high,p_value\n"


def rows(task: str, groups: int, right: str, swapped: str) -> str:
    """Four rows; the last three inputs are as swapped."""
    numbers = [right, *[swapped] * 3]
    return "".join(f"{task},{name},{groups},{row}\n" for name, row in zip(INPUTS, numbers, strict=True))


@pytest.mark.parametrize(
    ("groups", "right", "swapped", "p", "said"),
    [
        (100, (0.9, 0.8, 0.95), 0.6, 0.001, "The text is used (p = 0.001)."),
        (100, (0.97, 0.92, 0.99), 0.96, 0.6, "This task is solved without the text."),
        (7, (1.0, 0.65, 1.0), 1.0, 1.0, "Only 7 groups. This task is solved without the text."),
        (100, (0.6, 0.49, 0.7), 0.6, 1.0, "Not above chance level."),
        (8, (1.0, 0.7, 1.0), 0.6, 0.06, "Only 8 groups. Undecided whether the text is used."),
        (100, (0.9, 0.8, 0.95), 1.0, 0.001, "This task is solved without the text."),
        (1, (1.0, 0.6, 1.0), nan, nan, "Only 1 group. No text of another document."),
        (0, (nan, nan, nan), nan, nan, "No held-out group was tested."),
        # On the bounds: 20 groups, a level of 0.05, equal accuracies, chance level, the interval's end.
        (20, (0.9, 0.8, 0.95), 0.6, 0.05, "The text is used (p = 0.05)."),
        (19, (0.9, 0.8, 0.95), 0.9, 0.001, "Only 19 groups. This task is solved without the text."),
        (20, (0.6, 0.5, 0.7), 0.4, 0.001, "Not above chance level."),
        (20, (0.9, 0.8, 0.95), 0.8, 0.06, "This task is solved without the text."),
    ],
)
def test_what_a_row_says(
    groups: int, right: tuple[float, float, float], swapped: float, p: float, said: str
) -> None:
    others = dict.fromkeys(INPUTS, ProbeAccuracy(swapped, swapped, swapped, p))
    assert ProbedTask("ati", groups, {**others, "right": ProbeAccuracy(*right, nan)}).reading == said


def test_the_page_has_a_line_for_each_task(config: Config, deepct_section, tmp_path: Path) -> None:
    model = next(name for name in config.models if name != "control")
    path = tmp_path / "results" / "metrics" / "pretrained" / model / "seed-3.probe.csv"
    path.parent.mkdir(parents=True)
    some = rows("srr", 40, "0.9,0.8,0.95,", "0.6,0.5,0.7,0.001") + rows("ati#1", 0, ",,,", ",,,")
    path.write_text(HEADING + some)
    first, second = probe_views(config, [path])
    assert first[1:5] == (3, "srr", 40, "0.900 [0.800, 0.950]")
    assert (second[2], second[-1]) == ("ati", "No held-out group was tested.")
    assert deepct_section("probes") is None
    text = deepct_section("probes", probes=[path])
    assert "3 srr 40 0.900 [0.800, 0.950] 0.600 [0.500, 0.700]" in text
    assert "3 ati 0 – – – – No held-out group was tested." in text


@pytest.mark.parametrize("content", ["a,b\n1,2\n", HEADING + "rop,right,x,1,1,1,\n"], ids=["other", "number"])
def test_a_broken_file_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "probe.csv").write_text(content)
    with pytest.raises(InputError, match="not a model's probe"):
        read_probe(tmp_path / "probe.csv")


def test_the_page_shows_what_first_stages_were_tuned_to(
    config: Config, deepct_section, tmp_path: Path
) -> None:
    """k1 is in the middle of its grid, b at an edge."""
    sweep = {"measure": "RR@10", "queries": 500, "parameters": {"k1": 10.0, "b": 0.9}, "value": 0.75}
    path = tmp_path / "deepct-bm25.json"
    path.write_text(json.dumps(sweep | {"at_edge": ["b"]}))
    label, dataset = config.first_stages["deepct-bm25"].label, config.datasets["squad-held-out"].label
    row = f"{label} {dataset}, 500 queries k₁ = 10, b = 0.9 b RR@10 0.750"
    assert row in deepct_section("first-stages", sweeps=[path])
    assert deepct_section("first-stages") is None
