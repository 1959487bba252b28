"""The example of docs/corpora.md works as printed, and its tables name what there is."""

import re
from pathlib import Path

import yaml

from irpretrain.config import load_config
from irpretrain.config.corpora import CorpusConfig
from irpretrain.corpora.collection import check_collection
from irpretrain.corpora.embedded import read_manifest, resolve
from irpretrain.corpora.registry import FORMATS
from irpretrain.corpora.sources import check_sources, write_shard
from irpretrain.corpora.testcollection import prepare
from irpretrain.foundation.contracts import DOCUMENTS, QUERIES

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/corpora.md").read_text()
FILES = dict(re.findall(r"```\w+ file=(\S+)\n(.*?)```", GUIDE, flags=re.DOTALL))


def test_the_example(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    config = load_config(ROOT / "config.yaml", "fruit.yaml")
    assert list(config.active_experiments) == ["zero-shot", "fine-tuned"]
    check_sources(config, read_manifest(ROOT / "resources/embedded.yaml"))
    corpus, dataset = config.corpora["fruit"], config.datasets["fruit"]
    write_shard(corpus, resolve(corpus.path)[1], 0, "documents-0.parquet", "redirects-0.parquet")
    assert check_collection(["documents-0.parquet"])["documents"] == 4
    sources = resolve(dataset.queries.path)[1], resolve(dataset.qrels.path)[1]
    counts = prepare(dataset, *sources, ["documents-0.parquet"], config.seed, "queries.parquet", "qrels.txt")
    assert DOCUMENTS.read("documents-0.parquet")["document_id"].to_pylist() == [
        "apple",
        "banana",
        "cherry",
        "lemon",
    ]
    assert QUERIES.read("queries.parquet")["text"].to_pylist() == [
        "sour fruit",
        "fruit of warm countries",
        "fruit with early blossom",
    ]
    assert (
        Path("qrels.txt").read_text() == "1 0 apple 0\n1 0 lemon 1\n2 0 banana 1\n2 0 lemon 1\n3 0 cherry 1\n"
    )
    assert counts["queries_written"] == 3
    alone = load_config(ROOT / "config.yaml", "first-stages.yaml")
    assert list(alone.active_experiments) == ["first-stages"]
    assert (alone.used_models, alone.used_names("first_stages")) == ([], ["ql-smooth"])
    check_sources(alone, read_manifest(ROOT / "resources/embedded.yaml"))


def test_the_other_corpora_are_valid():
    blocks = re.findall(r"```yaml\n(corpora:.*?)```", GUIDE, flags=re.DOTALL)
    found = [
        CorpusConfig(**values) for block in blocks for values in yaml.safe_load(block)["corpora"].values()
    ]
    assert [corpus.format for corpus in found] == ["tsv", "tsv", "wikipedia-dump"]
    assert found[2].options["names"]["see_also"] == ["Rilataj artikoloj"]


def test_the_tables_name_every_format_option_and_asset():
    for kind, names in FORMATS.items():
        unnamed = [name for name in names if not (f"`{name}`" in GUIDE or f"`{name}:<id>`" in GUIDE)]
        assert unnamed == [], f"docs/corpora.md says nothing of these formats of {kind}"
    for name, asset in read_manifest(ROOT / "resources/embedded.yaml").assets.items():
        (row,) = re.findall(rf"^\| `embedded:{name}` .*$", GUIDE, flags=re.MULTILINE)
        assert asset.licence.split(" (")[0] in row
