"""Where every file of a run lies, relative to the working directory: paths with wildcards in braces."""

# Names of the configuration in paths.
NAME = r"[a-z0-9-]+"

# Wildcard → what it may be, as a regular expression. A rule constrains `used` and `regime`, which it alone has.
CONSTRAINTS = {
    **dict.fromkeys(("asset", "entry", "corpus", "collection", "dataset", "objective", "predictor"), NAME),
    **dict.fromkeys(("model", "candidates", "index", "weighting", "experiment", "diagnosis", "task"), NAME),
    **dict.fromkeys(("distribution", "page", "paper"), NAME),
    "tokenizer": f"(@{NAME})?",
    **dict.fromkeys(("shard", "seed", "fold", "step"), r"\d+"),
    "part": "docs|queries|qrels|scoreddocs",
    "identifier": r"[\w./-]+",
}

# Folder of unfinished trainings; no job's output. So is the next.
CHECKPOINTS = "results/checkpoints"
FINETUNED_MODELS = "results/models/finetuned"

# The verified copy of an embedded file or folder.
INPUT = "results/inputs/{asset}"

# The description file of a part of a data set of ir_datasets.
IR_DATASET = "results/inputs/ir_datasets/{part}/{identifier}.json"

# Catalogue of data sets
CATALOGUE_REPORT = "results/catalogue/{entry}.json"
CATALOGUE_SOUND = "results/catalogue/{entry}.sound.json"
DATASETS_TABLE = "results/datasets.txt"

# Corpora and collections
DOCUMENTS = "results/corpora/{corpus}/documents-{shard}.parquet"
REDIRECTS = "results/corpora/{corpus}/redirects-{shard}.parquet"
WORD_COUNTS = "results/corpora/{corpus}/words-{shard}.parquet"

# `tokenizer` is empty for that of section `encoder`; others have a name after an @ (`plan.part`).
TOKENS = "results/tokens/{corpus}{tokenizer}/{shard}"
COLLECTION_CHECK = "results/corpora/collection-{collection}.json"
STATISTICS = "results/statistics/{collection}/words.parquet"

# Links between documents
LINKS = "results/links/{collection}/links/{corpus}-{shard}.parquet"
LINK_SOURCES = "results/links/{collection}/sources/{corpus}-{shard}.parquet"
GRAPH = "results/graphs/{collection}"
ANCHORS = "results/anchors/{collection}.parquet"

# Test collections
QUERIES = "results/datasets/{dataset}/queries.parquet"
QRELS = "results/datasets/{dataset}/qrels.txt"

# Queries of a data set that trains, chooses or tunes, beside those of the one that is tested.
USED_QUERIES = QUERIES.replace("{dataset}", "{used}")
FOLDS = "results/datasets/{dataset}/folds.json"
LEAKAGE_CHECK = "results/datasets/{dataset}/apart-from-{used}.json"

# ARES: axioms, predictors, diagnoses
WORDS = "results/words/{collection}/{corpus}-{shard}"
POSTINGS = "results/postings/{collection}"
VECTORS = "results/vectors/{collection}"
PSEUDO_QUERIES = "results/pseudo_queries/{collection}/{corpus}-{shard}.parquet"
TEMPERATURE = "results/pseudo_queries/{collection}/temperature.json"
AXIOMS = "results/axioms/{collection}/{corpus}-{shard}.parquet"
RANK_INTERVALS = "results/axioms/{collection}/rank-intervals.json"
JUDGED_QUERIES = "results/judged/{collection}/{dataset}/queries.parquet"
JUDGED_AXIOMS = "results/judged/{collection}/{dataset}/all-terms.parquet"
NEGATIVE_QUERIES = "results/judged/{collection}/{dataset}/all-terms-negatives.parquet"
NEGATIVE_AXIOMS = "results/judged/{collection}/{dataset}/all-terms-negatives-axioms.parquet"
PREDICTOR_SCORES = "results/predictors/{predictor}/scores.json"
PREDICTOR_MODEL = "results/predictors/{predictor}/model.json"
PREDICTOR_TABLE = "results/predictors/{predictor}/probabilities.npy"
PREDICTOR = "results/predictors/{predictor}/predictor.json"
PREDICTOR_CARD = "results/predictors/{predictor}/card.md"
DIAGNOSIS = "results/diagnosis/{diagnosis}.csv"
DIAGNOSIS_PAIRS = "results/diagnosis/{diagnosis}/pairs.parquet"
DIAGNOSIS_SCORES = "results/diagnosis/{diagnosis}/scores/{model}/seed-{seed}.parquet"

