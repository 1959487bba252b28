"""Score every run with trec_eval's measures."""

from irpretrain.evaluation.evaluate import evaluate
from irpretrain.stage import stage

with stage(snakemake) as done:
    datasets = {
        name: {
            "measures": measures,
            "qrels": f"results/datasets/{name}/qrels.txt",
            "folds": f"results/datasets/{name}/folds.json" if cross_validated else None,
        }
        for name, (measures, cross_validated) in snakemake.params.datasets.items()
    }
    done(evaluate(snakemake.params.runs, datasets, snakemake.output.per_query, snakemake.output.scores))
