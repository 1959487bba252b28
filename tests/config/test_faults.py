"""The configuration is strict, and every fault is one message that says where and how to mend it."""

import re
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter, ValidationError

from base_config import base_config, message
from irpretrain.config import parse_config
from irpretrain.config.base import Section
from irpretrain.config.retrieval import SweepConfig
from irpretrain.foundation.resources import parse_yaml

# Changes of tests/base.yaml, key by key, and after => what stands in the message, part by part.
FAULTS = """
sed: 3 => sed: unknown key | did you mean seed?
sed: 3; retrieval.dept: 3 => 2 faults | sed: | retrieval.dept:
preset: papre => 1 fault in | preset: should be 'paper' or 'released'; given was 'papre'; did you mean paper?
preset: 3 => 1 fault in | preset: should be 'paper' or 'released'; given was 3
text.language: klingon => text.language: | klingon
pseudo_queries.temperature: hot => 1 fault | pseudo_queries.temperature: a number from 1e-9 up, or calibrated, is
  needed; given was 'hot'
pseudo_queries.temperature: 0 => 1 fault | pseudo_queries.temperature: a number from 1e-9 up, or calibrated, is needed
report.papers: [prop, prop] => report.papers: prop is listed twice; list each once
report.papers: [wikiforer] => given was 'wikiforer'; did you mean wikiformer?

# Pre-training
pretraining.stepz: 3 => pretraining.stepz: unknown key | did you mean steps?
pretraining.steps: many => pretraining.steps | valid integer | 'many'
pretraining.steps: 3:20 => pretraining.steps: should be a valid integer
pretraining.steps: 0 => pretraining.steps | greater than or equal to 1
pretraining.dropout: 1 => pretraining.dropout | less than 1
pretraining.attention_dropout: 1 => pretraining.attention_dropout | less than 1
pretraining.optimiser.learning_rate: .inf => learning_rate | finite number
pretraining.margin: .nan => pretraining.margin | finite number
pretraining.loss: hing => pretraining.loss | 'hinge', 'pair-softmax' or 'listwise' | 'hing'
pretraining.query_length: 61 => query_length 61 | max_length 64 | lower query_length or raise
pretraining.steps: 59; pretraining.mlm_head_steps: 0 => models.prop-rop.training: snapshots: 60
pretraining.snapshots: [0] => pretraining: snapshots: 0 is not a step of 1 to 100
pretraining.snapshots: [5, 5] => pretraining.snapshots: 5 is listed twice
pretraining.steps: null => pretraining: neither steps nor epochs are given
pretraining.epochs: 2 => pretraining: both steps 100 and epochs 2 are given; set one of them
pretraining.epochs: 0 => pretraining.epochs | greater than 0
pretraining.epochs_of: rop => pretraining: epochs_of rop: has no use with steps; give epochs
pretraining.optimiser: {decay: step, later_rate: 1e-6, later_from: 100} => pretraining: optimiser: later_from 100 is
  not between the end of warm-up, step 10, and the last of 100
pretraining.optimiser: {decay: step, later_rate: 1e-6, later_from: 9} => optimiser: later_from 9 is not between
pretraining.compute: {processes: 2} => pretraining.compute: processes: 2: processes need device cpu and gpus 0
pretraining.compute: {processes: 17, device: cpu} => batch_groups 16 is less than the 17 processes that share a step
pretraining.optimiser: {later_rate: 1e-6} => pretraining.optimiser: later_rate: has no use with decay linear
objectives.rop.suport: 3 => rop: suport: unknown key | did you mean support?
objectives.rop.type: rup => rop.type: 'rup' is unknown | did you mean rqp or rop
objectives.rop.type: [] => rop.type: [] is unknown | allowed are
objectives.ares-simple.predictor: null => ares-simple: predictor: is missing
graph.segment_words: 31 => models.php.tasks: mrds reads query_length 30 word pieces of segments of graph.segment_words
  31 | lower graph.segment_words or raise query_length

# Models
models.bm25: {} => models.bm25: bm25 has a meaning of its own here
models.encoder: {} => models.encoder: encoder has a meaning of its own here
models.a/b: {} => models.a/b: names are lower-case words
models.prop.training.stps: 3 => models.prop.training: stps: unknown key | did you mean steps?
models.prop.start: prop-further => goes round in a circle
models.prop-further.encoder: {path: bert} => models.prop-further.encoder: prop-further starts from prop, whose encoder
models.prop.encoder: {label: B} => models.prop.encoder.path: is missing
models.prop.training: {steps: 7, mlm_head_steps: 7} => models.prop: with mlm_head_steps 7 and steps 7 | never the
  encoder
models.prop.training: {epochs: 2, epochs_of: rpo} => models.prop: epochs_of: 'rpo' is not in models.prop.tasks; did
  you mean rop?
models.prop.training: {steps: 7, epochs: 1.5} => models.prop.training: both steps 7 and epochs 1.5 are given
models.prop.training: {steps: true} => models.prop.training: steps: a number is needed, not true
models.prop-rop.training: {epochs: 1, snapshots: [40]} => models.prop-rop.training: snapshots: counts steps | epochs 1
  | set it to [], or give steps
models.prop-rop.training.snapshots: [201] => models.prop-rop.training | 201 is not a step of 1 to
models.prop.training: {epochs: 1, optimiser: {decay: step, later_rate: 1e-6, later_from: 9}} => models.prop.training:
  optimiser.later_from: counts steps | set it to null and decay to linear
models.prop.collection: null => has tasks but no collection
models.prop.tasks: [{objective: rop, query_length: 62}] => models.prop.tasks: task rop: query_length 62 | max_length 64
models.prop.tasks: [{objective: rop, masking: {anchor_ratio: 0.5}}] => task rop: masking: anchor_ratio: anchors are in
models.prop.tasks: [{objective: rop, masking: {ratio: 0}}] => rop has mlm_weight 1, but masking.ratio 0 masks nothing
models.prop.tasks: [{objective: rop, weight: 0, mlm_weight: 0}] => nothing is learned
models.php-shp.tasks: [{objective: shp, query_length: 23}] => models.php-shp.tasks: shp reads query_length 23 word
  pieces | graph.segment_words 24 words

# A model that is chosen on held-out queries
models.prop-rop.select_on: {dataset: squad-trian} => did you mean squad-train?
models.prop-rop.select_on: {dataset: squad, measure: nDGC} => models.prop-rop.select_on.measure: 'nDGC' is not a
  measure
models.prop-rop.select_on: {dataset: squad-train}; models.prop-rop.training: {} => models.prop-rop.select_on: prop-rop
  keeps no snapshots to choose among
models.prop-rop.select_on: {dataset: squad-train}; models.prop-rop.training: {epochs: 2} => snapshots to choose among;
  give models.prop-rop.training.steps in place of epochs and list steps in models.prop-rop.training.snapshots
models.control.select_on: {dataset: squad-train} => control keeps no snapshots
models.prop-rop.select_on: {dataset: squad} => models.prop-rop.select_on.dataset: experiments.zero-shot tests on squad;
  test queries must not choose
models.prop-rop.select_on: {dataset: squad-train}; datasets.squad-train.queries.path: embedded:squad-dev => tests on
  squad, which has its queries from embedded:squad-dev too; test queries must not choose a model

# A re-ranker given by its path, and rankers over words
models.x: {cross_encoder: a, collection: target, start: prop} => models.x: a model with cross_encoder is not
  pre-trained here; remove start, collection
models.x: {cross_encoder: a}; models.prop-further.start: x => models.prop-further.start: x is a re-ranker given by its
models.x: {cross_encoder: a}; experiments.few-shot.models: [x] => experiments.few-shot.regimes: x has cross_encoder and
  is not fine-tuned here
models.x: {cross_encoder: a}; downstream.a: {tasks: [mrqa-squad], models: [x]} => downstream.a.models: x is a re-ranker
models.x.neural: {type: knrm, collection: questions}; experiments.zero-shot.models: [x] =>
  experiments.zero-shot.regimes: x has no pre-training | ranks at random | full or few-shot-<n>
models.x.neural: {type: knrm, collection: questions}; experiments.fine-tuned.models: [x] => models.x.neural.collection:
  experiments.fine-tuned trains and tests x on squad-dev, which
models.x: {neural: {type: knrm, collection: questions}, collection: target, tasks: [{objective: rop}]} => models.x: a
  model with neural is not pre-trained here; remove collection, tasks
models.x: {neural: {type: knrm, collection: questions}, passages: {words: 100}} => with neural | remove passages
models.x.neural: {type: knrm, collection: questions}; models.prop.start: x => models.prop.start: x is a ranker without
  pre-training
models.x.neural: {type: knrm, collection: questions}; diagnoses.embedded.models: [x] => diagnoses.embedded.models: x is
  a ranker without pre-training, which ranks at random
models.x.neural: {type: knrm, collection: questions}; attributions.a: {dataset: squad, models: [x]} =>
  attributions.a.models: x is a ranker
models.x.neural: {type: knmr, collection: questions} => models.x.neural | knrm | conv-knrm | duet
models.x.neural: {type: knrm, collection: questions, kernel: 3} => kernel: unknown key
models.x.neural: {type: duet, collection: questions, document_words: 101} => document_words: should be greater than or
  equal to 102; given was 101
models.x.neural: {type: duet-v2, collection: questions, query_words: 2} => query_words: should be greater than or equal
  to 3; given was 2

# Re-ranking and fine-tuning
reranking.query_length: 96 => reranking: query_length 96 | max_length 96
reranking.compute.gpus: 2 => reranking.compute: gpus: 2: a job of this stage uses one GPU
reranking.passages: {words: 5, stride: 6} => reranking.passages: stride 6 is more than words 5
finetuning.max_length: 30 => finetuning: query_length 32 | max_length 30
finetuning.optimiser: {decay: step, later_rate: 1e-6, later_from: 5} => finetuning: optimiser.decay: step has one
finetuning.batch_sizes: [0] => finetuning.batch_sizes.0 | greater than or equal to 1
finetuning.batch_sizes: [true] => finetuning.batch_sizes.0: a number is needed, not true
finetuning.learning_rates: [0.0] => finetuning.learning_rates.0 | greater than 0
finetuning.learning_rates: null => finetuning.learning_rates
finetuning.recipe: phpp => finetuning.recipe | 'none', 'ares', 'php', 'prop', 'wikiformer' or 'wikiformer-legal'
models.prop.finetuning: {epoch: 3} => models.prop.finetuning: epoch: unknown key; did you mean epochs?
models.prop.finetuning: {recipe: php} => models.prop.finetuning: recipe: one recipe serves all models that are compared

# Corpora, collections and data sets
corpora.squad-dev.path: "" => corpora.squad-dev.path | at least 1 character
corpora.squad-dev.options: {articles: [false, true]} => articles.0: a number is needed, not false
corpora.squad-train-passages: null; corpora.squad-dev: null; corpora.squad-dev-passages: null => 5 faults |
  collections.pretraining: 'squad-train-passages' | collections.target: 'squad-dev-passages' |
  datasets.squad.corpus: 'squad-dev' | datasets.squad-first-stages.corpus: 'squad-dev' |
  weight_distributions.squad-dev.corpora: 'squad-dev'
collections.target: [] => collections.target: is empty
datasets.squad.folds: true => folds: a number of folds, lists of queries, or a file is needed; given was True
datasets.squad.folds: 1.5 => 1 fault | folds: a number of folds, lists of queries, or a file is needed; given was 1.5
datasets.squad.qrels.path: [a, a] => 1 fault | path: a path, or a list of paths that differ, is needed; given was
datasets.squad.qrels.path: [a, a] => a is listed twice
datasets.squad.qrels.path: [a, 5] => is needed; given was 5
datasets.squad-train.folds: 501 => 501 folds cannot be made of 500 queries | lower folds
datasets.squad-train.folds: 2 => no room for training, validation and test; give 3 or more
datasets.squad-train.sample_queries: 2 => 2 queries cannot be parted | name another | zero-shot
datasets.squad.train_on: squad => datasets.squad.train_on: is the data set itself
datasets.squad.measures: [nDGC@20] => datasets.squad.measures | 'nDGC@20' is not a measure | nDCG@k
datasets.squad.measures: [AP, nDCG(dcg='exp-log2')@20, AP, P@10] => 'AP' is listed twice; list each measure once
datasets.squad.measures: [nDCG@10, ndcg_cut_10] => datasets.squad.measures | 'ndcg_cut_10' is listed twice (as nDCG@10)
datasets.squad.measures: [P@20, RR@21] => squad.measures: RR@21: the cut-off is beyond the 20 documents a query that
  reranking.depth allows; lower the cut-off, or raise reranking.depth
datasets.squad-first-stages.measures: [recall_1000, nDCG@101, Success@200, AP@500] => measures: R@1000, nDCG@101,
  Success@200, AP@500: the cut-off is beyond the 100 documents a query that retrieval.depth allows
datasets.squad-first-stages.depth: 19 => datasets.squad-first-stages.measures: nDCG@20: the cut-off is beyond the 19
  documents a query that datasets.squad-first-stages.depth allows
datasets.squad-train.validation_measure: nDCG@21 => datasets.squad-train.validation_measure: nDCG@21: the cut-off |
  reranking.depth
datasets.squad.validation_measure: P => datasets.squad.validation_measure | 'P' is not a measure
corpora.squad-dev-passages.passage_words: 50; datasets.squad.corpus: squad-dev-passages;
  datasets.squad.queries_are_documents: true => datasets.squad.queries_are_documents:
  corpora.squad-dev-passages.passage_words cuts documents

# Test queries that train, choose or teach
datasets.squad-train.queries.path: embedded:squad-dev => datasets.squad.train_on: | which has its queries from
  embedded:squad-dev too; test queries must not train
datasets.squad-held-out.queries: {format: squad, path: "embedded:squad-dev"} => first_stages.tf-bm25.tuned_on: | must
  not choose parameters
experiments.stages: {dataset: squad-fit, first_stages: [deepct-root-bm25]} => deepct.dataset: experiments.stages tests
  on squad-fit; test queries must not teach weights
datasets.squad.queries: {format: squad, path: "embedded:squad-train", options: {articles: [0, 394]}};
  experiments.stages: {dataset: squad, first_stages: [deepct-w-bm25, bow-deepct]} => term_weights.deepct-w.dataset: |
  term_weights.deepct-query.dataset: | must not teach weights
experiments: {tested: {dataset: squad-fit, models: [prop], regimes: [zero-shot]}}; models.prop.select_on: {dataset:
  squad-held-out, candidates: bow-deepct}; models.prop.training: {snapshots: [50]} => deepct-query.dataset: |
  squad-fit; test queries must not teach weights
experiments: {tested: {dataset: squad-fit, candidates: bow-deepct, models: [prop], regimes: [full]}};
  datasets.squad-fit.train_on: squad-held-out => deepct-query.dataset: | squad-fit; test queries must not teach weights
first_stages.tuned: {label: Tuned, tuned_on: squad}; models.prop-rop.select_on: {dataset: squad-held-out, candidates:
  tuned} => first_stages.tuned.tuned_on: experiments.zero-shot tests on squad; test queries must not choose parameters
first_stages.tuned: {label: Tuned, tuned_on: squad}; first_stages.others: {label: Others, runs: {squad: {path: r}},
  training_candidates: tuned}; experiments.fine-tuned.candidates: others => first_stages.tuned.tuned_on:
  experiments.fine-tuned tests on squad; test queries must not choose parameters

# Experiments
experiments.few-shot.regimes: [few-50] => 'few-50' is not a regime | few-shot-<n>
experiments.few-shot.regimes: [zeroshot] => 'zeroshot' is not a regime; did you mean zero-shot?
experiments.few-shot.models: [] => experiments.few-shot.models: is empty; models and regimes need each other
experiments.few-shot.seeds: [-1] => experiments.few-shot.seeds.0 | greater than or equal to 0
experiments.few-shot.papers: [] => experiments.few-shot.papers
experiments.deep: {dataset: squad, candidates: tf-bm25, models: [control], regimes: [zero-shot], depths: [10, 21]} =>
  experiments.deep.depths: 21 is more than the 20 candidates a query that reranking.depth allows
experiments.deep: {dataset: squad, candidates: tf-bm25, depths: [10, 101]} => experiments.deep.depths: 101 is more than
  the 100 candidates a query that retrieval.depth allows
experiments.deep: {dataset: squad, depths: [5]}; report.papers: [prop] => experiments.deep.depths: no table of this
  report shows depths | add deepct to report.papers, or leave depths out
experiments.deep: {dataset: squad, depths: [5], papers: [prop]} => add deepct to report.papers and papers, or leave
experiments: {zero-shot: {dataset: squad, models: [prop-further], regimes: [zero-shot]}};
  models.prop.training: {stepz: 1} => models.prop.training: stepz
experiments.few-shot.papers: [bert] => experiments.few-shot.papers

# Predictors, diagnoses and pages
predictors.simple.collection: pretraining => predictors.simple: the relevant documents of squad-questions are in corpus
  squad-train, which is not in collections.pretraining
collections.questions: [squad-dev]; predictors.simple.dataset: squad => predictors.simple.dataset:
  experiments.zero-shot-ares tests on squad; test queries must not teach a predictor, so name a data set with other
diagnoses.embedded.models: [prop, prop] => diagnoses.embedded.models: prop is listed twice
diagnoses.Axioms: {collection: questions, models: [prop]} => diagnoses.Axioms: names
models.prop-mlm.training: {steps: 7, mlm_head_steps: 7}; experiments.zero-shot: null;
  diagnoses.embedded.models: [prop-mlm] => models.prop-mlm: with mlm_head_steps 7 and steps 7
models.x: {training: {stepz: 1}}; attributions.case: {dataset: squad, models: [x]} => models.x.training: stepz
attributions.a: {dataset: squad, document: d, models: [prop]} => document is given without a query; give query
weight_distributions.squad-dev.weightings: [tf, tf] => tf is listed twice; list each once

# First stages, indexes and weightings
term_weights.tf: {label: tf, model: tf} => term_weights.tf: tf has a meaning of its own here
indexes.deepct: {type: textrank} => term_weights.deepct: deepct is in indexes too
term_weights.deepct.window_overlap: 64 => window_overlap: 64 is more than half of the 126 word pieces
term_weights.deepct-root.same_as: tf-words => tf-words predicts no weights of passages itself; name one that does
first_stages.tf-bm25.index: deepkt => did you mean deepct?
first_stages.bow-deepct.query_weights: deepct => 'deepct' is not in term_weights of kind queries
first_stages.tf-bm25.query_weights: deepct-query => first_stages.tf-bm25: query_weights and dependence need model indri
first_stages.bow-tf.index: deepct => first_stages.bow-tf: indri has index tf and parameters that are given
first_stages.tf-bm25.candidates: bm26 => did you mean bm25?
first_stages.tf-bm25.candidates: ql => leave out tuned_on or candidates
first_stages.bow-tf.candidates: ql => first_stages.bow-tf.candidates: indri searches the whole index; use model bm25, ql
first_stages.p: {label: p, candidates: p} => first_stages.p.candidates: p ranks candidates itself; name the first stage
first_stages.q: {label: q, candidates: p}; first_stages.p: {label: p, candidates: q} => first_stages.p.candidates: q
  ranks candidates itself
first_stages.tf-bm25.parameters: {mu: 5} => first_stages.tf-bm25.parameters: bm25 has no mu, only k1 and b
first_stages.tf-bm25.parameters: {k1: 5} => first_stages.tf-bm25.parameters: k1 is tuned on squad-held-out
first_stages.tf-bm25.training_candidates: ql => first_stages.tf-bm25.training_candidates: is for runs of others
first_stages.x: {label: X, runs: {squad: {path: r}}, model: ql} => first_stages.x: takes runs of others, so nothing is
  searched; remove model
first_stages.x: {label: X, runs: {squad: {path: r, format: treck}}} => 'treck' is not a format of runs; did you mean
  trec?
first_stages.x: {label: X, runs: {squad: {path: r, format: tsv, options: {columns: [query_id]}}}} => rank or score must
  be among the columns
first_stages.x: {label: X, runs: {squad: {path: r}}}; experiments.fine-tuned.candidates: x => candidates: x has no run
  for squad-train; add it as first_stages.x.runs.squad-train
first_stages.x: {label: X, runs: {squad: {path: r}}}; experiments.fine-tuned: {dataset: squda, candidates: x} =>
  experiments.fine-tuned.dataset: 'squda' is not in datasets

# Tasks beside retrieval
downstream.a: {tasks: [mrqa-squad, mrqa-squad], models: [php]} => downstream.a.tasks: mrqa-squad is listed twice
downstream_tasks.a: {label: A} => downstream_tasks.a.questions: is missing
question_answering.strid: 5 => question_answering.strid: unknown key; did you mean stride?
question_answering.max_length: 263 => stride 128 leaves windows of max_length 263 no new text beside a long question

# Judgements that follow from answers teach and choose nothing.
experiments.asked: {dataset: entity-questions, models: [control], regimes: [few-shot-10]} => experiments.asked.regimes:
  entity-questions judges by answers
models.prop-rop.select_on: {dataset: entity-questions} => select_on.dataset: entity-questions judges by answers
first_stages.tf-bm25.tuned_on: entity-questions => tf-bm25.tuned_on: entity-questions judges by answers
term_weights.deepct.dataset: entity-questions => deepct.dataset: entity-questions judges by answers
predictors.simple.dataset: entity-questions => simple.dataset: entity-questions judges by answers

# Labels
first_stages.tf-bm25.label: BM25 => bm25 and tf-bm25 have one label, 'BM25', so the table of squad
first_stages.tf-bm25.label: " DeepCT,  BM25" => tf-bm25 and deepct-bm25 have one label, ' DeepCT,  BM25'
first_stages.tf-bm25.label: "" => first_stages.tf-bm25.label: is blank
first_stages.tf-bm25.label: " \\u200b " => first_stages.tf-bm25.label: is blank
models.prop.label: " " => models.prop.label: is blank
models.prop.label: BM25 => bm25 and prop have one label, 'BM25', so the table of squad
models.wikiformer.label: control => control and wikiformer have one label, 'control', so the table of squad
models.wikiformer.label: PROP (slow) => prop and wikiformer have one label, 'PROP', so the table of squad
"""
CASES = [line for line in FAULTS.replace("\n  ", " ").splitlines() if line and not line.startswith("#")]


