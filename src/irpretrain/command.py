"""The command `irpretrain`: what needs no workflow, from files to files.

Every output appears whole or not at all. What is wrong with the input is one message; the exit code is then 2.
"""

import argparse
import gzip
import io
import json
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import yaml

from irpretrain import __version__
from irpretrain.atomic import atomic_file
from irpretrain.corpora.characters import identifier_fault
from irpretrain.corpora.registry import FORMATS
from irpretrain.disk_space import full_disk
from irpretrain.errors import ConfigError, InputError, IRPretrainError
from irpretrain.extras import naming_extras
from irpretrain.progress import progress, say
from irpretrain.replacement import check_output_file
from irpretrain.wording import telling_the_command

if TYPE_CHECKING:
    from irpretrain.corpora.files import FieldLine

BAD_INPUT = 2
"""Exit code, as argparse has it."""
TERMINATED = 128 + signal.SIGTERM
"""Exit code, as shells have it."""
TEXTS_AT_ONCE = 1024
RESULTS_AT_ONCE = 1 << 20
"""Of searches: queries × depth."""
JSONL = "JSON objects, one a line"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = parser().parse_args(arguments)
    try:
        with _ending_on_sigterm(), telling_the_command(), naming_extras():
            _check_output(options)
            say(options.run(options))
    except KeyboardInterrupt:
        return 130
    except IRPretrainError as error:
        say(f"ERROR: {error}")
        return BAD_INPUT
    except OSError as error:
        told = f"{error.filename}: {error.strerror}" if error.filename else error
        say(f"ERROR: {full_disk(error, [options.output]) or told}")
        return BAD_INPUT
    return 0


@contextmanager
def _ending_on_sigterm() -> Iterator[None]:
    """Turn SIGTERM into SystemExit, so that temporary files are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Python sets signal handlers in the main thread only
        return

    def end(*_: Any) -> None:
        sys.exit(TERMINATED)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command and its sub-commands."""
    whole = argparse.ArgumentParser(
        prog="irpretrain", description="Methods of five papers on your own files."
    )
    whole.add_argument("--version", action="version", version=f"irpretrain {__version__}")
    commands = whole.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, run: Any, text: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        made.set_defaults(run=run)
        return made

    made = add("parse-dump", parse_dump, "write the articles of a Wikipedia dump: text, sections, links")
    made.add_argument(
        "dump", help="pages-articles dump of MediaWiki, compressed or not, or a folder of its parts"
    )
    made.add_argument("output", help=JSONL)
    made.add_argument("--limit", type=_positive, metavar="N", help="stop after so many articles")
    _add_settings(made, "an option of the format wikipedia-dump (docs/corpora.md)", "--set", "--option")

    made = add(
        "groups", make_groups, "make the ranking groups of an objective, to train with code of your own"
    )
    made.add_argument("objective", help="its type, such as rop, srr or ict (docs/library.md)")
    _add_documents(made)
    made.add_argument("output", help=f"{JSONL}: queries, documents, scores; the first sequence is preferred")
    made.add_argument("--encoder", metavar="DIR", help="Hugging Face directory; all but rop and ares need it")
    _add_choices(made)
    _add_settings(
        made,
        "an option of the objective, or a section's, such as graph.segment_words=100 (docs/reference/config)",
    )

    made = add("score", score, "score pairs of a query and a document by a cross-encoder")
    made.add_argument("model", help="Hugging Face directory")
    made.add_argument("pairs", help=f"{JSONL}: query, document (both texts)")
    made.add_argument("output", help="the same with a score; larger is more relevant")
    _add_settings(made, "a key of section reranking (docs/reference/config)")

    made = add("weigh", weigh, "weight the words of documents by DeepCT")
    made.add_argument("model", help="directory of a trained regressor")
    _add_documents(made)
    made.add_argument("output", help=f"{JSONL}: document_id, weights")
    _add_settings(made, "a key of section term_weights.<name> (docs/reference/config)")

    made = add("axioms", axioms, "compute what ARES's nine axioms compare")
    _add_documents(made)
    made.add_argument("pairs", help=f"{JSONL}: query, document_id")
    made.add_argument("output", help="CSV, a row a pair (docs/methods/axioms.md)")
    made.add_argument(
        "--vectors", metavar="FILE", help="word vectors; without it they are trained on the documents"
    )
    _add_choices(made)
    _add_settings(made, "a key of a section, such as word_vectors.minimum_count=1 (docs/reference/config)")

    made = add("search", search, "find the best documents of queries by BM25, a first stage")
    _add_documents(made)
    made.add_argument("queries", help=f"{JSONL}: query_id, query")
    made.add_argument("output", help="TREC run, which the workflow takes in first_stages.<name>.runs")
    made.add_argument(
        "--depth", type=_positive, default=1000, metavar="N", help="documents a query; by default 1000"
    )
    _add_choices(made)
    _add_settings(made, "a key of a section, such as axioms.bm25.k1=0.9 (docs/reference/config)")

    made = add("export", export_model, "copy a trained model with a card for others")
    made.add_argument("model", help="directory of a pre-trained model or a regressor, beside its .meta.json")
    made.add_argument("output", help="directory to write")
    made.add_argument("--label", default="", help="name on the card; by default that of the directory")

    made = add("curves", write_curves, "write the learning curves of trainings, finished or not")
    made.add_argument(
        "output",
        metavar="results",
        help="results directory of a run, folder of *.metrics.jsonl, or one such file",
    )
    made.add_argument(
        "--to", default="tensorboard", choices=("tensorboard", "wandb"), help="by default tensorboard"
    )
    made.add_argument("--project", default="irpretrain", help="of Weights & Biases; by default irpretrain")
    return whole


