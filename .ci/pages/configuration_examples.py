"""An overlay for each section of the configuration, shown in its reference; each loads over `config.yaml`."""

EXAMPLES = {
    "corpora": "corpora: {mine: {format: jsonl, path: documents, shards: 4}}",
    "datasets": """\
datasets:
  mine:
    corpus: squad-dev
    queries: {format: trec, path: topics.txt}
    qrels: {format: trec, path: qrels.txt}
    measures: [nDCG@10, AP@10]""",
    "text": "text: {language: german, words: letters}",
    "graph": "graph: {mentions: titles, segment_words: 48}",
    "word_vectors": "word_vectors: {dimensions: 50, epochs: 5}",
    "encoder": "encoder: {path: google-bert/bert-base-uncased, label: BERT base, layers: 12, vocabulary_size: 30522}",
    "pseudo_queries": "pseudo_queries: {temperature: 0.2, per_document: 5}",
    "axioms": "axioms: {rank_depth: 100, bm25: {k1: 0.9, b: 0.4}}",
    "predictors": "predictors: {second: {label: II, collection: questions, dataset: squad-questions, setting: II}}",
    "diagnoses": "diagnoses: {questions: {collection: questions, models: [control, prop]}}",
    "objectives": "objectives: {rop-five: {type: rop, pairs_per_document: 5}}",
    "models": """\
models:
  prop-second:
    label: PROP, longer
    collection: pretraining
    tasks: [{objective: rop}]
    training: {steps: 400}""",
    "pretraining": "pretraining: {steps: 1000, batch_groups: 64, optimiser: {learning_rate: 2.0e-5}}",
    "finetuning": "finetuning: {loss: listwise, negatives: 7, learning_rates: [1.0e-5, 2.0e-5], epochs: 3}",
    "reranking": "reranking: {depth: 20, max_length: 256}",
    "term_weights": "term_weights: {deepct-root: {label: DeepCT √, same_as: deepct, square_root: true}}",
    "indexes": "indexes: {textrank: {type: textrank}}",
    "retrieval": "retrieval: {depth: 1000, bm25: {k1: 0.9, b: 0.4}}",
    "first_stages": "first_stages: {dense: {label: Dense, runs: {squad: {path: dense.run}}}}",
    "downstream_tasks": """\
downstream_tasks:
  spans:
    label: SQuAD 1.1
    questions:
      train: {format: squad, path: "embedded:squad-train"}
      development: {format: squad, path: "embedded:squad-dev"}""",
    "downstream": """\
downstream_tasks:
  spans:
    label: SQuAD 1.1
    questions:
      train: {format: squad, path: "embedded:squad-train"}
      development: {format: squad, path: "embedded:squad-dev"}
downstream: {answers: {tasks: [spans], models: [control, prop]}}""",
    "question_answering": "question_answering: {max_length: 384, learning_rate: 3.0e-5, epochs: 2}",
    "experiments": """\
experiments:
  fine-tuned: {dataset: squad, models: [control, prop], regimes: [few-shot-100, full], seeds: [1, 2, 3]}""",
    "report": "report: {papers: [prop, deepct]}",
    "attributions": "attributions: {pies: {dataset: squad, models: [control, prop]}}",
    "weight_distributions": "weight_distributions: {dev: {label: dev, corpora: [squad-dev], weightings: [tf, deepct]}}",
    "term_weight_pages": """\
term_weight_pages:
  squad: {dataset: squad-first-stages, weightings: [tf, deepct], first_stages: [tf-bm25, deepct-bm25]}""",
}
