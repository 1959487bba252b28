"""First-stage retrieval with Lucene through Anserini."""


rule index_corpus:
    input:
        documents=corpus_documents,
    output:
        index=directory("results/indexes/{corpus}"),
        meta="results/indexes/{corpus}.meta.json",
    log:
        "results/logs/index/{corpus}.log",
    benchmark:
        "results/benchmarks/index_corpus/{corpus}.tsv"
    priority: PREPARATION
    threads: CFG.retrieval.threads
    resources:
        mem_mb=memory(CFG.retrieval.memory_mb + 1000),
        runtime=minutes(480),
    params:
        options=index_options(),
        text=dump(CFG.text),
    script:
        "../scripts/index_corpus.py"


rule search:
    input:
        index=dataset_index,
        queries="results/datasets/{dataset}/queries.parquet",
    output:
        run="results/runs/{dataset}/{candidates}/first-stage.run.gz",
        meta="results/runs/{dataset}/{candidates}/first-stage.run.gz.meta.json",
    log:
        "results/logs/search/{dataset}-{candidates}.log",
    benchmark:
        "results/benchmarks/search/{dataset}-{candidates}.tsv"
    wildcard_constraints:
        candidates=names_of(BUILT_IN_FIRST_STAGES),
    priority: PREPARATION
    threads: CFG.retrieval.threads
    resources:
        mem_mb=memory(CFG.retrieval.memory_mb + 1000),
        runtime=minutes(240),
    params:
        options=search_options(),
    script:
        "../scripts/search.py"


rule weigh_textrank:
    input:
        documents="results/corpora/{corpus}/documents-{shard}.parquet",
    output:
        vectors="results/term_vectors/{index}/{corpus}-{shard}.parquet",
        meta="results/term_vectors/{index}/{corpus}-{shard}.parquet.meta.json",
    log:
        "results/logs/weigh_textrank/{index}-{corpus}-{shard}.log",
    benchmark:
        "results/benchmarks/weigh_textrank/{index}-{corpus}-{shard}.tsv"
    wildcard_constraints:
        index=names_of(indexes_of_type("textrank")),
    priority: PREPARATION
    resources:
        mem_mb=memory(3000),
        runtime=minutes(480),
    params:
        options=index_kind_options,
        retrieval=index_options(),
        text=dump(CFG.text),
    script:
        "../scripts/weigh_textrank.py"


rule generate_queries:
    """Queries that a model writes for documents, which are then expanded by them."""
    input:
        documents="results/corpora/{corpus}/documents-{shard}.parquet",
        model=generator_inputs,
    output:
        queries="results/generated_queries/{index}/{corpus}-{shard}.parquet",
        meta="results/generated_queries/{index}/{corpus}-{shard}.parquet.meta.json",
    log:
        "results/logs/generate_queries/{index}-{corpus}-{shard}.log",
    benchmark:
        "results/benchmarks/generate_queries/{index}-{corpus}-{shard}.tsv"
    wildcard_constraints:
        index=names_of(indexes_of_type("doc2query")),
    priority: PREPARATION
    threads: generator_compute("threads")
    resources:
        mem_mb=memory(8000),
        runtime=minutes(2880),
        gpu=generator_compute("gpus"),
    params:
        options=generator_options,
        model=generator_directory,
        text=dump(CFG.text),
        checkpoints="results/checkpoints",
    script:
        "../scripts/generate_queries.py"


rule expand_documents:
    input:
        documents="results/corpora/{corpus}/documents-{shard}.parquet",
        expansion=expansion_file,
    output:
        vectors="results/term_vectors/{index}/{corpus}-{shard}.parquet",
        meta="results/term_vectors/{index}/{corpus}-{shard}.parquet.meta.json",
    log:
        "results/logs/expand_documents/{index}-{corpus}-{shard}.log",
    benchmark:
        "results/benchmarks/expand_documents/{index}-{corpus}-{shard}.tsv"
    wildcard_constraints:
        index=names_of(indexes_of_type("expansion", "doc2query")),
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(480),
    params:
        times=expansion_times,
        text=dump(CFG.text),
    script:
        "../scripts/expand_documents.py"


rule index_weights:
    input:
        vectors=vector_shards,
    output:
        index=directory("results/weighted_indexes/{index}/{corpus}"),
        meta="results/weighted_indexes/{index}/{corpus}.meta.json",
    log:
        "results/logs/index_weights/{index}-{corpus}.log",
    benchmark:
        "results/benchmarks/index_weights/{index}-{corpus}.tsv"
    priority: PREPARATION
    threads: CFG.retrieval.threads
    resources:
        mem_mb=memory(CFG.retrieval.memory_mb + 2000),
        runtime=minutes(480),
    params:
        options=index_options(),
        query_words=query_words,
    script:
        "../scripts/index_weights.py"


