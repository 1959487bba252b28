"""Write docs/datasets.md from the catalogue, so that it cannot drift.

`python -m irpretrain.catalogue.page docs` writes; with `--check` it only compares and fails on a difference.
"""

import sys
from collections.abc import Iterator, Mapping

from irpretrain.catalogue.entry import Entry, SourceFile
from irpretrain.catalogue.read import Catalogue, read_catalogue
from irpretrain.generated_pages import literal, write_or_check

HEADER = """# Data sets

Use the papers' data sets by their names, and see how to get each. Generated from `resources/datasets` by `make docs`;
do not edit. [A new data set](tutorials/new-dataset.md) is one more file in that folder.

The project downloads nothing. This command prints which files are there and which are missing, and commands that fetch
free files:

```sh
make run ARGS=datasets
```

With an overlay it prints the data sets that the overlay reads: `make run ARGS="datasets --configfile mine.yaml"`.

It writes `results/datasets.md` and, file by file, `results/datasets.csv`. Put the files into `data/` (`data_folder` of
the configuration) in the working directory or in the project, under the names below. A data set is

- verified: every file is the published one, by checksum or number of records
- present: every file is there; for some, neither checksum nor number is known
- incomplete: files are missing; they are listed
- broken: a file is not the published one, or is unreadable
- missing: no file is there

A file is verified once, and again after its size or time changes. Optional files do not change the state.

To use a data set, write its name:

```yaml
experiments:
  robust: {dataset: robust04, models: [untrained, prop], regimes: [zero-shot]}
  official: {dataset: trec-dl-2019, candidates: official, models: [untrained], regimes: [zero-shot]}
```

Corpus, queries, judgements, folds and runs are filled in from this catalogue. The name works in `collections`,
`train_on`, `select_on` and `tuned_on` too. Your keys win (`corpora: {robust04: {shards: 16}}`). A corpus with its own
`path` and a data set with its own `corpus` are not changed. Some data sets are also in
[ir_datasets](corpora.md#ir_datasets), under the names given below.

- **Missing files stop the run** before it starts. With `skip_absent: true` the experiments that need them are left out,
  and their cells read "not run: ...".
- **Wrong files stop the run** before they are read. So does a corpus with another number of records.
"""
LONG_FACT = 5
"""Words from which a fact is told once and then only named."""


def page(catalogue: Catalogue) -> str:
    """Return the page as Markdown."""
    parts = [HEADER]
    places: dict[tuple[str, str], str] = {}
    for name, entry in catalogue.items():
        parts += [f"## {name}\n", *_section(name, entry, places), ""]
    return "\n".join(parts).rstrip() + "\n"


def _section(name: str, entry: Entry, places: dict[tuple[str, str], str]) -> Iterator[str]:
    """The facts of an entry. A long fact that an entry above has in the same words is only named, and so is a short one
    if the reader is sent to that entry anyway.

    `places` says in which entry each fact was told; it is filled here.
    """
    yield f"{entry.label}. {entry.what}\n"
    facts = [(*fact, places.setdefault(fact, name)) for fact in _facts(name, entry)]
    sent_to = {place for _, text, place in facts if place != name and len(text.split()) >= LONG_FACT}
    above: dict[str, list[str]] = {}
    for title, text, place in facts:
        if place not in sent_to:
            yield f"- {title}: {text}" if title else f"- {text}"
        elif (fact := title or "remarks").lower() not in above.setdefault(place, []):
            above[place].append(fact.lower())
    yield from (f"- As for [{place}](#{place}): {', '.join(titles)}." for place, titles in above.items())
    yield "- " + "; ".join(_files(entry.files))


def _files(files: Mapping[str, SourceFile]) -> Iterator[str]:
    """The files that a data set needs, then the optional ones."""
    for heading, optional in (("Files", False), ("optional", True)):
        if paths := [f"`{path}`" for path, file in files.items() if file.optional == optional]:
            yield f"{heading}: {', '.join(paths)}"


def _facts(name: str, entry: Entry) -> Iterator[tuple[str, str]]:
    """Title and text of each fact but the files; remarks have no title."""
    yield "Terms", f"{literal(entry.licence.terms)} {_link(entry.licence.page)}"
    if entry.source != entry.licence.page:
        yield "Source", _link(entry.source)
    yield "Get", literal(entry.get)
    if entry.needs:
        yield "Needs", ", ".join(f"[{other}](#{other})" for other in entry.needs)
    if entry.fields:
        yield "Fields", literal(entry.fields)
    if entry.ir_datasets:
        identifiers = [f"`{name}`" for names in entry.ir_datasets.values() for name in names]
        yield "ir_datasets", ", ".join(identifiers)
    if entry.papers:
        yield "Measures", "; ".join(f"{paper} {', '.join(names)}" for paper, names in entry.papers.items())
    sections = {"corpora": "Corpora", "datasets": "Data sets", "first_stages": "Runs of others"}
    for section, what in sections.items():
        if (keys := list(getattr(entry, section))) and keys != [name]:
            yield what, ", ".join(f"`{key}`" for key in keys)
    yield from (("", literal(remark)) for remark in entry.remarks)


def _link(address: str) -> str:
    return f"<{address}>"


if __name__ == "__main__":
    sys.exit(write_or_check(sys.argv[1:], {"datasets.md": page(read_catalogue())}))
