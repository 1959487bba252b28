"""A project small enough to run the whole workflow in two minutes: 72 documents, 24 queries, a 2-layer encoder, and a
Wikipedia of 36 articles (tiny_wiki).

Everything is made by rule, so that tests know what to expect: document i is about topic i % 12, its text repeats
the topic's words between common ones; query q asks for two words of topic q % 12 and a common one, and has that
topic's documents as relevant. Four more queries, u, are tested by models fine-tuned on the others.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml
from tiny_wiki import dump

from irpretrain.config import lay_overlays
from patience import PATIENCE
from warm_snakemake import run_snakemake

ROOT = Path(__file__).resolve().parents[2]
FULL = ROOT / "configs/embedded-full.yaml"
TOPICS = (
    "river water bridge flood", "star planet orbit moon", "bread flour oven yeast", "chess king queen pawn",
    "music violin piano opera", "train rail station engine", "forest tree leaf moss", "city street house tower",
    "ocean whale coral tide", "painter canvas colour brush", "winter snow frost ice", "garden rose tulip soil",
)  # fmt: skip
FILLERS = ("near", "old", "great", "small", "early", "later", "common", "known", "long", "high")
DOCUMENTS, QUERIES = 72, 24
ENVIRONMENT = Path(sys.executable).parent.parent
IS_INSTALLED = (f"VENV={ENVIRONMENT}", "--assume-old", "environment")
"""Words for make: this environment is the one that it would set up."""


def words(topic: int) -> list[str]:
    """The four words of a topic."""
    return TOPICS[topic % len(TOPICS)].split()


def document(number: int) -> dict[str, str]:
    """Document `number`: 40 words, mostly of its topic, in an order that differs from document to document."""
    own = words(number)
    body = []
    for i in range(40):
        step = (number // len(TOPICS) + 1) * (i + 1)
        body.append(own[step % 4] if i % 4 else FILLERS[(step + number) % len(FILLERS)])
    return {"id": f"d{number:02d}", "title": f"{own[0]} {own[1]}", "text": " ".join(body) + "."}


def query(number: int) -> str:
    """Query `number`: two words of its topic and a common one, so that candidates of other topics are found too."""
    own = words(number)
    return f"{own[number % 4]} {own[(number // 12 + 1 + number) % 4]} {FILLERS[number % len(FILLERS)]}"


def code_blocks(page: str, language: str) -> list[str]:
    """The code blocks of a page of docs/, without the indentation of lists."""
    text = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
    found = re.findall(rf"^( *)```{language}\n(.*?)```", text, re.MULTILINE | re.DOTALL)
    return [re.sub(rf"^{indent}", "", block, flags=re.MULTILINE) for indent, block in found]


def make_project(folder: Path, **overrides: Any) -> Path:
    """Write documents, topics, judgements, an encoder and `tiny.yaml` into `folder`; return the overlay's path."""
    data = folder / "data"
    (data / "documents").mkdir(parents=True)
    for part in range(2):
        rows = [json.dumps(document(i)) for i in range(part * DOCUMENTS // 2, (part + 1) * DOCUMENTS // 2)]
        (data / "documents" / f"part-{part}.jsonl").write_text("\n".join(rows) + "\n")
    (data / "wiki.xml").write_text(dump([words(topic) for topic in range(len(TOPICS))]))
    (data / "queries.tsv").write_text("".join(f"q{n:02d}\t{query(n)}\n" for n in range(QUERIES)))
    judged = [
        f"q{q:02d} 0 d{d:02d} 1\n" for q in range(QUERIES) for d in range(DOCUMENTS) if q % 12 == d % 12
    ]
    (data / "qrels.txt").write_text("".join(judged))
    (data / "unseen-queries.tsv").write_text(
        "".join(f"u{n:02d}\t{words(n)[0]} {FILLERS[n]}\n" for n in range(4))
    )
    unseen = [f"u{n:02d} 0 d{d:02d} 1\n" for n in range(4) for d in range(DOCUMENTS) if n == d % 12]
    (data / "unseen-qrels.txt").write_text("".join(unseen))
    # What ARES's predictors learn from is asked by others than the tested queries.
    (data / "asked-queries.tsv").write_text(
        "".join(f"a{n:02d}\t{' '.join(words(n)[n // 12 : n // 12 + 2])}\n" for n in range(36))
    )
    requested = [f"a{n:02d} 0 d{d:02d} 1\n" for n in range(36) for d in range(DOCUMENTS) if n % 12 == d % 12]
    (data / "asked-qrels.txt").write_text("".join(requested))
    make_encoder(data / "encoder")
    overlay = folder / "tiny.yaml"
    overlay.write_text(yaml.safe_dump(overlay_config(**overrides)))
    return overlay


def copy_project(folder: Path) -> Path:
    """Copy what runs the workflow into `folder`, but for what Python compiles: other tests may be writing that."""
    for name in ("src", "rules", "scripts", "resources"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Snakefile", "config.yaml"):
        shutil.copy2(ROOT / name, folder / name)
    return folder


def copy_run(folder: Path, where: Path) -> Path:
    """Copy a finished run of the tiny project into the folder `where`; nothing is made again in the copy."""
    return shutil.copytree(folder, where / folder.name, ignore=shutil.ignore_patterns("log", "locks"))


def make_encoder(folder: Path) -> None:
    """A random BERT of 2 layers x 32 with a vocabulary of the words above and of letters."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    letters = [chr(c) for c in range(ord("a"), ord("z") + 1)]
    known = sorted({word for topic in TOPICS for word in topic.split()} | set(FILLERS))
    vocabulary = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *letters,
        *(f"##{c}" for c in letters),
        ".",
        *known,
    ]
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "BertTokenizer", "do_lower_case": True})
    )
    tokenizer = BertTokenizerFast.from_pretrained(folder)
    assert len(tokenizer) == len(vocabulary)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    BertModel(BertConfig(vocab_size=len(vocabulary), max_position_embeddings=128, **shape)).save_pretrained(
        folder
    )


def no_experiments() -> dict[str, None]:
    """Entries of an overlay that remove all experiments that lie under the tiny one."""
    return dict.fromkeys(lay_overlays(ROOT / "config.yaml", [FULL])["experiments"])


# The overlay on the default and its ablations: own corpus, few steps, few folds, every kind of job.
OVERLAY = """
corpora:
  {enwiki-excerpt: null, squad-train: null, squad-dev: null, squad-held-out: null,
   tiny: {format: jsonl, path: data/documents}, wiki: {format: wikipedia-dump, path: data/wiki.xml}}
collections: {pretraining: [tiny], questions: [tiny], target: [tiny], articles: [wiki]}
pseudo_queries: {support: document, minimum_count: 2}
word_vectors: {dimensions: 8, minimum_count: 1}
graph: {segment_words: 16}
predictors:
  {simple: {dataset: asked}, hard: {dataset: asked}, ii: null, iii: null, simple-equal: null, ii-equal: null,
   iii-equal: null, hard-equal: null}
encoder: {path: data/encoder, label: tiny, layers: 2, vocabulary_size: null}
objectives:
  rop: {minimum_count: 2, subsampling_threshold: 0.01}
  rop-random: {minimum_count: 2}
  ltm: {links: see-also}
  hp: {minimum_words: 40}
  shp: {minimum_words: 40}
  mrds: {minimum_words: 40}
pretraining: {steps: 6, mlm_head_steps: 3, batch_groups: 4, max_length: 48, log_every: 2}
models:
  prop: {training: {snapshots: [2]}}
  prop-rop: {training: {snapshots: [2]}}
  prop-random: null
  prop-further: {training: {steps: 3}}
  wikiformer: {training: {steps: 4, batch_groups: 4}}
  php-hp-only: {training: {steps: 4, epochs: null, mlm_head_steps: 2}}
  php-shp: {training: {steps: 4, epochs: null, mlm_head_steps: 2}}
  php: {training: {steps: 4, epochs: null, mlm_head_steps: 2}}
datasets:
  squad: null
  squad-train: null
  squad-finetuning: null
  squad-held-out: null
  squad-first-stages: null
  squad-questions: null
  asked:
    label: asked
    corpus: tiny
    queries: {format: tsv, path: data/asked-queries.tsv}
    qrels: {format: trec, path: data/asked-qrels.txt}
    sample_queries: null
  tiny:
    label: tiny
    corpus: tiny
    queries: {format: tsv, path: data/queries.tsv}
    qrels: {format: trec, path: data/qrels.txt}
    measures: [nDCG@20, P@20, AP, RR@10]
    folds: 3
  tiny-unseen:
    label: tiny unseen
    corpus: tiny
    queries: {format: tsv, path: data/unseen-queries.tsv}
    qrels: {format: trec, path: data/unseen-qrels.txt}
    train_on: tiny
term_weights:
  deepct:
    {dataset: asked, max_length: 32, window_overlap: 8, training: {steps: 6, batch_size: 4, log_every: 2}}
  deepct-query: {dataset: tiny, max_length: 30, training: {steps: 3, batch_size: 4}}
  frequencies: {label: tf, model: tf}
  oracle: {dataset: tiny}
  oracle-query: {dataset: tiny}
retrieval: {depth: 20, sweep: {k1: [0.9, 10.0], b: [0.4, 0.9], smoothing: [0.1, 0.5]}}
first_stages:
  tf-bm25: {tuned_on: asked}
  deepct-bm25: {tuned_on: asked}
  deepct-root-ql: {label: "QL, DeepCT √", index: deepct-root, model: ql-jm}
  frequencies-bm25: {label: "BM25, frequencies", index: frequencies}
reranking: {depth: 20, max_length: 48, query_length: 8}
finetuning: {epochs: 1, max_length: 48, query_length: 8, negatives: 1}
experiments:
  zero-shot: {dataset: tiny, models: [control, prop]}
  fine-tuned: {dataset: tiny, models: [prop]}
  few-shot: {dataset: tiny-unseen, regimes: [few-shot-2]}
  unseen: {dataset: tiny-unseen, models: [prop], regimes: [full], papers: [prop]}
  zero-shot-control: null
  zero-shot-ares: {dataset: tiny}
  zero-shot-wikiformer: {dataset: tiny, models: [control, wikiformer]}
  zero-shot-php: {dataset: tiny, models: [control, php]}
  first-stages-deepct: {dataset: tiny-unseen, first_stages: [tf-bm25, deepct-bm25]}
  queries-deepct: {dataset: tiny-unseen, first_stages: [bow-tf]}
  depths-tf: null
  depths-deepct: {dataset: tiny, depths: [2, 12]}
diagnoses: {embedded: {documents: 20, models: [ares-simple]}}
attributions: {figure4: null, case: {dataset: tiny, models: [control, prop]}}
weight_distributions:
  squad-dev: null
  tiny: {label: tiny, corpora: [tiny], weightings: [tf, deepct, deepct-root, oracle]}
term_weight_pages:
  squad: null
  cases:
    {dataset: tiny-unseen, weightings: [tf, deepct], first_stages: [bm25, deepct-bm25], query: u00}
"""


def overlay_config(shards: int = 1, **top: Any) -> dict[str, Any]:
    """Return a copy of the overlay, with other sections."""
    overlay = {"layers": [str(FULL)], **yaml.safe_load(OVERLAY)}
    for corpus in ("tiny", "wiki"):
        overlay["corpora"][corpus]["shards"] = shards
    return overlay | top


def readme_command(command: str, folder: Path, cores: int = 2, targets: Iterable[str] = ()) -> list[str]:
    """A command of the README on the project in `folder`: its overlay, folder and `targets` are added, nothing else."""
    words = shlex.split(command)
    tiny = " ".join([f"--configfile {folder / 'tiny.yaml'} --directory {folder}", *targets])
    if words[0] == "make":
        return ["make", *IS_INSTALLED, f"CORES={cores}", *words[1:], f"ARGS={tiny}"]
    return [words[0], "--snakefile", str(ROOT / "Snakefile"), *words[1:], *shlex.split(tiny)]


SNAKEMAKE_WORDS = 3
"""Words of `snakemake_command` before its arguments."""


def snakemake_command(folder: Path, *arguments: str, cores: int = 2) -> list[str]:
    """The command that runs the workflow in `folder` with its overlay."""
    return [
        sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder),
        "--configfile", str(folder / "tiny.yaml"), "--cores", str(cores), "--rerun-incomplete", *arguments,
    ]  # fmt: skip


def run_workflow(
    folder: Path, *arguments: str, cores: int = 2, expect: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run the workflow in `folder`; fail with its output when it does not exit with `expect`."""
    own = snakemake_command(folder, *arguments, cores=cores)[SNAKEMAKE_WORDS:]
    return checked(run_snakemake(own, environment()), expect)


def environment() -> dict[str, str]:
    """This process's environment, with the programs of its Python first."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def run_command(
    command: list[str], expect: int = 0, more: dict[str, str] | None = None, project: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    """Run a command in a project's root, with `more` in its environment; fail with its output when it does not exit
    with `expect`."""
    variables = environment() | {"PYTHONPATH": str(project / "src")} | (more or {})
    done = subprocess.run(
        command, cwd=project, env=variables, capture_output=True, text=True, timeout=PATIENCE
    )
    return checked(done, expect)


def run_project(
    project: Path,
    folder: Path,
    *arguments: str,
    overlays: Sequence[Path] = (),
    cores: int = 2,
    expect: int = 0,
) -> subprocess.CompletedProcess[str]:
    """Run the Snakefile and the library of a project in another folder, with overlays over its default."""
    words = [*arguments, "--snakefile", str(project / "Snakefile"), "--directory", str(folder)]
    words += ["--cores", str(cores)]
    words += ["--configfile", *map(str, overlays)] if overlays else []
    return run_command([sys.executable, "-m", "snakemake", *words], expect, project=project)


def checked(done: subprocess.CompletedProcess[str], expect: int = 0) -> subprocess.CompletedProcess[str]:
    """Return a finished command that exited with `expect`; fail with its output where it did not."""
    assert done.returncode == expect, (
        f"exit status {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-8000:]}"
    )
    return done


def kill_when(half_way: Callable[[], bool], command: list[str], log: Path) -> None:
    """Start a command and kill -9 it, with the workflow and all its jobs, as soon as `half_way` says so.

    What it prints goes to the end of `log`.
    """
    with open(log, "ab") as file:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
            env=environment(),
        )
    while not half_way():
        assert process.poll() is None, f"it ended before:\n{log.read_text()[-8000:]}"
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def jobs_done(folder: Path) -> int:
    """How many jobs of a run have left a sidecar."""
    # Not by rglob, which raises an error where a folder goes while it looks.
    return sum(name.endswith(".meta.json") for _, _, names in os.walk(folder / "results") for name in names)