rule tune_first_stage:
    """Every point of the grid on training queries; the best of them is what the tested queries are searched with."""
    input:
        index=tuning_index,
        queries=tuning_file("queries.parquet"),
        qrels=tuning_file("qrels.txt"),
    output:
        tuning="results/tuning/{candidates}.json",
        grid="results/tuning/{candidates}.csv",
        meta="results/tuning/{candidates}.json.meta.json",
    log:
        "results/logs/tune_first_stage/{candidates}.log",
    benchmark:
        "results/benchmarks/tune_first_stage/{candidates}.tsv"
    priority: PREPARATION
    threads: CFG.retrieval.threads
    resources:
        mem_mb=memory(CFG.retrieval.memory_mb + 1000),
        runtime=minutes(480),
    params:
        options=index_options(),
        tuning=tuning_options,
    script:
        "../scripts/tune_first_stage.py"


rule search_first_stage:
    """A first stage of `first_stages`: any index, with parameters that are given or tuned."""
    input:
        index=first_stage_index,
        queries="results/datasets/{dataset}/queries.parquet",
        tuning=tuned_parameters,
    output:
        run="results/runs/{dataset}/{candidates}/first-stage.run.gz",
        meta="results/runs/{dataset}/{candidates}/first-stage.run.gz.meta.json",
    log:
        "results/logs/search_first_stage/{dataset}-{candidates}.log",
    benchmark:
        "results/benchmarks/search_first_stage/{dataset}-{candidates}.tsv"
    wildcard_constraints:
        candidates=names_of(stages_of_model("indri", other=True)),
    priority: PREPARATION
    threads: CFG.retrieval.threads
    resources:
        mem_mb=memory(CFG.retrieval.memory_mb + 1000),
        runtime=minutes(240),
    params:
        options=stage_search_options,
        first_stage=first_stage_options,
    script:
        "../scripts/search_first_stage.py"


rule take_run:
    """Candidates that others retrieved, checked and in the order of ours."""
    input:
        run=given_run,
        queries="results/datasets/{dataset}/queries.parquet",
        documents=dataset_documents,
        sound=run_soundness,
    output:
        run="results/runs/{dataset}/{candidates}/first-stage.run.gz",
        meta="results/runs/{dataset}/{candidates}/first-stage.run.gz.meta.json",
    log:
        "results/logs/take_run/{dataset}-{candidates}.log",
    benchmark:
        "results/benchmarks/take_run/{dataset}-{candidates}.tsv"
    wildcard_constraints:
        candidates=names_of(stages_of_others()),
    priority: CHEAP_CHECKS
    resources:
        mem_mb=memory(8000),
        runtime=minutes(120),
    params:
        options=given_run_options,
        depth=CFG.retrieval.depth,
    script:
        "../scripts/take_run.py"


rule build_positions:
    input:
        documents=corpus_documents,
    output:
        positions=directory("results/positions/{corpus}"),
        meta="results/positions/{corpus}.meta.json",
    log:
        "results/logs/build_positions/{corpus}.log",
    benchmark:
        "results/benchmarks/build_positions/{corpus}.tsv"
    priority: PREPARATION
    resources:
        mem_mb=memory(8000),
        runtime=minutes(480),
    params:
        options=positions_options(),
        text=dump(CFG.text),
    script:
        "../scripts/build_positions.py"


rule search_structured:
    """Weighted bags of words and sequential dependence queries in Indri's query likelihood."""
    input:
        positions=dataset_positions,
        queries="results/datasets/{dataset}/queries.parquet",
        weights=stage_query_weights,
    output:
        run="results/runs/{dataset}/{candidates}/first-stage.run.gz",
        meta="results/runs/{dataset}/{candidates}/first-stage.run.gz.meta.json",
    log:
        "results/logs/search_structured/{dataset}-{candidates}.log",
    benchmark:
        "results/benchmarks/search_structured/{dataset}-{candidates}.tsv"
    wildcard_constraints:
        candidates=names_of(stages_of_model("indri")),
    priority: PREPARATION
    resources:
        mem_mb=memory(8000),
        runtime=minutes(480),
    params:
        options=structured_search_options,
        first_stage=structured_options,
    script:
        "../scripts/search_structured.py"


rule draw_sweep:
    input:
        tuning="results/tuning/{candidates}.json",
        grid="results/tuning/{candidates}.csv",
    output:
        svg="results/figures/sweep-{candidates}.svg",
        png="results/figures/sweep-{candidates}.png",
        meta="results/figures/sweep-{candidates}.svg.meta.json",
    log:
        "results/logs/draw_sweep/{candidates}.log",
    benchmark:
        "results/benchmarks/draw_sweep/{candidates}.tsv"
    priority: RESULTS
    resources:
        mem_mb=memory(1000),
        runtime=minutes(15),
    params:
        label=tuning_label,
        dataset=tuning_dataset,
    script:
        "../scripts/draw_sweep.py"


rule measure_indexes:
    """Size, postings and query time; what is measured on a machine is no result that another run could repeat."""
    input:
        indexes=measured_indexes,
        tunings=measured_tunings,
        queries="results/datasets/{dataset}/queries.parquet",
    output:
        costs="results/index_costs/{dataset}.json",
        table="results/index_costs/{dataset}.md",
        meta="results/index_costs/{dataset}.json.meta.json",
    log:
        "results/logs/measure_indexes/{dataset}.log",
    benchmark:
        "results/benchmarks/measure_indexes/{dataset}.tsv"
    resources:
        mem_mb=memory(3000),
        runtime=minutes(60),
    params:
        names=measured_names,
        searches=measured_searches,
    script:
        "../scripts/measure_indexes.py"
