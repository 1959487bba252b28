"""What the catalogue says of ir_datasets is so in the package, where IR_DATASETS names a folder with it."""

import os
from typing import Any

import pytest

from irpretrain.corpora.catalogue.read import read_catalogue
from irpretrain.corpora.formats.ir_datasets import PARTS, downloads_text, load_dataset, read_records
from irpretrain.corpora.registry import Kind

FOLDER = os.environ.get("IR_DATASETS")
CATALOGUE = {name: entry for name, entry in read_catalogue().items() if entry.ir_datasets}
WITH_IDENTIFIERS = [(name, key) for name, entry in CATALOGUE.items() for key in entry.ir_datasets]


@pytest.mark.skipif(FOLDER is None, reason="IR_DATASETS names no folder with ir_datasets")
@pytest.mark.parametrize(("name", "key"), WITH_IDENTIFIERS)
def test_identifiers_exist_and_have_the_expected_numbers(name, key, monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    entry, identifiers = CATALOGUE[name], CATALOGUE[name].ir_datasets[key]
    for identifier in identifiers:
        load_dataset(identifier)
    check(entry.corpora.get(key), "documents", identifiers[:1])
    check(entry.datasets.get(key, {}).get("queries"), "topics", identifiers)
    check(entry.datasets.get(key, {}).get("qrels"), "judgements", identifiers)


def check(section: dict[str, Any] | None, kind: Kind, identifiers: list[str]) -> None:
    """Compare a section's expected number with what ir_datasets says and, of data that are on the disk, has."""
    having = [identifier for identifier in identifiers if load_dataset(identifier).has(PARTS[kind])]
    if section is not None and "expected" in section:
        counts = [getattr(load_dataset(identifier), f"{PARTS[kind]}_count")() for identifier in having]
        assert sum(filter(None, counts)) == section["expected"]
        states = downloads_text((identifier, PARTS[kind]) for identifier in having)
        if kind != "documents" and "missing" not in states:
            records = sum(1 for identifier in having for _ in read_records(identifier, PARTS[kind]))
            assert records == section["expected"]


@pytest.mark.parametrize("name", CATALOGUE)
def test_keys_are_those_of_the_entry(name):
    assert set(CATALOGUE[name].ir_datasets) <= {*CATALOGUE[name].corpora, *CATALOGUE[name].datasets}
