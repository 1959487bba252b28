"""What the targets of the command line name: refused in one message where the configuration does not have it."""

from irpretrain.config.usage import index_names
from irpretrain.near_names import did_you_mean, instead_of


def names_of_wildcards():
    """Wildcard → the section that has its names, and what these are."""
    sections = {
        "corpus": "corpora",
        "collection": "collections",
        "dataset": "datasets",
        "objective": "objectives",
        "predictor": "predictors",
        "experiment": "experiments",
        "diagnosis": "diagnoses",
        "distribution": "weight_distributions",
        "task": "downstream_tasks",
        "model": "models",
    }
    names = {wildcard: (section, list(getattr(CFG, section))) for wildcard, section in sections.items()}
    return names | {
        "candidates": ("first_stages", first_stage_names(CFG)),
        "index": ("indexes", index_names(CFG)),
        "weighting": ("term_weights", [*CFG.term_weights, TF_INDEX]),
        "asset": ("the embedded assets", sorted(MANIFEST.assets)),
        "entry": ("the catalogue", list(catalogue())),
        "paper": ("report.papers", list(PAPERS)),
    }


def target_faults(target):
    """Yield why no job can make a target; nothing where one can, or where it is there already."""
    rules_by_name = {rule.name: rule for rule in workflow.rules}
    if target in rules_by_name or os.path.exists(target):
        return
    matching = [
        (rule, match.groupdict())
        for rule in workflow.rules
        for output in rule.products()
        if (match := output.match(target))
    ]
    if not matching:
        targets = [name for name, rule in rules_by_name.items() if not rule.has_wildcards()]
        near = did_you_mean(
            target, [*targets, *(str(path) for rule in workflow.rules for path in rule.output)]
        )
        yield f"{target}: no rule makes such a file, and there is no target of this name; {near}".rstrip("; ")
        return
    faults = [list(_wildcard_faults(target, wildcards)) for _, wildcards in matching]
    if all(faults):
        yield from faults[0]


def _wildcard_faults(target, wildcards):
    for wildcard, value in wildcards.items():
        section, names = names_of_wildcards().get(wildcard, ("", [value]))
        if value in names:
            continue
        if wildcard == "experiment" and value in CFG.absent:
            yield f"{target}: experiment {value} is left out: {CFG.absent[value].reason}"
        else:
            near = instead_of(value, names, f"{section} has")
            yield f"{target}: {value!r} is not in {section} of this configuration; {near}"


def refuse_unknown_targets():
    """Raise WorkflowError where a target of the command line names what this configuration does not have."""
    given = command_line()
    faults = [fault for target in (given.targets if given else []) for fault in target_faults(target)]
    if faults:
        raise WorkflowError("\n".join(faults))
