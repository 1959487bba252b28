"""Fine-tune for one test fold, or for a data set that trains on another, and rank the test queries' candidates."""

from pathlib import Path

from irpretrain.config.finetuning import FinetuningConfig
from irpretrain.config.retrieval import RerankingConfig
from irpretrain.foundation.stage import stage
from irpretrain.training.finetune import Topics, finetune

with stage(snakemake) as counts:
    options = FinetuningConfig(**snakemake.params.options)
    cell, given = snakemake.wildcards, snakemake.input
    model_directory = Path(snakemake.params.models, cell.dataset, cell.candidates, cell.model, cell.regime)
    counts |= finetune(
        model=given.model,
        stores=list(given.documents),
        queries=given.queries,
        qrels=given.qrels,
        candidates=given.candidates,
        folds=given.folds,
        fold=int(cell.fold),
        regime=cell.regime,
        options=options,
        reranking=RerankingConfig(**snakemake.params.reranking),
        measure=snakemake.params.measure,
        seed=int(cell.seed),
        run=snakemake.output.run,
        metrics=snakemake.output.metrics,
        checkpoints=snakemake.params.checkpoints,
        test=Topics(list(given.test_documents), given.test_queries, given.test_candidates)
        if given.test_queries
        else None,
        output=model_directory / f"seed-{cell.seed}" / f"fold-{cell.fold}" if options.keep_models else None,
        title=f"fine-tune {cell.model} {cell.regime} fold {cell.fold} seed {cell.seed}",
    )
