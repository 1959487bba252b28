"""Benchmarks that compare with others: ratios, contestants' processes, and each script on a tiny size."""

import bz2
import importlib
import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from irpretrain.config.corpora import CorpusConfig
from irpretrain.config.text import GraphConfig
from irpretrain.corpora.sources import write_shard
from irpretrain.foundation.contracts import DOCUMENTS, HYPERLINKS, REDIRECTS
from irpretrain.wikipedia.build_graph import build_graph
from irpretrain.wikipedia.links import extract_links

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture
def side_by_side(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module that lets contestants take turns."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("side_by_side")


def test_a_ratio_is_the_median_of_the_rounds(side_by_side):
    def turns(*rates: float) -> list[Any]:
        return [side_by_side.Turn(rate, 1.0, 2.0, {}) for rate in rates]

    ours, theirs = turns(1, 20, 30, 60), turns(1000, 10, 10, 10)  # the first is for warming up
    assert side_by_side.ratio(ours, theirs, "wall") == (3.0, 2.0, 6.0)
    assert side_by_side.rate(ours, "wall") == 30
    assert side_by_side.rate(ours, "cpu") == 15
    assert side_by_side.rows({"ours": ours, "theirs": theirs}, "pears") == [
        "| pears | ours | 30 | 15 | 1.00 | 1.00 |",
        "| pears | theirs | 10 | 5 | 3.00 (2.00 to 6.00) | 3.00 (2.00 to 6.00) |",
    ]


class Counting:
    """Adds the round to what it was given; cannot do round 2."""

    def __init__(self, given: int) -> None:
        self.given = given

    def turn(self, number: int) -> Any:
        side_by_side = importlib.import_module("side_by_side")
        print("what libraries print is dropped")
        if number == 2:
            raise ValueError("two is too many")
        return side_by_side.Turn(self.given + number, 1.0, 1.0, {})


def test_each_contestant_has_its_turn_in_every_round(side_by_side, capfd):
    with side_by_side.playing({"ours": Counting, "theirs": Counting}, 5) as players:
        turns = side_by_side.play(players, 1)
    assert {name: [turn.amount for turn in own] for name, own in turns.items()} == {
        "ours": [5, 6],
        "theirs": [5, 6],
    }
    assert "dropped" not in "".join(capfd.readouterr())


def test_a_contestant_that_fails_ends_the_program_with_its_message(side_by_side):
    with (
        pytest.raises(SystemExit, match=r"(?s)^ours failed:.*ValueError: two is too many"),
        side_by_side.playing({"ours": Counting}, 5) as players,
    ):
        side_by_side.play(players, 2)


def test_what_is_not_installed_is_reported_and_left_out(side_by_side, capsys):
    found = side_by_side.installed(
        {"json": "json", "no_such_pear": "no-such-pear"}, "no pears", "see the head"
    )
    assert found == {"json"}
    assert capsys.readouterr().out == "no-such-pear: not installed, so no pears. To compare: see the head\n"


def run(script: str, *arguments: str) -> tuple[str, list[list[str]]]:
    """Run a round of a benchmark with one thread; return as `run_once` does."""
    return run_once(script, "--rounds", "1", "--threads", "1", *arguments)


def run_once(script: str, *arguments: str) -> tuple[str, list[list[str]]]:
    """Run a benchmark; return what it printed, and the cells of its table's rows."""
    command = [sys.executable, BENCHMARKS / script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    return done.stdout, [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


@pytest.fixture(scope="module")
def wiki_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Path]]:
    """A generated Wikipedia of 240 articles, and the folder with its dump and what two shards read of it."""
    folder = tmp_path_factory.mktemp("wiki")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        module = importlib.import_module("generated_wikipedia")
        wikipedia = module.Wikipedia(240, seed=3)
        module.write_dump(folder / "enwiki-multistream.xml.bz2", wikipedia)
        config = CorpusConfig(format="wikipedia-dump", path="enwiki-multistream.xml.bz2", shards=2)
        for shard in range(2):
            outputs = (folder / f"documents-{shard}", folder / f"redirects-{shard}")
            write_shard(config, folder / config.path, shard, *outputs)
            extract_links(outputs[0], GraphConfig(), folder / f"sources-{shard}", folder / f"links-{shard}")
        yield module, folder


def test_a_generated_dump_has_the_proportions_that_it_says(wiki_folder):
    module, folder = wiki_folder
    documents = [row for n in (0, 1) for row in DOCUMENTS.read(folder / f"documents-{n}").to_pylist()]
    wikipedia = module.Wikipedia(240, seed=3)
    assert {row["document_id"]: row["title"] for row in documents} == {
        f"enwiki/{wikipedia.page_number(n)}": wikipedia.title(n) for n in range(240)
    }
    articles = [row for row in documents if not row["disambiguation"]]
    assert 0.02 < 1 - len(articles) / 240 < 0.09
    roles = [{section["role"] for section in row["sections"]} for row in articles]
    assert 0.15 < sum("see-also" in role for role in roles) / len(articles) < 0.35
    redirects = sum(REDIRECTS.count(folder / f"redirects-{n}") for n in (0, 1))
    assert 1.1 < redirects / 240 < 1.7
    words = sum(len(row["body"].split()) for row in articles) / len(articles)
    assert 500 < words < 900
    assert 0.03 < sum(len(row["links"]) for row in articles) / (words * len(articles)) < 0.06
    assert max(section["level"] for row in articles for section in row["sections"]) == 4


def test_links_of_a_generated_dump_resolve(wiki_folder):
    _, folder = wiki_folder
    tables = [[[folder / f"{name}-{n}" for n in (0, 1)]] for name in ("sources", "links", "redirects")]
    counts = build_graph(*tables, GraphConfig(threads=1), folder / "graph")
    links = counts["links"]
    used, read = links["used"], sum(links[name] for name in ("used", "no_page"))
    assert 0.03 < 1 - used / read < 0.08, "red links"
    assert 0.03 < links["by_redirect"] / used < 0.15
    assert links["endless_redirect"] == links["redirect_to_no_page"] == 0
    hyperlinks = HYPERLINKS.read(folder / "graph" / "hyperlinks.parquet")
    assert 0.15 < sum(hyperlinks.column("symmetric").to_pylist()) / len(hyperlinks) < 0.5


def test_a_generated_dump_depends_on_its_seed_alone(wiki_folder, tmp_path):
    module, folder = wiki_folder
    dumps = [tmp_path / f"{seed}-multistream.xml.bz2" for seed in (3, 4)]
    module.write_dump(dumps[0], module.Wikipedia(240, seed=3), processes=2)
    module.write_dump(dumps[1], module.Wikipedia(20, seed=4))
    assert dumps[0].read_bytes() == (folder / "enwiki-multistream.xml.bz2").read_bytes()
    module.write_dump(dumps[0], module.Wikipedia(20, seed=3))
    assert dumps[0].read_bytes() != dumps[1].read_bytes()
    index = bz2.decompress((folder / "enwiki-multistream-index.txt.bz2").read_bytes()).decode().splitlines()
    byte, number, title = index[-1].split(":", 2)
    stream = bz2.BZ2Decompressor().decompress(
        (folder / "enwiki-multistream.xml.bz2").read_bytes()[int(byte) :]
    )
    assert f"<title>{title}</title>" in stream.decode()
    assert f"<id>{number}</id>" in stream.decode()


def test_growth_and_extrapolation(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    whole_runs = importlib.import_module("whole_runs")
    assert whole_runs.exponent([10, 100], [3.0, 30.0]) == pytest.approx(1)
    assert whole_runs.exponent([1, 10, 100], [9.0, 2.0, 200.0]) == pytest.approx(2)
    assert whole_runs.extrapolated([10, 100], [2.0, 20.0], 1000) == pytest.approx((200, 200))
    line, power = whole_runs.extrapolated([10, 20], [10.0, 40.0], 40)
    assert (line, power) == pytest.approx((100, 160))
    measured = {size: {"search": whole_runs.Cost(1, 9.0, size / 10, 50.0, 2.0)} for size in (100, 1000)}
    rows = whole_runs.table(measured, "articles", 10_000)
    assert rows[2] == "| search | 1 | 9.0 | 100.0 | 10 | 50 | 2.0 | 1.00, 0.00, 0.00 | 16.7 to 16.7 |"
    assert [row.count("|") for row in rows] == [10] * 4


def has(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


TINY = ("--articles", "3", "--lengths", "long", "--encoder")


@pytest.mark.deep
def test_training(make_encoder):
    encoder = str(make_encoder(max_position_embeddings=512))
    printed, rows = run(
        "training.py", *TINY, encoder, "--steps", "1", "--batch-groups", "2", "--queries", "40"
    )
    works = [(work, system) for work, system, *_ in rows]
    assert {("pre-training, long", "ours"), ("fine-tuning, long", "ours")} <= set(works)
    if not has("accelerate"):
        assert works == [("pre-training, long", "ours"), ("fine-tuning, long", "ours")]
        assert "accelerate" in printed.splitlines()[0]
        assert "not installed, so compared with less" in printed
    assert len(re.findall(r"losses of the first 3 steps", printed)) == 2


@pytest.mark.deep
def test_reranking(make_encoder):
    encoder = str(make_encoder(max_position_embeddings=512))
    printed, rows = run("reranking.py", *TINY, encoder, "--queries", "12", "--queries-in-turn", "3")
    assert [row[1] for row in rows][:3] == [
        "ours",
        "ours, batches of 16,384 word pieces",
        "plain loop, batches of 32",
    ]
    assert "scores have a standard deviation of" in printed, "they were compared with Hugging Face's"
    assert has("sentence_transformers") or "sentence-transformers: not installed" in printed


@pytest.mark.deep
def test_a_dump_is_read_as_long_and_as_short_pages():
    _, rows = run_once("dump.py", "--megabytes", "0.1")
    assert [row[1] for row in rows] == ["106", "1,312"]


@pytest.mark.deep
@pytest.mark.workflow
@pytest.mark.parametrize(
    ("collection", "size", "stages"),
    [
        ("wikipedia", "200", {"read_corpus", "build_groups hp", "build_groups acm", "search", "all"}),
        ("passages", "1000", {"compute_axioms", "index_weights", "search", "all"}),
    ],
)
def test_a_whole_run_of_one_size(collection, size, stages, tmp_path):
    sizes = ("--sizes", size, "--cores", "1", "--shards", "1", "--directory", str(tmp_path))
    printed, rows = run_once("whole_runs.py", collection, *sizes)
    assert stages <= {row[0] for row in rows}, printed
