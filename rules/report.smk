"""Scores → tables, figures, and HTML reports: of each paper as soon as its experiments are done, then of the whole run."""

# A paper's tables and figures have names of their own, so each paper has rules of its own.
for paper in CFG.report.papers:
    shown = plan.shown_by(paper)

    rule:
        name:
            f"make_tables_{paper}"
        input:
            **shown.measured,
            published=shown.published,
            distributions=shown.distributions,
            claimed=shown.claimed,
        output:
            claims=paths.CLAIMS.format(paper=paper),
            tables=[internals.in_report(table, paper) for table in shown.tables],
            meta=sidecar(paths.CLAIMS.format(paper=paper)),
        log:
            f"results/logs/make_tables/{paper}.log",
        priority: RESULTS
        group:
            travelling("paper")
        resources:
            mem_mb=memory(2000),
            runtime=minutes(30),
        params:
            config=as_json(CFG),
            papers=shown.papers,
            code=library_code,
        script:
            "../scripts/make_tables.py"

    if not shown.figures:
        continue

    rule:
        name:
            f"make_figures_{paper}"
        input:
            scores=shown.scores,
            per_query=shown.per_query,
            published=shown.published,
            metrics=shown.metrics,
            predictors=shown.predictors,
            rank_intervals=shown.rank_intervals,
            diagnoses=shown.diagnoses,
            distributions=shown.distributions,
        output:
            figures=[internals.in_report(figure, paper) for figure in shown.figures],
            meta=sidecar(shown.figures[0]),
        log:
            f"results/logs/make_figures/{paper}.log",
        priority: RESULTS
        group:
            travelling("paper")
        resources:
            mem_mb=memory(2000),
            runtime=minutes(30),
        params:
            config=as_json(CFG),
            papers=shown.papers,
            code=library_code,
        script:
            "../scripts/make_figures.py"


rule collect_searches:
    """Some queries of an experiment with the first documents of each run."""
    input:
        runs=plan.experiments.files,
        queries=plan.file(paths.QUERIES, "experiments"),
        qrels=plan.file(paths.QRELS, "experiments"),
        documents=plan.of_dataset(paths.DOCUMENTS, "experiments"),
    output:
        searches=paths.SEARCHES,
        meta=sidecar(paths.SEARCHES),
    log:
        "results/logs/searches/{experiment}.log",
    priority: RESULTS
    resources:
        mem_mb=memory(4000),
        runtime=minutes(60),
    params:
        runs=plan.experiments.runs,
        text=settings("text"),
    script:
        "../scripts/collect_searches.py"


rule describe_objective:
    """The first ranking group of an objective as text."""
    input:
        groups=paths.GROUPS,
        tokens=plan.of_collection(paths.TOKENS),
        documents=plan.of_collection(paths.DOCUMENTS),
        encoder=plan.encoder_files,
        axiom_values=plan.corpora.if_needed("axiom_values", plan.of_collection(paths.AXIOMS)),
    output:
        example=paths.EXAMPLE,
        meta=sidecar(paths.EXAMPLE),
    log:
        "results/logs/examples/{collection}{tokenizer}-{objective}.log",
    priority: RESULTS
    resources:
        mem_mb=memory(4000),
        runtime=minutes(30),
    params:
        axioms=plan.corpora.axiom_settings,
        encoder_directory=plan.encoder_directory,
    script:
        "../scripts/describe_objective.py"


rule describe_weighting:
    """The first text of a weighting of words with its targets."""
    input:
        targets=paths.TERM_TARGETS,
    output:
        example=paths.TARGETS_EXAMPLE,
        meta=sidecar(paths.TARGETS_EXAMPLE),
    log:
        "results/logs/examples/{weighting}.log",
    priority: RESULTS
    resources:
        mem_mb=memory(2000),
        runtime=minutes(30),
    params:
        text=settings("text"),
    script:
        "../scripts/describe_weighting.py"


rule write_paper_report:
    """The report of one paper."""
    input:
        unpack(plan.of_paper("reported")),
        published=plan.of_paper("published"),
        manifest=MANIFEST_FILE,
    output:
        report=paths.PAPER_REPORT,
        meta=sidecar(paths.PAPER_REPORT),
    log:
        "results/logs/write_paper_report/{paper}.log",
    priority: RESULTS
    group:
        travelling("paper")
    resources:
        mem_mb=memory(2000),
        runtime=minutes(30),
    params:
        config=as_json(CFG),
        papers=plan.of_paper("papers"),
        code=library_code,
        other_code=planned_text,
    script:
        "../scripts/write_report.py"


rule write_overview:
    """The scores of all experiments and the claims of all papers in one file each; the headline table."""
    input:
        scores=plan.shown.scores,
        per_query=plan.shown.per_query,
        trainings=plan.shown.trainings,
        sweeps=plan.shown.sweeps,
        claims=plan.shown.claims,
        published=plan.shown.published,
    output:
        scores=paths.ALL_SCORES,
        per_query=paths.ALL_PER_QUERY,
        claims=paths.ALL_CLAIMS,
        tables=[internals.in_report(table, "whole run") for table in plan.targets.overview_tables],
        meta=sidecar(paths.ALL_SCORES),
    log:
        "results/logs/write_overview.log",
    group:
        travelling("overview")
    resources:
        mem_mb=memory(2000),
        runtime=minutes(30),
    params:
        config=as_json(CFG),
        code=library_code,
    script:
        "../scripts/write_overview.py"


rule write_report:
    """The report of the whole run, which leads to those of the papers."""
    input:
        **plan.shown.reported,
        headline=table_files(["headline"]),
        papers=expand(paths.PAPER_REPORT, paper=CFG.report.papers),
        published=plan.shown.published,
        manifest=MANIFEST_FILE,
    output:
        report=internals.in_report(paths.REPORT, "whole run"),
        meta=sidecar(paths.REPORT),
    log:
        "results/logs/write_report.log",
    group:
        travelling("overview")
    resources:
        mem_mb=memory(2000),
        runtime=minutes(30),
    params:
        config=as_json(CFG),
        papers=CFG.report.papers,
        code=library_code,
        other_code=planned_text,
    script:
        "../scripts/write_report.py"
