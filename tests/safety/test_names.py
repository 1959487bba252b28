"""Names of the configuration become parts of paths, of wildcards and of jobs' command lines: only plain ones pass."""

import copy
import re
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from base_config import base_config
from irpretrain.config import parse_config
from irpretrain.config.root import ENTRY_SECTIONS, Config
from irpretrain.foundation.errors import ConfigError

WORDS = r"""
../up .. . /etc a/b a\b a;b a'b a"b $(id) `id` a|b a&b a>b * ? ~ {model} {{a}} a%b -a --config a- a--b
é ａ A a.b a_b a,b a=b a:b #a a@50 ١
"""
HOSTILE = [*WORDS.split(), "", " ", "a b", "a\nb", "a\n", "\na", "a\tb", "a\x00b"]
PLAIN = "[a-z0-9]+(-[a-z0-9]+)*"
NAMES = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=8), st.from_regex(r"[a-z0-9./;'\" \n$-]{1,8}"))


@cache
def default() -> dict[str, Any]:
    found: dict[str, Any] = base_config()
    return found


ENTRIES: dict[str, Any] = {
    "indexes": {"type": "expansion", "path": "x"},
    "downstream_tasks": {
        "label": "x",
        "questions": {
            "train": {"format": "mrqa", "path": "x"},
            "development": {"format": "mrqa", "path": "x"},
        },
    },
    "downstream": {"tasks": ["mrqa-newsqa"], "models": ["prop"]},
    "weight_distributions": {"label": "x", "corpora": ["squad-dev"], "weightings": ["tf"]},
    "attributions": {"dataset": "squad", "models": ["prop"]},
}


def entry_of(section: str) -> Any:
    given = default().get(section) or {}
    entry: Any = copy.deepcopy(next(iter(given.values()))) if given else ENTRIES[section]
    return {**entry, "label": "another"} if "label" in entry else entry


def with_entry(section: str, name: str) -> dict[str, Any]:
    changed = copy.deepcopy(default())
    changed[section] = {**(changed.get(section) or {}), name: entry_of(section)}
    return changed


def test_every_section_of_names_is_known():
    """A new section with names of the user's must come under the rule."""
    maps = {
        name
        for name, field in Config.model_fields.items()
        if str(field.annotation).startswith("dict[") and not name.startswith("absent")
    }
    assert maps == set(ENTRY_SECTIONS)


@pytest.mark.hypothesis
@pytest.mark.parametrize("section", ENTRY_SECTIONS)
def test_no_other_name_passes(section: str) -> None:
    @given(NAMES)
    def check(name: str) -> None:
        if re.fullmatch(PLAIN, name):
            return
        with pytest.raises(ConfigError):
            parse_config(with_entry(section, name))

    check()


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_refused(name: str) -> None:
    with pytest.raises(ConfigError):
        parse_config(with_entry("corpora", name))


@pytest.mark.parametrize("section", ENTRY_SECTIONS)
def test_plain_names_pass(section: str) -> None:
    """So it is the name that is refused above, not the entry."""
    for name in ("own", "0", "a-1-b"):
        assert name in getattr(parse_config(with_entry(section, name)), section)


@given(NAMES)
def test_runs_of_others_are_named_after_data_sets(name: str) -> None:
    changed = copy.deepcopy(default())
    changed.setdefault("first_stages", {})["theirs"] = {"label": "x", "runs": {name: {"path": "x"}}}
    if name not in changed["datasets"]:
        with pytest.raises(ConfigError):
            parse_config(changed)


@given(
    st.one_of(NAMES, NAMES.map(lambda name: f"few-shot-{name}"), NAMES.map(lambda name: f"zero-shot{name}"))
)
def test_regimes_are_parts_of_paths_too(regime: str) -> None:
    changed = copy.deepcopy(default())
    experiment = next(iter(changed["experiments"]))
    changed["experiments"][experiment]["regimes"] = [regime]
    try:
        found = parse_config(changed).experiments[experiment].regimes
    except ConfigError:
        return
    assert re.fullmatch(r"zero-shot|full|few-shot-[1-9][0-9]*", found[0], re.ASCII)


@given(NAMES)
def test_models_of_experiments_are_those_of_the_configuration(model: str) -> None:
    """Snapshots, `model@step`, are parts of paths."""
    changed = copy.deepcopy(default())
    experiment = next(name for name, entry in changed["experiments"].items() if "models" in entry)
    for name in (model, f"prop@{model}", f"prop-rop@{model}"):
        changed["experiments"][experiment]["models"] = [name]
        try:
            parse_config(changed)
        except ConfigError:
            continue
        assert re.fullmatch(r"[a-z0-9-]+(@[0-9]+)?", name, re.ASCII)