def changed(changes: str) -> dict[str, Any]:
    """The configuration with values under dotted keys replaced: `seed: 3; retrieval.depth: 5`."""
    given = base_config()
    for change in changes.split("; "):
        key_path, value = change.split(": ", 1)
        *parents, last = key_path.split(".")
        section = given
        for parent in parents:
            section = section.setdefault(parent, {})
        section[last] = parse_yaml(value)
    return given


@pytest.mark.parametrize("case", CASES)
def test_a_fault_is_explained(case: str) -> None:
    changes, expected = case.split(" => ")
    text = message(changed(changes))
    assert [part for part in expected.split(" | ") if part.strip() not in text] == [], text


# Changes that are allowed: values on the other side of the bounds above, and what no experiment uses.
SOUND = """
pretraining.query_length: 60
pretraining.compute: {processes: 8, device: cpu}
pretraining.optimiser: {decay: step, later_rate: 1e-6, later_from: 10}
models.prop.training: {steps: 11, snapshots: [1, 11], mlm_head_steps: 10}
models.php-shp.tasks: [{objective: shp, query_length: 24}]
models.prop-rop.tasks: [{objective: rop, masking: {ratio: 0, anchor_ratio: 0.5, scope: sequence}}]
models.x.neural: {type: duet, collection: questions, document_words: 102, query_words: 3}
models.y.neural: {type: knrm, collection: questions, document_words: 1, query_words: 1}
reranking.compute.gpus: 1
reranking.passages: {words: 5, stride: 5}
question_answering.max_length: 264
datasets.squad-train.sample_queries: 3; datasets.squad-train.folds: 3
datasets.squad-train.validation_measure: RR@20
datasets.squad-train.validation_measure: nDCG@21; finetuning.epochs: 1
datasets.squad-first-stages.measures: [R@100, AP]
datasets.squad-first-stages.measures: [R@1000]; datasets.squad-first-stages.depth: 1000
datasets.squad-first-stages.measures: [R@1000]; retrieval.depth: 1000
datasets.squad.measures: [nDCG@21]; reranking.depth: 21
experiments.deep: {dataset: squad, candidates: tf-bm25, models: [control], regimes: [zero-shot], depths: [20]}
experiments.deep: {dataset: squad, candidates: tf-bm25, depths: [100]}
experiments: {all: {dataset: squad, models: [prop-mlm], regimes: [zero-shot]}}; pretraining.steps: 59
experiments.lost: {dataset: squad, models: [no-such-model], regimes: [zero-shot], papers: [prop]}; report.papers: [php]
experiments.asked: {dataset: entity-questions, models: [control], regimes: [zero-shot]}
experiments.asked: {dataset: entity-questions, models: [control], regimes: [full]};
  datasets.entity-questions: {train_on: squad-train}
experiments.again: {dataset: squad-train, first_stages: [other]}; first_stages.other: {label: "tf index, BM25"}
collections.dev: [squad-dev]; predictors.dev: {label: dev, collection: dev, dataset: squad}
term_weights.deepct.window_overlap: 63
term_weights.tf: {label: oracle, model: oracle, kind: queries, dataset: squad}
term_weights.textrank: {label: oracle, model: oracle, kind: queries, dataset: squad}
weight_distributions.squad-dev.corpora: [squid]; term_weight_pages.squad.dataset: squat; report.papers: [prop]
"""


