"""A dry run ends with what its jobs would cost, and the full scale is planned without its data."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from irpretrain.config import load_config
from irpretrain.corpora.catalogue.read import read_catalogue
from irpretrain.workflow.costs.plan import main, score_files
from overlay_commands import OVERLAYS, ROOT, header_arguments

pytestmark = pytest.mark.workflow
MODEL = [
    "results/models/pretrained/prop-wikipedia/seed-1",
    "--configfile",
    str(ROOT / "configs/prop-paper.yaml"),
]
ALL = ROOT / "configs/paper.yaml"


def dry_run(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--dry-run"]
    command += ["--directory", str(folder), "--configfile", str(ALL), "--verbose", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout + done.stderr


@pytest.mark.deep
def test_all_five_papers_are_planned_without_their_data(tmp_path) -> None:
    """By an ordinary dry run: every experiment, what it costs, and what is missing."""
    shown = dry_run(tmp_path)
    config = load_config(ROOT / "config.yaml", ALL)
    assert set(config.report.papers) == {"prop", "ares", "wikiformer", "php", "deepct"}
    planned = set(re.findall(r"results/scores/([\w-]+)\.csv", shown))
    planned |= set(re.findall(r"results/depths/([\w-]+)\.csv", shown))
    assert planned == set(config.active_experiments)
    assert "Estimated cost" in shown
    _, missing = shown.split("planned as if they were; a run leaves out what needs them:\n")
    named = re.findall(r"^  ([\w-]+) +data/", missing, re.MULTILINE)
    elsewhere = {"cail-lcr", "lecard", "chinese-bert-wwm", "wikipedia-zh"}  # configs/legal-paper.yaml
    elsewhere |= {"cranfield", "trec-rag-2024", "multihop", "lee", "vital-articles"}  # no paper tests on them
    unused = {name for name in read_catalogue() if name.startswith("trec-dl-20")}
    assert set(named) == set(read_catalogue()) - elsewhere - (unused - {"trec-dl-2019-documents"})
    assert [path.name for path in tmp_path.iterdir()] == [".snakemake"]


def test_the_full_scale_is_planned_with_its_cost(capfd, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # results of other code in the checkout would be told too
    assert main(MODEL) == 0
    shown, noted = capfd.readouterr()
    assert noted == "Planned as if all data were there and nothing were done yet.\n"
    assert "planned as if they were; a run leaves out what needs them:" in shown
    before, estimate = shown.split("Estimated cost\n")
    assert before.strip() == "", "the answer stands alone"
    # 32 parts of Wikipedia: 7M articles at 1,582 a second of one core
    assert re.search(
        r"^read_corpus wikipedia-dump +32  7M documents +1\.2 h +measured$", estimate, re.MULTILINE
    )
    assert re.search(r"^total +\d+ .* h +[\d.]+ h$", estimate, re.MULTILINE)
    # At 578,533 a second of an H200.
    row = r"^pretrain with MLM +1  19\.7G word pieces +9\.4 h  measured: BERT-base$"
    assert re.search(row, estimate, re.MULTILINE), estimate
    ends = r"^Disk: about \d+ GB of results, beside the data\. Memory: [\d.]+ GB for the largest job\.$"
    assert re.search(ends, estimate, re.MULTILINE)
    assert "Comes out" not in estimate, "a model fills no table"
    assert set(re.findall(r"^  ([\w-]+) +data/", estimate, re.MULTILINE)) == {
        "bert-base-uncased",
        "wikipedia",
    }
    assert max(map(len, shown.splitlines())) <= 100
    assert "  wikipedia          data/enwiki-pages-articles.xml.bz2, about 20 GB\n" in estimate
    assert "To fetch: 20 GB.\n" in estimate


def test_one_column_is_planned_by_its_data_set(capfd) -> None:
    assert (
        main(["robust04", "--configfile", str(ROOT / "configs/prop-paper.yaml"), "--card", "H100 PCIe"]) == 0
    )
    shown = "".join(capfd.readouterr())
    columns = shown.split("Comes out, as columns of tables:\n")[1].split("\n\n")[0].splitlines()
    assert columns[0] == "  prop table2: Robust04 (nDCG@20, P@20)"
    assert {column.split(": ")[1].split(" (")[0] for column in columns} == {"Robust04"}
    missing = set(re.findall(r"^  ([\w-]+) +data/", shown, re.MULTILINE))
    assert missing == {"bert-base-uncased", "msmarco-documents", "robust04", "wikipedia"}
    assert "one NVIDIA H100 PCIe" in shown.replace("\n", " ")
    assert "To fetch: 29 GB, and what is not known of robust04.\n" in shown


def test_a_table_stands_for_the_scores_of_its_data_sets() -> None:
    config = load_config(ROOT / "config.yaml", ROOT / "configs/prop-paper.yaml")
    experiments = {
        name for name, section in config.active_experiments.items() if section.dataset == "robust04"
    }
    files = score_files(config)
    assert set(files["robust04"]) == {f"results/scores/{name}.csv" for name in experiments}
    assert set(files["table2"]) > set(files["robust04"])


PREPARING = {"my-deepct-index", "my-wikipedia", "other-language"}
PLANNED = [
    path if path.stem in PREPARING else pytest.param(path, marks=pytest.mark.deep) for path in OVERLAYS
]


@pytest.mark.parametrize("overlay", PLANNED, ids=lambda path: path.stem)
def test_every_overlay_is_planned_by_its_own_command(overlay, capfd, monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    arguments = header_arguments(overlay)
    folders = set((ROOT / "runs").glob("*"))
    assert main(arguments) == 0, capfd.readouterr()
    assert "Estimated cost" in capfd.readouterr().out
    assert set((ROOT / "runs").glob("*")) == folders


@pytest.mark.parametrize(
    "overlay",
    [
        "my-wikipedia",
        *(pytest.param(name, marks=pytest.mark.deep) for name in sorted(PREPARING - {"my-wikipedia"})),
    ],
)
def test_an_overlay_that_compares_nothing_names_its_target(overlay, capfd) -> None:
    path = ROOT / f"configs/{overlay}.yaml"
    assert main(["--configfile", str(path)]) == 1
    assert f"name a target, such as {header_arguments(path)[0]};" in "".join(capfd.readouterr())
    assert main(["exported_models", "--configfile", str(path)]) == 1
    assert "name one, such as results/exported/prop/seed-1\n" in "".join(capfd.readouterr())


def test_an_unknown_card_is_refused(capfd) -> None:
    assert main(["--card", "H1000"]) == 1
    assert "card: 'H1000' is not in resources/gpu_rates.yaml; " in "".join(capfd.readouterr())


def test_a_misspelt_data_set_has_one_message(capfd) -> None:
    assert main(["robust4", "--configfile", "configs/prop-paper.yaml"]) == 1
    shown, _ = capfd.readouterr()
    assert "robust4: no rule makes such a file" in shown
    assert shown.endswith("did you mean robust04?\n")
    assert "File " not in shown


def test_a_reader_that_stops_reading_ends_the_plan_without_a_traceback(tmp_path) -> None:
    command = f"{sys.executable} -m irpretrain.workflow.costs.plan | head -1"
    read = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert len(read.stdout.splitlines()) == 1
    assert read.stderr == "Planned as if all data were there and nothing were done yet.\n"
