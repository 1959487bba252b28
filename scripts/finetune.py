"""Fine-tune for one test fold and rank that fold's candidates."""

from pathlib import Path

from irpretrain.config.retrieval import RerankingConfig
from irpretrain.config.training import FinetuningConfig
from irpretrain.stage import stage
from irpretrain.training.finetune import finetune

with stage(snakemake) as done:
    options = FinetuningConfig(**snakemake.params.options)
    cell = snakemake.wildcards
    model_directory = Path(snakemake.params.models, cell.dataset, cell.candidates, cell.model, cell.regime)
    done(
        finetune(
            model=snakemake.input.model,
            tokens=list(snakemake.input.tokens),
            queries=snakemake.input.queries,
            qrels=snakemake.input.qrels,
            candidates=snakemake.input.candidates,
            folds=snakemake.input.folds,
            fold=int(cell.fold),
            regime=cell.regime,
            options=options,
            reranking=RerankingConfig(**snakemake.params.reranking),
            measure=snakemake.params.measure,
            seed=int(cell.seed),
            run=snakemake.output.run,
            metrics=snakemake.output.metrics,
            checkpoints=snakemake.params.checkpoints,
            output=model_directory / f"seed-{cell.seed}" / f"fold-{cell.fold}"
            if options.keep_models
            else None,
            title=f"fine-tune {cell.model} {cell.regime} fold {cell.fold} seed {cell.seed}",
        )
    )
