"""ARES: words by number → postings, word vectors, pseudo-queries → axiom values → preference predictors."""


rule store_words:
    input:
        documents="results/corpora/{corpus}/documents-{shard}.parquet",
        statistics="results/statistics/{collection}/words.parquet",
    output:
        words=directory("results/words/{collection}/{corpus}-{shard}"),
        meta="results/words/{collection}/{corpus}-{shard}.meta.json",
    log:
        "results/logs/words/{collection}-{corpus}-{shard}.log",
    benchmark:
        "results/benchmarks/store_words/{collection}-{corpus}-{shard}.tsv"
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(120),
    params:
        text=dump(CFG.text),
    script:
        "../scripts/store_words.py"


rule build_postings:
    input:
        words=collection_words,
        statistics="results/statistics/{collection}/words.parquet",
    output:
        postings=directory("results/postings/{collection}"),
        meta="results/postings/{collection}.meta.json",
    log:
        "results/logs/postings/{collection}.log",
    benchmark:
        "results/benchmarks/build_postings/{collection}.tsv"
    priority: PREPARATION
    resources:
        mem_mb=memory(CFG.axioms.memory_mb + 1000),
        runtime=minutes(240),
    params:
        terms=term_options(),
        bounds=rank_options(),
        corpora=shard_counts,
        memory_mb=CFG.axioms.memory_mb,
    script:
        "../scripts/build_postings.py"


rule make_word_vectors:
    input:
        words=collection_words,
        statistics="results/statistics/{collection}/words.parquet",
        given=given_vectors,
    output:
        vectors=directory("results/vectors/{collection}"),
        meta="results/vectors/{collection}.meta.json",
    log:
        "results/logs/vectors/{collection}.log",
    benchmark:
        "results/benchmarks/make_word_vectors/{collection}.tsv"
    priority: PREPARATION
    resources:
        mem_mb=memory(8000),
        runtime=minutes(1440),
    params:
        options=vector_training(),
        corpora=shard_counts,
        seed=CFG.seed,
    script:
        "../scripts/make_word_vectors.py"


rule calibrate_temperature:
    """The temperature at which a collection's pseudo-queries rank their documents most like the paper's."""
    input:
        words=collection_words,
        statistics="results/statistics/{collection}/words.parquet",
        postings="results/postings/{collection}",
    output:
        temperature="results/pseudo_queries/{collection}/temperature.json",
        meta="results/pseudo_queries/{collection}/temperature.json.meta.json",
    log:
        "results/logs/pseudo_queries/{collection}-temperature.log",
    benchmark:
        "results/benchmarks/calibrate_temperature/{collection}.tsv"
    priority: PREPARATION
    threads: CFG.axioms.threads
    resources:
        mem_mb=memory(CFG.axioms.memory_mb + 1000),
        runtime=minutes(120),
    params:
        options=calibration_options(),
        axioms=ranking_options(),
        shares=printed_rank_shares,
        seed=CFG.seed,
    script:
        "../scripts/calibrate_temperature.py"


rule sample_pseudo_queries:
    input:
        words="results/words/{collection}/{corpus}-{shard}",
        statistics="results/statistics/{collection}/words.parquet",
        temperature=calibrated_temperature,
    output:
        queries="results/pseudo_queries/{collection}/{corpus}-{shard}.parquet",
        meta="results/pseudo_queries/{collection}/{corpus}-{shard}.parquet.meta.json",
    log:
        "results/logs/pseudo_queries/{collection}-{corpus}-{shard}.log",
    benchmark:
        "results/benchmarks/sample_pseudo_queries/{collection}-{corpus}-{shard}.tsv"
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(120),
    params:
        options=pseudo_query_options(),
        seed=CFG.seed,
    script:
        "../scripts/sample_pseudo_queries.py"


rule compute_axioms:
    """Axiom values of a shard's pseudo-queries."""
    input:
        queries="results/pseudo_queries/{collection}/{corpus}-{shard}.parquet",
        words="results/words/{collection}/{corpus}-{shard}",
        statistics="results/statistics/{collection}/words.parquet",
        postings="results/postings/{collection}",
        vectors="results/vectors/{collection}",
    output:
        values="results/axioms/{collection}/{corpus}-{shard}.parquet",
        meta="results/axioms/{collection}/{corpus}-{shard}.parquet.meta.json",
    log:
        "results/logs/axioms/{collection}-{corpus}-{shard}.log",
    benchmark:
        "results/benchmarks/compute_axioms/{collection}-{corpus}-{shard}.tsv"
    priority: PREPARATION
    threads: CFG.axioms.threads
    resources:
        mem_mb=memory(CFG.axioms.memory_mb + 1000),
        runtime=minutes(480),
    params:
        options=axiom_options(),
        text=dump(CFG.text),
        held_alone=False,
    script:
        "../scripts/compute_axioms.py"


