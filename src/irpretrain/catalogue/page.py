"""Write docs/datasets.md from the catalogue, so that it cannot drift.

`python -m irpretrain.catalogue.page docs` writes; with `--check` it only compares and fails on a difference.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from irpretrain.catalogue.entry import Entry, SourceFile
from irpretrain.catalogue.read import Catalogue, read_catalogue
from irpretrain.catalogue.readings import readings
from irpretrain.generated_pages import write_or_check

HEADER = """# Data sets

Generated from `resources/datasets` by `make docs`; do not edit. One file there is one data set: where it comes from, on
which terms, which files it has, how they are read, and what is measured on it.
[A new data set](tutorials/new-dataset.md) is one more file.

None of these comes with the project, and nothing is downloaded. What you may use, you put under `data/`
(`data_folder` of the configuration, or a link there) by the names below. A data set is looked for in `data/` of the
working directory (`--directory`), then in `data/` of the project. Then

```sh
snakemake --cores 1 datasets
```

prints what is there and what the rest needs, and writes it to `results/datasets.md` and, file by file, to
`results/datasets.csv`:

| state | means |
|---|---|
| verified | every file is the published one, by its checksum or the number of its records |
| present | everything is there; of some files neither is known |
| incomplete | files are missing, which are listed |
| broken | a file is not the published one (size, checksum, number of records or of files), or cannot be read |
| missing | nothing is there |

A file is verified once, and again when its size or time has changed. Optional files, such as runs of others, change no
state.

**Using one** takes its name, and nothing else:

```yaml
experiments:
  robust: {dataset: robust04, models: [untrained, prop], regimes: [zero-shot]}
  official: {dataset: trec-dl-2019, candidates: official, models: [untrained], regimes: [zero-shot]}
```

Corpus, queries, judgements, folds and runs are filled in from here, also where a collection
(`collections: {pretraining: [msmarco]}`), `train_on`, `select_on` or `tuned_on` names one. Keys given in the
configuration are laid over them (`corpora: {robust04: {shards: 16}}`); an entry that describes itself, a corpus with
`path` or a data set with `corpus`, is left alone.

- **What is missing stops nothing else.** An experiment whose files are not there is left out, and its cells read
  "not run: ...".
- **What is wrong stops** before it is read, with the file and the reason; so does a corpus that turns out to have
  another number of records.
"""
COUNTED = {"documents": "documents", "topics": "queries", "judgements": "judgements", "runs": "lines"}


def page(catalogue: Catalogue) -> str:
    """Return the page as Markdown."""
    parts = [HEADER, "## All of them\n", *_overview(catalogue), ""]
    for name, entry in catalogue.items():
        parts += [f"## {name}\n", *_section(name, entry), ""]
    return "\n".join(parts).rstrip() + "\n"


def _overview(catalogue: Catalogue) -> Iterator[str]:
    yield "| name | data set | data sets and tasks of the configuration | measures of the papers |\n|---|---|---|---|"
    for name, entry in catalogue.items():
        used = ", ".join(f"`{key}`" for key in (*entry.datasets, *entry.downstream_tasks)) or "–"
        papers = (
            "; ".join(f"{paper}: {', '.join(measures)}" for paper, measures in entry.papers.items()) or "–"
        )
        yield f"| [{name}](#{name}) | {entry.label} | {used} | {papers} |"


def _section(name: str, entry: Entry) -> Iterator[str]:
    yield entry.what + "\n"
    yield f"- **Terms**: {entry.licence.terms} {_link(entry.licence.page)}"
    yield f"- **Source**: {_link(entry.source)}"
    yield f"- **How to get it**: {entry.get}"
    if entry.needs:
        yield f"- **Needs**: {', '.join(f'[{other}](#{other})' for other in entry.needs)}"
    if entry.fields:
        yield f"- **Fields**: {entry.fields}"
    if entry.counts:
        yield f"- **Counts**: {entry.counts}"
    for section, what in (("corpora", "Corpora"), ("first_stages", "Runs of others")):
        if keys := getattr(entry, section):
            yield f"- **{what}**: {', '.join(f'`{key}`' for key in keys)}"
    yield from (f"- {remark}" for remark in entry.remarks)
    yield "\n| file | holds | checked by |\n|---|---|---|"
    counts = _counts(entry)
    whole = {path for reading in readings(entry) if reading.kind != "documents" for path in reading.paths}
    for path, file in entry.files.items():
        optional = " (optional)" if file.optional else ""
        checks = _checks(file, counts.get(path, "")) or ("reading it" if path in whole else "its beginning")
        yield f"| `{path}` | {file.holds}{optional} | {checks} |"


def _link(address: str) -> str:
    return f"<{address}>"


def _counts(entry: Entry) -> dict[str, str]:
    """Return how many records each file must have, in words; of several that count together, with their number."""
    found: dict[str, str] = {}
    for reading in readings(entry):
        if reading.expected is None:
            continue
        together = f" in {len(reading.paths)} files" if len(reading.paths) > 1 else ""
        text = f"{reading.expected:,} {COUNTED.get(reading.kind, reading.kind)}{together}"
        for path in reading.paths:
            found[path] = text
    return found


def _checks(file: SourceFile, counted: str) -> str:
    parts = [f"md5 `{file.md5}`"] if file.md5 else []
    parts += [f"sha256 `{file.sha256}`"] if file.sha256 else []
    parts += [f"{file.bytes:,} bytes"] if file.bytes else []
    parts += [f"{file.files:,} files"] if file.files else []
    parts += [counted] if counted else []
    return ", ".join(parts)


if __name__ == "__main__":
    sys.exit(write_or_check(sys.argv[1:], {"datasets.md": page(read_catalogue())}))