def _add_documents(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "documents",
        help="file or folder of documents, or ir_datasets:<id>; --set malformed=skip leaves out what cannot be read",
    )
    made.add_argument(
        "--format", default="jsonl", choices=sorted({*FORMATS["documents"]} - {"ir_datasets"}), metavar="FORMAT",
        help="format of the documents (docs/corpora.md); by default jsonl",
    )  # fmt: skip
    made.add_argument(
        "--option", action="append", default=[], dest="format_options", metavar="KEY=VALUE",
        help="an option of the format, such as id_field=key (docs/corpora.md); repeat it",
    )  # fmt: skip


def _add_choices(made: argparse.ArgumentParser) -> None:
    made.add_argument("--preset", default="paper", choices=("paper", "released"), help="by default paper")
    made.add_argument("--seed", type=_natural, default=1, help="of all random draws; by default 1")


def _add_settings(made: argparse.ArgumentParser, what: str, *names: str) -> None:
    made.add_argument(
        *(names or ["--set"]),
        action="append",
        default=[],
        dest="settings",
        metavar="KEY=VALUE",
        help=f"{what}; repeat it",
    )


def parse_dump(options: argparse.Namespace) -> str:
    """Write articles, without redirects, and say how many."""
    from irpretrain.library.documents import read_documents

    articles = read_documents(options.dump, "wikipedia-dump", **_settings(options))
    rows = (asdict(article) for article in islice(articles, options.limit))
    left_out = ("position", "parts")
    plain = ({key: value for key, value in row.items() if key not in left_out} for row in rows)
    return _written(options, plain, "articles")


def make_groups(options: argparse.Namespace) -> str:
    """Write the groups of an objective and say how many there are, and what was skipped."""
    from irpretrain.library.options import Options

    settings = _settings(options)
    named = settings.keys() & Options.model_fields.keys()  # ares has a key axioms too, which is no section
    sections = {name: settings.pop(name) for name in named if isinstance(settings[name], dict)}
    groups = _collection(options, settings, sections).groups(options.objective, **settings)
    rows = ({"queries": g.queries, "documents": g.documents, "scores": g.scores} for g in groups)
    told = _written(options, rows, "groups", len(groups))
    return f"{told}; documents skipped: {skipped}" if (skipped := groups.told_skipped()) else told


def score(options: argparse.Namespace) -> str:
    """Write pairs with their scores."""
    from irpretrain.library.models import CrossEncoder

    pairs = [line.fields for line in _read_objects(options.pairs, ("query", "document"))]
    model = CrossEncoder(options.model, **_settings(options))
    scores = model.score([(pair["query"], pair["document"]) for pair in pairs])
    rows = (pair | {"score": float(str(value))} for pair, value in zip(pairs, scores, strict=True))
    return _written(options, rows, "pairs")


def weigh(options: argparse.Namespace) -> str:
    """Write the weights of the words of each document."""
    from irpretrain.library.models import TermWeigher

    settings = _settings(options)
    collection = _collection(options, settings)
    weigher = TermWeigher(options.model, **settings)

    def rows() -> Iterator[dict[str, Any]]:
        for names, texts in collection.stream(TEXTS_AT_ONCE):
            for name, weights in zip(names, weigher.weigh(texts), strict=True):
                yield {"document_id": name, "weights": weights}

    return _written(options, rows(), "documents", len(collection))


def axioms(options: argparse.Namespace) -> str:
    """Write the values of pairs as CSV."""
    pairs = list(_read_objects(options.pairs, ("query", "document_id")))
    settings = _settings(options)
    collection = _collection(options, settings, settings)
    for pair in pairs:
        if (name := pair.fields["document_id"]) not in collection:
            raise InputError(
                options.pairs, f"there is no document {name!r}", pair.line, "Check the documents."
            )
    values = collection.axioms((pair.fields["query"], pair.fields["document_id"]) for pair in pairs)
    with _opened(options.output) as handle:
        values.to_csv(handle, index=False)
    return f"{len(values):,} pairs in {options.output}"


