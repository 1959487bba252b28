"""Write docs/datasets.md from the catalogue: `python -m irpretrain.catalogue.page docs`; `--check` only compares."""

import sys
from collections.abc import Iterator, Mapping

from irpretrain.catalogue.read import Catalogue, Entry, SourceFile, read_catalogue
from irpretrain.generated_pages import literal, write_or_check

HEADER = """# Data sets

Use the papers' data sets by their names, and see how to get each. Generated from `resources/datasets` by `make docs`;
do not edit. [A new data set](tutorials/new-dataset.md) is one more file in that folder.

The project downloads nothing. This command prints which files are there and which are missing, and commands that fetch
free files; with `--configfile mine.yaml` in `ARGS`, those of the data sets that the overlay reads:

```sh
make run ARGS=datasets
```

It writes `results/datasets.md` and `results/datasets.csv`. Put the files into `data/` (`data_folder` of the
configuration) in the working directory or in the project, under the names below. A data set is `verified` (by checksum
or number of records), `present` (for some file neither is known), `incomplete`, `broken` or `missing`.

To use a data set, write its name:

```yaml
experiments:
  robust: {dataset: robust04, models: [control, prop], regimes: [zero-shot]}
  official: {dataset: trec-dl-2019, candidates: official, models: [control], regimes: [zero-shot]}
reranking: {depth: 100} # measures look no deeper
```

Corpus, queries, judgements, folds and runs are filled in from this catalogue. The name works in `collections`,
`train_on`, `select_on` and `tuned_on` too. Your keys win (`corpora: {robust04: {shards: 16}}`). A corpus with its own
`path` and a data set with its own `corpus` are not changed. Some are also in [ir_datasets](corpora.md#ir_datasets),
under the names given below.

Missing or wrong files stop the run before they are read; so does a corpus with another number of records. With
`skip_absent: true` the experiments that miss files are left out, and their cells read "not run: ...".
"""

# Words from which a fact is printed once and then only named.
LONG_FACT = 5


def page(catalogue: Catalogue) -> str:
    parts = [HEADER]
    locations: dict[tuple[str, str], str] = {}
    for name, entry in catalogue.items():
        parts += [f"## {name}\n", *_section(name, entry, locations), ""]
    return "\n".join(parts).rstrip() + "\n"


def _section(name: str, entry: Entry, locations: dict[tuple[str, str], str]) -> Iterator[str]:
    """The facts of an entry; long facts that an earlier entry has are only named, and its short ones then too.

    `locations` maps a fact to the entry that first has it.
    """
    yield f"{entry.label}. {entry.what}\n"
    facts = [(*fact, locations.setdefault(fact, name)) for fact in _facts(name, entry)]
    sent_to = {location for _, text, location in facts if location != name and len(text.split()) >= LONG_FACT}
    above: dict[str, list[str]] = {}
    for title, text, location in facts:
        if location not in sent_to:
            yield f"- {title}: {text}" if title else f"- {text}"
        elif (fact := title or "remarks").lower() not in above.setdefault(location, []):
            above[location].append(fact.lower())
    yield from (
        f"- As for [{location}](#{location}): {', '.join(titles)}." for location, titles in above.items()
    )
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