rule count_ranks:
    """In which intervals the RANK of a collection's pseudo-queries lies."""
    input:
        values=collection_axioms,
    output:
        intervals="results/axioms/{collection}/rank-intervals.json",
        meta="results/axioms/{collection}/rank-intervals.json.meta.json",
    log:
        "results/logs/axioms/{collection}-rank-intervals.log",
    benchmark:
        "results/benchmarks/count_ranks/{collection}.tsv"
    priority: RESULTS
    resources:
        mem_mb=memory(2000),
        runtime=minutes(60),
    params:
        depth=CFG.axioms.rank_depth,
    script:
        "../scripts/count_ranks.py"


rule judge_queries:
    """The queries of a data set, each with the documents of the collection that are relevant to it."""
    input:
        documents=dataset_documents,
        queries="results/datasets/{dataset}/queries.parquet",
        qrels="results/datasets/{dataset}/qrels.txt",
    output:
        queries="results/judged/{collection}/{dataset}/queries.parquet",
        meta="results/judged/{collection}/{dataset}/queries.parquet.meta.json",
    log:
        "results/logs/judged/{collection}-{dataset}-queries.log",
    benchmark:
        "results/benchmarks/judge_queries/{collection}-{dataset}.tsv"
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(60),
    script:
        "../scripts/judge_queries.py"


use rule compute_axioms as compute_judged_axioms with:
    input:
        queries="results/judged/{collection}/{dataset}/queries.parquet",
        words=judged_words,
        statistics="results/statistics/{collection}/words.parquet",
        postings="results/postings/{collection}",
        vectors="results/vectors/{collection}",
    output:
        values="results/judged/{collection}/{dataset}/{terms}-terms.parquet",
        meta="results/judged/{collection}/{dataset}/{terms}-terms.parquet.meta.json",
    log:
        "results/logs/judged/{collection}-{dataset}-{terms}-terms.log",
    benchmark:
        "results/benchmarks/compute_judged_axioms/{collection}-{dataset}-{terms}.tsv"
    params:
        options=axiom_options(),
        text=dump(CFG.text),
        held_alone=lambda wildcards: wildcards.terms == "held",


rule train_predictor:
    input:
        judged=predictor_judged,
        pseudo=predictor_pseudo,
    output:
        scores="results/predictors/{predictor}/scores.json",
        model="results/predictors/{predictor}/model.json",
        table="results/predictors/{predictor}/probabilities.npy",
        predictor="results/predictors/{predictor}/predictor.json",
        card="results/predictors/{predictor}/card.md",
        meta="results/predictors/{predictor}/scores.json.meta.json",
    log:
        "results/logs/predictors/{predictor}.log",
    benchmark:
        "results/benchmarks/train_predictor/{predictor}.tsv"
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(120),
    params:
        options=predictor_options,
        axioms=dump(CFG.axioms),
    script:
        "../scripts/train_predictor.py"


# What re-rankers have learned of the axioms


rule choose_diagnosis_pairs:
    input:
        values=diagnosed_axioms,
    output:
        pairs="results/diagnosis/{diagnosis}/pairs.parquet",
        meta="results/diagnosis/{diagnosis}/pairs.parquet.meta.json",
    log:
        "results/logs/diagnosis/{diagnosis}-pairs.log",
    benchmark:
        "results/benchmarks/choose_diagnosis_pairs/{diagnosis}.tsv"
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(60),
    params:
        options=diagnosis_options,
        axioms=axiom_options(),
        seed=CFG.seed,
    script:
        "../scripts/choose_diagnosis_pairs.py"


rule score_diagnosis_pairs:
    input:
        model=diagnosed_model,
        tokens=diagnosed_tokens,
        documents=diagnosed_documents,
        pairs="results/diagnosis/{diagnosis}/pairs.parquet",
    output:
        scores="results/diagnosis/{diagnosis}/scores/{model}.parquet",
        meta="results/diagnosis/{diagnosis}/scores/{model}.parquet.meta.json",
    log:
        "results/logs/diagnosis/{diagnosis}-{model}.log",
    benchmark:
        "results/benchmarks/score_diagnosis_pairs/{diagnosis}-{model}.tsv"
    priority: ranking_priority
    threads: CFG.reranking.compute.threads
    resources:
        mem_mb=memory(4000),
        runtime=minutes(240),
        gpu=CFG.reranking.compute.gpus,
    params:
        options=reranking_options,
        directory=diagnosed_directory,
        text=reranker_text,
    script:
        "../scripts/score_diagnosis_pairs.py"


rule diagnose:
    input:
        pairs="results/diagnosis/{diagnosis}/pairs.parquet",
        scores=diagnosis_scores,
    output:
        shares="results/diagnosis/{diagnosis}.csv",
        comparisons="results/diagnosis/{diagnosis}/comparisons.csv",
        meta="results/diagnosis/{diagnosis}.csv.meta.json",
    log:
        "results/logs/diagnosis/{diagnosis}.log",
    benchmark:
        "results/benchmarks/diagnose/{diagnosis}.tsv"
    priority: RESULTS
    resources:
        mem_mb=memory(2000),
        runtime=minutes(30),
    params:
        labels=diagnosed_labels,
    script:
        "../scripts/diagnose.py"
