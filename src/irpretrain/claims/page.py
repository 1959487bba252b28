"""Write docs/claims.md from `resources/claims`, so that it cannot drift, and check what the files name.

`python -m irpretrain.claims.page docs` writes; with `--check` it only compares and fails on a difference.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence

from irpretrain.claims.files import Claims, claims_file, has_claims, read_claims
from irpretrain.claims.verdicts import MEANINGS
from irpretrain.config import Config, load_config
from irpretrain.config.retrieval import BUILT_IN_FIRST_STAGES, TF_INDEX
from irpretrain.errors import ConfigError
from irpretrain.generated_pages import write_or_check
from irpretrain.papers.files import known_papers, read_paper
from irpretrain.resources import project_directory
from irpretrain.wording import instead_of

HEADER = """# Claims of the papers

See which statements of the papers a run tests, and how. Generated from `resources/claims` by `make docs`; do not edit.
Each claim is one statement, with its table in the paper. `resources/claims/<paper>.yaml` has its section, its sides,
and the statements that cannot be tested here. A run's report and `results/claims.csv` ([columns](contracts.md#claims))
have the answers. The smallest effect of interest stands at the head of a paper, and at claims where it differs.

The verdict follows from the 95 % interval of the difference and from the smallest effect:

{meanings}

- Runs are paired over queries and over the training seeds that both sides have; both count as random, and
  queries of one article (SQuAD) depend on each other. First stages have intervals over queries alone.
- "90 % of" asks whether the better side reaches this share of the worse side. The verdict then uses no smallest effect;
  the effect that tables show, for the power, is the rest of the worse side (10 % of it).
- AUC and gain have an interval over the predictor's seeds. The sides of an agreement or a share of weight count as
  independent.
- If several data sets or candidates were run, those with the most seeds count, then those with the most queries.
- Holm's correction runs over the tested claims of a paper.

`make claims ARGS="--configfile mine.yaml --directory runs/mine"` recomputes the claims of a finished run from its
scores, and says whether `results/claims.csv` is the same. With `--save FOLDER` it copies these scores; then
`--directory FOLDER` recomputes from the copy alone.
"""


def claims_page(claims: Sequence[Claims]) -> str:
    """Return the page as Markdown."""
    meanings = "\n".join(f"- **{verdict}**: {meaning}" for verdict, meaning in MEANINGS.items())
    return "\n".join([HEADER.format(meanings=meanings), *map(_section, claims)])


def _section(claims: Claims) -> str:
    """The claims of a paper by the configuration that tests them, the default first, then by what they need."""
    default = "Tested with `config.yaml`:"
    lines: dict[str, list[str]] = {default: []}
    untested: dict[str, list[str]] = {}
    for name, claim in claims.claims.items():
        if claim.sides:
            lines.setdefault(f"Tested with `{claim.overlay}`:", []).append(
                f"- **{name}** ({_table(claim.place)}): {claim.says}{_measured_by(claims, name)}"
            )
        else:
            untested.setdefault(claim.needs, []).append(f"**{name}** ({_table(claim.place)})")
    needs = [f"- {what}: {', '.join(names)}" for what, names in untested.items()]
    parts = [
        f"## {read_paper(claims.paper).name}",
        f"Smallest effect: {claims.effect:g}.",
        *(f"{head}\n\n" + "\n".join(lines[head]) for head in lines if lines[head]),
        *(["Not testable here, because they need", "\n".join(needs)] if needs else []),
    ]
    return "\n\n".join(parts) + "\n"


def _table(place: str) -> str:
    """The table or figure of a claim; its section where it has none."""
    return place.rpartition(", ")[2]


def _measured_by(claims: Claims, name: str) -> str:
    """The measure where it is not the data set's, the share to be reached, the effect where it is not the paper's."""
    claim = claims.claims[name]
    parts = [claim.measure] if claim.measure else []
    if claim.share is not None:
        parts.append(f"share {claim.share:g}")
    elif claims.effect_of(name) != claims.effect:
        parts.append(f"effect {claims.effect_of(name):g}")
    return f" ({', '.join(parts)})" if parts else ""


def name_faults(claims: Claims, configs: Mapping[str, Config]) -> Iterator[str]:
    """Yield a message for each name that no configuration has.

    Args:
        configs: path → configuration; those of the project.
    """
    known: dict[str, set[str]] = {
        "model": {name for config in configs.values() for name in config.models},
        "first_stage": {name for config in configs.values() for name in config.first_stages},
        "predictor": {name for config in configs.values() for name in config.predictors},
        "weighting": {name for config in configs.values() for name in config.term_weights} | {TF_INDEX},
    }
    known["first_stage"] |= set(BUILT_IN_FIRST_STAGES)
    for claim, section, name in claims.names():
        if (plain := name.partition("@")[0]) not in known[section]:
            near = instead_of(plain, sorted(known[section]))
            yield f"{claims_file(claims.paper)}: {claim}: no configuration has the {section} {plain!r}; {near}"


def project_configs() -> dict[str, Config]:
    """Return the project's configurations by their paths in it: config.yaml, and with each overlay."""
    root = project_directory()
    base = root / "config.yaml"
    overlays = sorted((root / "configs").glob("*.yaml"))
    configs = {f"configs/{overlay.name}": load_config(base, overlay) for overlay in overlays}
    return {"config.yaml": load_config(base), **configs}


def main(arguments: Sequence[str]) -> int:
    """Check every name, then write or compare the page; return the exit status."""
    claims = [read_claims(paper) for paper in known_papers() if has_claims(paper)]
    configs = project_configs()
    if faults := [fault for of_paper in claims for fault in name_faults(of_paper, configs)]:
        raise ConfigError("\n".join(faults))
    return write_or_check(arguments, {"claims.md": claims_page(claims)})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
