"""Scores → tables, figures, and one HTML report."""

from irpretrain.report.figures import figure_names
from irpretrain.report.published import load_published

PUBLISHED = {paper: RESOURCES / "published" / f"{paper}.yaml" for paper in PAPERS}


def tables(papers):
    names = [f"{paper}_{table}" for paper in papers for table in load_published(PUBLISHED[paper]).tables]
    return expand("results/tables/{name}.{format}", name=["headline", *names], format=["md", "csv", "tex"])


def figures(papers):
    return expand("results/figures/{name}.{format}", name=figure_names(papers), format=["svg", "png"])


rule make_tables:
    """The papers' tables, ours beside the published numbers, and the headline table."""
    input:
        scores="results/scores.csv",
        per_query="results/per_query.parquet",
        published=list(PUBLISHED.values()),
    output:
        verdicts="results/verdicts.csv",
        tables=tables(PAPERS),
        meta="results/verdicts.csv.meta.json",
    params:
        config=dump(CFG),
    log:
        "results/logs/make_tables.log",
    resources:
        mem_mb=memory(2000),
        runtime=30,
    script:
        "../scripts/make_tables.py"


rule make_figures:
    input:
        scores="results/scores.csv",
        per_query="results/per_query.parquet",
        published=list(PUBLISHED.values()),
        metrics=[f"results/metrics/pretrained/{model}/seed-{seed}.jsonl" for model, seed in trained_models()],
        groups=[f"{shard}.meta.json" for groups in used_groups() for shard in shards_of_groups(groups)],
    output:
        figures=figures(PAPERS),
        meta=f"{figures(PAPERS)[0]}.meta.json",
    params:
        config=dump(CFG),
    log:
        "results/logs/make_figures.log",
    resources:
        mem_mb=memory(2000),
        runtime=30,
    script:
        "../scripts/make_figures.py"


rule draw_dag:
    output:
        dag="results/figures/dag.svg",
        meta="results/figures/dag.svg.meta.json",
    params:
        snakefile=str(workflow.main_snakefile),
        config=config,
    log:
        "results/logs/draw_dag.log",
    resources:
        mem_mb=memory(1000),
        runtime=10,
    script:
        "../scripts/draw_dag.py"


rule write_report:
    input:
        tables=tables(PAPERS),
        verdicts="results/verdicts.csv",
        figures=figures(PAPERS),
        dag="results/figures/dag.svg",
        scores="results/scores.csv",
        per_query="results/per_query.parquet",
        published=list(PUBLISHED.values()),
        manifest=RESOURCES / "embedded.yaml",
    output:
        report="results/report.html",
        meta="results/report.html.meta.json",
    params:
        config=dump(CFG),
    log:
        "results/logs/write_report.log",
    resources:
        mem_mb=memory(2000),
        runtime=30,
    script:
        "../scripts/write_report.py"