def search(options: argparse.Namespace) -> str:
    """Write the best documents of each query as a TREC run."""
    queries: dict[str, str] = {}
    for line in _read_objects(options.queries, ("query_id", "query")):
        name = line.fields["query_id"]
        fault = f"query {name!r} was there before" if name in queries else identifier_fault(name)
        if fault:
            raise InputError(options.queries, fault, line.line, "Give each query an identifier of its own.")
        queries[name] = line.fields["query"]
    settings = _settings(options)
    collection = _collection(options, settings, settings)
    names = progress(sorted(queries), "irpretrain", "queries", len(queries))
    at_once = max(1, RESULTS_AT_ONCE // min(options.depth, len(collection) + 1))
    with _opened(options.output) as handle:
        while some := list(islice(names, at_once)):
            found = collection.search({name: queries[name] for name in some}, options.depth)
            for row in found.itertuples():
                handle.write(f"{row.query_id} Q0 {row.document_id} {row.rank} {row.score:.9g} BM25\n")
    return f"{len(queries):,} queries in {options.output}"


def export_model(options: argparse.Namespace) -> str:
    """Write a model with its card."""
    from irpretrain.library.export import export

    counts = export(options.model, options.output, options.label)
    return f"{counts['files']} files and a card in {options.output}"


def write_curves(options: argparse.Namespace) -> str:
    """Write or log curves, and say where to see them."""
    from irpretrain.training import curves

    results = options.output
    if options.to == "wandb":
        runs = curves.log_curves(results, options.project)
        return f"{_curves(runs)} in project {options.project} of Weights & Biases"
    runs = curves.write_curves(results)
    return f"{_curves(runs)}. To see them: tensorboard --logdir {curves.events_folder(results)}"


def _curves(runs: Mapping[str, int]) -> str:
    return f"{len(runs)} learning curve{'' if len(runs) == 1 else 's'}"


def _check_output(options: argparse.Namespace) -> None:
    """Refuse an output file that would replace an input; `export` checks its folder, `curves` has names of its own."""
    if options.output == "-":
        raise InputError(options.output, "commands read and write files alone", remedy="Name a file.")
    if options.run not in (export_model, write_curves):
        names = ("dump", "documents", "pairs", "queries", "model", "encoder", "vectors")
        check_output_file(options.output, filter(None, (vars(options).get(name) for name in names)))


def _collection(
    options: argparse.Namespace, settings: dict[str, Any], sections: Mapping[str, Any] | None = None
) -> Any:
    """Return the collection of the documents; `malformed` is taken out of `settings`."""
    from irpretrain.library.collection import Collection
    from irpretrain.library.options import Options

    given = vars(options)
    others = _read_settings("--option", options.format_options)
    others |= {key: settings.pop(key) for key in ("malformed",) if key in settings}
    choices: dict[str, Any] = {name: given[name] for name in ("preset", "seed") if name in given}
    read = Options(**{**choices, **(sections or {})})
    places = {name: given.get(name) for name in ("encoder", "vectors")}
    return Collection.read(options.documents, options.format, read, **places, **others)


def _read_objects(path: str, keys: tuple[str, ...]) -> "Iterator[FieldLine]":
    """Yield the JSON objects of a file, which have these keys, with texts as values."""
    from irpretrain.corpora.json_files import read_objects
    from irpretrain.corpora.records import Malformed

    for entry in read_objects(Path(path)):
        if isinstance(entry, Malformed):
            raise InputError(path, str(entry), entry.line)
        for key in keys:
            if not isinstance(entry.fields.get(key), str):
                raise InputError(
                    path, f"{key} is missing or no text", entry.line, f"Give {' and '.join(keys)}."
                )
        yield entry


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    """Return what `--set` says."""
    return _read_settings("--set", options.settings)


def _read_settings(option: str, texts: Iterable[str]) -> dict[str, Any]:
    """Return what an option says: KEY=VALUE with YAML's values; a key with dots leads into a section."""
    settings: dict[str, Any] = {}
    for given in texts:
        key, separator, text = given.partition("=")
        if not (key and separator):
            raise ConfigError(f"{option} {given}: write KEY=VALUE")
        *sections, last = key.split(".")
        place = settings
        for section in sections:
            place = place.setdefault(section, {})
            if not isinstance(place, dict):
                raise ConfigError(f"{option} {given}: {section} has a value already")
        try:
            place[last] = yaml.safe_load(text)
        except (yaml.YAMLError, ValueError, RecursionError):  # no such day, no such number, too many brackets
            raise ConfigError(f"{option} {given}: {text!r} cannot be read as a value") from None
    return settings


def _written(
    options: argparse.Namespace, rows: Iterable[dict[str, Any]], unit: str, total: int | None = None
) -> str:
    """Write rows as JSON objects, whole or not at all, and return what was written."""
    count = 0
    with _opened(options.output) as handle:
        for row in progress(rows, "irpretrain", unit, total):
            handle.write(f"{json.dumps(row, ensure_ascii=False)}\n")
            count += 1
    return f"{count:,} {unit} in {options.output}"


@contextmanager
def _opened(output: str) -> Iterator[TextIO]:
    """Open an output that appears whole or not at all; gzip where its name ends in .gz."""
    with atomic_file(output) as temporary, open(temporary, "wb") as raw:
        file: Any = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if output.endswith(".gz") else raw
        # half a character, which JSON can hold, becomes the escape that JSON has for it
        with io.TextIOWrapper(file, encoding="utf-8", errors="backslashreplace") as handle:
            yield handle


def _positive(text: str) -> int:
    if not (text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)


def _natural(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of 0 or more")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
