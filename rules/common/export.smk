"""Models for others to take, with their cards."""


def exported_models(wildcards):
    """Every trained model that some experiment tests, and its scores; an error where none is."""
    models = trained_models(PAPERS)
    if not models:
        raise WorkflowError("no experiment of the configuration tests a model that is trained here")
    directories = [f"results/exported/{model}/seed-{seed}" for model, seed in models]
    return [*directories, *(f"{directory}.scores.md" for directory in directories)]


def exported_scores(wildcards):
    """Scores of every experiment that tests a model."""
    tested = [name for name in scored(PAPERS) if wildcards.model in CFG.experiments[name].models]
    return [f"results/scores/{name}.csv" for name in tested]


def licence_of(section):
    """The licence of a corpus or an encoder, as far as it is known."""
    if is_embedded(section.path):
        return MANIFEST.asset(resolve(section.path)[1]).licence
    if getattr(section, "entry", None):
        return catalogue()[section.entry].licence.terms
    return "not known here: the user's own files"


def encoder_caveat():
    """What a reader of any number made with the encoder must know."""
    path = CFG.encoder.path
    return (MANIFEST.asset(resolve(path)[1]).caveat or "") if is_embedded(path) else ""


def card_facts(wildcards):
    """Fields of report.model_card.CardFacts."""
    stages = with_starts(CFG, [wildcards.model])
    collections = dict.fromkeys(CFG.models[stage].collection for stage in stages if CFG.models[stage].tasks)
    corpora = dict.fromkeys(corpus for name in collections for corpus in CFG.collections[name])
    papers = [paper for paper in PAPERS if wildcards.model in used_models(CFG.of_papers([paper]))]
    return {
        "key": wildcards.model,
        "label": CFG.models[wildcards.model].label,
        "seed": int(wildcards.seed),
        "encoder": [CFG.encoder.label, licence_of(CFG.encoder)],
        "corpora": [[corpus, licence_of(CFG.corpora[corpus])] for corpus in corpora],
        "papers": [numbers_of(paper).citation for paper in papers],
        "tasks": [
            {**dump(task), "options": dump(CFG.objectives[task.objective])}
            for task in CFG.models[wildcards.model].tasks
        ],
        "training": dump(CFG.training_of(wildcards.model)),
        "encoder_caveat": encoder_caveat(),
    }