@pytest.mark.parametrize("changes", SOUND.replace("\n  ", " ").strip().splitlines())
def test_what_is_allowed(changes: str) -> None:
    parse_config(changed(changes))


# Sections of what the papers print, which users do not write.
OURS = ("irpretrain.config.papers", "irpretrain.config.printed")


def plain_keys() -> Iterator[tuple[str, Any, TypeAdapter]]:
    """Each key of any section, its field and its type."""
    sections: list[type] = [Section]
    for section in sections:
        sections.extend(section.__subclasses__())
        if section.__module__ in OURS or not section.__module__.startswith("irpretrain.config."):
            continue
        for key, field in section.model_fields.items():
            yield (
                f"{section.__name__}.{key}",
                field,
                TypeAdapter(Annotated[field.annotation, key, *field.metadata]),
            )


def listed_keys() -> list[tuple[str, Any, Any]]:
    """Key of a list of plain values in any section, its type, and a value that such a list takes."""
    found = []
    for key, field, checked in plain_keys():
        literals = re.findall(r"Literal\['([^']+)'", str(field.annotation))
        for value in (3, 0.5, "full", *literals):
            if "list[" in str(field.annotation) and accepts(checked, [value]):
                found.append((key, checked, value))
                break
    return found


def accepts(checked: TypeAdapter, value: Any) -> bool:
    try:
        checked.validate_python(value)
    except ValidationError:
        return False
    return True


def test_a_list_takes_each_value_once() -> None:
    """A seed that stands twice would count twice in means and intervals."""
    keys = listed_keys()
    assert {"ExperimentConfig.seeds", "ExperimentConfig.regimes"} <= {key for key, *_ in keys}
    taken_twice = {key for key, checked, value in keys if accepts(checked, [value, value])}
    grids = {
        f"SweepConfig.{key}" for key in SweepConfig.model_fields
    }  # their values rise, by a check of their own
    assert taken_twice - grids == {"ReportConfig.notes"}


@pytest.mark.parametrize("value", [0, -1, 1.5, "x y", [0], [], [[None]]])
def test_no_fault_has_pydantic_s_names_of_a_union_s_kinds(value: object) -> None:
    """Such as `temperature.constrained-float`, which is no key."""
    for key, _, checked in plain_keys():
        try:
            checked.validate_python(value)
        except ValidationError as error:
            steps = {step for fault in error.errors() for step in fault["loc"]}
            assert not any(isinstance(step, str) for step in steps), f"{key}: {steps}"