# Pre-training
GROUPS_SHARD = "results/groups/{collection}{tokenizer}/{objective}/{corpus}-{shard}.parquet"
GROUPS = "results/groups/{collection}{tokenizer}/{objective}.parquet"
EXAMPLE = "results/examples/{collection}{tokenizer}/{objective}.json"
PRETRAINED = "results/models/pretrained/{model}/seed-{seed}"
PRETRAINING_METRICS = "results/metrics/pretrained/{model}/seed-{seed}.jsonl"
PROBE = "results/metrics/pretrained/{model}/seed-{seed}.probe.csv"
SELECTED = "results/models/selected/{model}/seed-{seed}"
SELECTION_SCORES = "results/metrics/selected/{model}/seed-{seed}.json"
NEURAL = "results/models/neural/{model}/seed-{seed}"
EXPORTED = "results/exported/{model}/seed-{seed}"

# DeepCT: weights of words
TERM_TARGETS = "results/term_weights/{weighting}/targets.parquet"
TARGETS_EXAMPLE = "results/examples/{weighting}.json"
TERM_MODEL = "results/term_weights/{weighting}/model-{fold}"
TERM_METRICS = "results/metrics/term_weights/{weighting}-{fold}.jsonl"
TERM_WEIGHTS = "results/term_weights/{weighting}/weights/{corpus}-{shard}.parquet"
QUERY_WEIGHTS = "results/term_weights/{weighting}/queries/{dataset}.parquet"
TERM_VECTORS = "results/term_vectors/{weighting}/{corpus}-{shard}.parquet"
WEIGHT_SHARES = "results/weight_distributions/{distribution}.json"

# Retrieval
INDEX = "results/indexes/{corpus}"
WEIGHTED_INDEX = "results/weighted_indexes/{index}/{corpus}"

# The same files as TERM_VECTORS: weights of an entry of `indexes`, which no `term_weights` makes.
INDEX_VECTORS = TERM_VECTORS.replace("{weighting}", "{index}")
POSITIONS = "results/positions/{corpus}"
FIRST_STAGE_RUN = "results/runs/{dataset}/{candidates}/first-stage.run.gz"
TUNING = "results/tuning/{candidates}.json"
TUNING_GRID = "results/tuning/{candidates}.csv"

# Re-ranking
ZERO_SHOT_RUN = "results/runs/{dataset}/{candidates}/{model}/zero-shot/seed-{seed}.run.gz"
SNAPSHOT_RUN = "results/runs/{dataset}/{candidates}/{model}@{step}/zero-shot/seed-{seed}.run.gz"
FINETUNED_RUN = "results/runs/{dataset}/{candidates}/{model}/{regime}/seed-{seed}/fold-{fold}.run.gz"
FINETUNING_METRICS = (
    "results/metrics/finetuned/{dataset}/{candidates}/{model}/{regime}/seed-{seed}/fold-{fold}.json"
)

# Experiments
SCORES = "results/scores/{experiment}.csv"
PER_QUERY = "results/per_query/{experiment}.parquet"
SEARCHES = "results/searches/{experiment}.json"
DEPTHS = "results/depths/{experiment}.parquet"
DEPTH_SCORES = "results/depths/{experiment}.csv"

# Tasks beside retrieval
TASK_EXAMPLES = "results/downstream/examples/{task}.parquet"
TASK_PREDICTIONS = "results/downstream/predictions/{task}/{model}/seed-{seed}.json"
TASK_METRICS = "results/metrics/downstream/{task}/{model}/seed-{seed}.json"
TASK_PER_QUERY = "results/downstream/{experiment}.parquet"
TASK_SCORES = "results/downstream/{experiment}.csv"
TASK_TABLE = "results/downstream/{experiment}.md"

# Pages, tables, reports
ATTRIBUTIONS = "results/attributions/{page}.html"
ATTRIBUTED_WORDS = "results/attributions/{page}.json"
TERM_WEIGHT_PAGE = "results/term_weight_pages/{page}.html"
TABLE = "results/tables/{name}.{format}"
FIGURE = "results/figures/{name}.{format}"
CLAIMS = "results/claims/{paper}.csv"
PAPER_REPORT = "results/reports/{paper}.html"
REPORT = "results/report.html"
ALL_SCORES = "results/scores.csv"
ALL_PER_QUERY = "results/per_query.parquet"
ALL_CLAIMS = "results/claims.csv"


def sidecar(path: str) -> str:
    """Return where the sidecar of an output lies: inputs, versions, seed, time and counts of the job."""
    return f"{path}.meta.json"
