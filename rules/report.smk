"""Scores → tables, figures, and HTML reports: of each paper as soon as its experiments are done, then of the whole run."""

# A paper's tables and figures have names of their own, so each paper has rules of its own.
for paper in PAPERS:

    rule:
        name:
            f"make_tables_{paper}"
        input:
            scores=scores_of([paper]),
            per_query=per_query_of([paper]),
            published=published([paper]),
            predictors=predictor_scores([paper]),
            rank_intervals=rank_intervals([paper]),
            temperatures=temperatures([paper]),
            diagnoses=diagnoses([paper]),
            depths=depths([paper]),
            answers=downstream_results([paper]),
        output:
            verdicts=f"results/verdicts/{paper}.csv",
            tables=tables([paper]),
            meta=f"results/verdicts/{paper}.csv.meta.json",
        log:
            f"results/logs/make_tables/{paper}.log",
        benchmark:
            f"results/benchmarks/make_tables/{paper}.tsv"
        priority: RESULTS
        resources:
            mem_mb=memory(2000),
            runtime=minutes(30),
        params:
            config=dump(CFG.of_papers([paper])),
        script:
            "../scripts/make_tables.py"


for paper in (paper for paper in PAPERS if FIGURES[paper]):

    rule:
        name:
            f"make_figures_{paper}"
        input:
            scores=scores_of([paper]),
            per_query=per_query_of([paper]),
            published=published([paper]),
            metrics=training_metrics([paper]),
            groups=sampling_counts([paper]),
            predictors=predictor_scores([paper]),
            rank_intervals=rank_intervals([paper]),
            diagnoses=diagnoses([paper]),
            distributions=weight_distribution_files([paper]),
        output:
            figures=figures([paper]),
            meta=f"{figures([paper])[0]}.meta.json",
        log:
            f"results/logs/make_figures/{paper}.log",
        benchmark:
            f"results/benchmarks/make_figures/{paper}.tsv"
        priority: RESULTS
        resources:
            mem_mb=memory(2000),
            runtime=minutes(30),
        params:
            config=dump(CFG.of_papers([paper])),
            distributions=weight_distributions([paper]),
        script:
            "../scripts/make_figures.py"


rule draw_dag:
    output:
        dag="results/figures/dag.svg",
        meta="results/figures/dag.svg.meta.json",
    log:
        "results/logs/draw_dag.log",
    benchmark:
        "results/benchmarks/draw_dag.tsv"
    resources:
        mem_mb=memory(1000),
        runtime=minutes(10),
    params:
        config=config,
    script:
        "../scripts/draw_dag.py"


rule write_paper_report:
    """The report of one paper."""
    input:
        tables=lambda wildcards: tables([wildcards.paper]),
        verdicts=lambda wildcards: verdicts([wildcards.paper]),
        figures=lambda wildcards: figures([wildcards.paper]),
        dag="results/figures/dag.svg",
        scores=lambda wildcards: scores_of([wildcards.paper]),
        per_query=lambda wildcards: per_query_of([wildcards.paper]),
        published=lambda wildcards: published([wildcards.paper]),
        predictors=lambda wildcards: predictor_scores([wildcards.paper]),
        rank_intervals=lambda wildcards: rank_intervals([wildcards.paper]),
        temperatures=lambda wildcards: temperatures([wildcards.paper]),
        diagnoses=lambda wildcards: diagnoses([wildcards.paper]),
        depths=lambda wildcards: depths([wildcards.paper]),
        answers=lambda wildcards: downstream_results([wildcards.paper]),
        sweeps=lambda wildcards: sweeps([wildcards.paper]),
        pictures=lambda wildcards: sweep_figures([wildcards.paper]),
        costs=lambda wildcards: index_costs([wildcards.paper]),
        pages=lambda wildcards: query_pages_of([wildcards.paper]),
        manifest=RESOURCES / "embedded.yaml",
    output:
        report="results/reports/{paper}.html",
        meta="results/reports/{paper}.html.meta.json",
    log:
        "results/logs/write_paper_report/{paper}.log",
    benchmark:
        "results/benchmarks/write_paper_report/{paper}.tsv"
    priority: RESULTS
    resources:
        mem_mb=memory(2000),
        runtime=minutes(30),
    params:
        config=lambda wildcards: dump(CFG.of_papers([wildcards.paper])),
    script:
        "../scripts/write_report.py"


rule write_overview:
    """The scores of all experiments and the verdicts of all papers in one file each; the headline table, and how many
    verdicts of each paper hold."""
    input:
        scores=scores_of(PAPERS),
        per_query=per_query_of(PAPERS),
        verdicts=verdicts(PAPERS),
        published=published(PAPERS),
    output:
        scores="results/scores.csv",
        per_query="results/per_query.parquet",
        verdicts="results/verdicts.csv",
        tables=overview_tables(),
        meta="results/scores.csv.meta.json",
    log:
        "results/logs/write_overview.log",
    benchmark:
        "results/benchmarks/write_overview.tsv"
    resources:
        mem_mb=memory(2000),
        runtime=minutes(30),
    params:
        config=dump(CFG),
    script:
        "../scripts/write_overview.py"


rule write_report:
    """The report of the whole run."""
    input:
        tables=tables(PAPERS),
        headline=headline_tables(),
        verdicts=verdicts(PAPERS),
        figures=figures(PAPERS),
        dag="results/figures/dag.svg",
        scores=scores_of(PAPERS),
        per_query=per_query_of(PAPERS),
        published=published(PAPERS),
        predictors=predictor_scores(PAPERS),
        rank_intervals=rank_intervals(PAPERS),
        temperatures=temperatures(PAPERS),
        diagnoses=diagnoses(PAPERS),
        depths=depths(PAPERS),
        answers=downstream_results(PAPERS),
        sweeps=sweeps(PAPERS),
        pictures=sweep_figures(PAPERS),
        costs=index_costs(PAPERS),
        pages=query_pages_of(PAPERS),
        manifest=RESOURCES / "embedded.yaml",
    output:
        report="results/report.html",
        meta="results/report.html.meta.json",
    log:
        "results/logs/write_report.log",
    benchmark:
        "results/benchmarks/write_report.tsv"
    resources:
        mem_mb=memory(2000),
        runtime=minutes(30),
    params:
        config=dump(CFG),
    script:
        "../scripts/write_report.py"
