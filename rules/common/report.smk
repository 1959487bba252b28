"""Tables, figures, reports."""

PUBLISHED = {paper: RESOURCES / "published" / f"{paper}.yaml" for paper in FIGURES}


@cache
def numbers_of(paper):
    """The numbers printed in a paper, read once: every process of the workflow asks for them many times."""
    return load_published(PUBLISHED[paper])


def experiments_of(papers):
    return list(active_experiments(CFG.of_papers(papers)))


def scored(papers):
    """Experiments whose runs are scored as they are; those at several depths have tables of their own."""
    return [experiment for experiment in experiments_of(papers) if not CFG.experiments[experiment].depths]


def scores_of(papers):
    return [f"results/scores/{experiment}.csv" for experiment in scored(papers)]


def per_query_of(papers):
    return [f"results/per_query/{experiment}.parquet" for experiment in scored(papers)]


def depths(papers):
    """What is measured at several depths, for the papers that show it."""
    experiments = [experiment for experiment in experiments_of(papers) if CFG.experiments[experiment].depths]
    shown = any(numbers_of(paper).depths for paper in papers)
    return [f"results/depths/{experiment}.parquet" for experiment in experiments] if shown else []


def verdicts(papers):
    return [f"results/verdicts/{paper}.csv" for paper in papers]


def trained_models(papers):
    """(model, seed) of every model with a learning curve behind a cell."""
    asked = [cell for experiment in experiments_of(papers) for cell in cells(experiment)]
    pairs = dict.fromkeys((model.partition("@")[0], seed) for _, _, model, _, seed in asked)
    return [(model, seed) for model, seed in pairs if CFG.models[model].tasks]


def training_metrics(papers):
    return [f"results/metrics/pretrained/{model}/seed-{seed}.jsonl" for model, seed in trained_models(papers)]


def sampling_counts(papers):
    """Sidecars of the shards of ranking groups behind every trained model."""
    models = [CFG.models[model] for model, _ in trained_models(papers)]
    pairs = dict.fromkeys((model.collection, task.objective) for model in models for task in model.tasks)
    return [f"{shard}.meta.json" for pair in pairs for shard in shards_of_groups(*pair)]


def published(papers):
    """The files with the papers' own numbers."""
    return [PUBLISHED[paper] for paper in papers]


def shows_axioms(papers):
    return any(numbers_of(paper).axioms for paper in papers)


def predictor_scores(papers):
    """The scores of every preference predictor, for the papers that show them."""
    predictors = shown_predictors(CFG) if shows_axioms(papers) else {}
    return [f"results/predictors/{predictor}/scores.json" for predictor in predictors]


def sampled_collections(papers):
    """Every collection that has pseudo-queries, for the papers that show them."""
    if not shows_axioms(papers):
        return []
    models = [CFG.models[model] for model, _ in trained_models(papers)]
    compared = [
        model for model in models if any("axiom_values" in needed(task.objective) for task in model.tasks)
    ]
    users = [*shown_predictors(CFG).values(), *compared, *CFG.diagnoses.values()]
    return list(dict.fromkeys(one.collection for one in users))


def rank_intervals(papers):
    """How high pseudo-queries rank their documents."""
    return [f"results/axioms/{name}/rank-intervals.json" for name in sampled_collections(papers)]


def temperatures(papers):
    """How the temperatures that are not given were chosen."""
    calibrated = sampled_collections(papers) if is_calibrated() else []
    return [f"results/pseudo_queries/{name}/temperature.json" for name in calibrated]


def diagnoses(papers):
    """What was found of each re-ranker, axiom by axiom, for the papers that show it."""
    return [f"results/diagnosis/{name}.csv" for name in CFG.diagnoses] if shows_axioms(papers) else []


def sweeps(papers):
    """What tuned first stages were tuned to."""
    return [f"results/tuning/{stage}.json" for stage in tuned_stages(papers)]


def sweep_figures(papers):
    return [f"results/figures/sweep-{stage}.svg" for stage in tuned_stages(papers)]


def index_costs(papers):
    """Sizes and query times of indexes, where experiments of these papers compare first stages over several."""
    compared = [e for e in map(CFG.experiments.get, scored(papers)) if e.first_stages]
    datasets = dict.fromkeys(experiment.dataset for experiment in compared)
    return [f"results/index_costs/{name}.json" for name in datasets if len(indexes_searched(name)) > 1]


def weight_distributions(papers):
    """The distribution of weights of every collection that has one, for the papers with a figure of them: name → file."""
    shown = any("weight-curves" in FIGURES[paper].values() for paper in papers)
    return {name: weight_distribution(name) for name in CFG.weight_distributions} if shown else {}


def weight_distribution_files(papers):
    return list(weight_distributions(papers).values())


def paper_results(paper):
    """What the target named after a paper makes; an error where the configuration leaves the paper out."""

    def request(wildcards):
        if paper not in PAPERS:
            raise WorkflowError(f"report.papers of the configuration does not name {paper}; add it there")
        return [f"results/reports/{paper}.html", *tables([paper]), *figures([paper])]

    return request


def headline_tables():
    return formats(["headline"])


def overview_tables():
    """The tables over all papers."""
    return formats(["headline", "verdict_summary"])


def tables_of_what_is_asked(_):
    """The tables over all papers; an error where nothing is asked for that a report could show."""
    shown = (active_experiments, active_downstream, active_diagnoses, active_distributions)
    if not any(asked_for(CFG) for asked_for in shown) and not CFG.absent and not CFG.absent_tasks:
        raise WorkflowError(
            "the configuration asks for nothing that a report could show; add what it compares under experiments, or "
            "name what to make: `snakemake --list-target-rules` lists targets"
        )
    return overview_tables()


def tables(papers):
    """Each paper's headline table and its own tables."""
    names = [
        f"{paper}_{table}"
        for paper in papers
        for table in ("headline", *filled_tables(numbers_of(paper), CFG))
    ]
    return formats(names)


def formats(names):
    return expand("results/tables/{name}.{format}", name=names, format=["md", "csv", "tex"])


def figures(papers):
    return expand("results/figures/{name}.{format}", name=figure_names(papers), format=["svg", "png"])
