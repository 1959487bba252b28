"""Tiny random models: a BERT encoder; encoders, cross-encoders and generators of other architectures.

The imports of torch are inside functions: most tests need no model.
"""

import json
from pathlib import Path
from typing import Any

WORDS = [f"word{number:02d}" for number in range(80)]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PIECES = [*"abcdefghij", *(f"##{letter}" for letter in "abcdefghij")]
VOCABULARY = [*SPECIAL, *PIECES, *WORDS]
"""105 entries. A word of the letters a to j has a piece for each letter: "cab" is c ##a ##b."""


def write_tokenizer(directory: Path) -> None:
    """Write tokenizer.json, tokenizer_config.json and vocab.txt of the tiny vocabulary."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing

    directory.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(WordPiece({word: i for i, word in enumerate(VOCABULARY)}, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.add_special_tokens(SPECIAL)
    ends = [("[CLS]", VOCABULARY.index("[CLS]")), ("[SEP]", VOCABULARY.index("[SEP]"))]
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
    )
    tokenizer.save(str(directory / "tokenizer.json"))
    (directory / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    (directory / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer"}))


def write_encoder(directory: Path, **changes: Any) -> Path:
    """Write a random BERT encoder: 2 layers of 32 units, no dropout, the tiny vocabulary."""
    import torch
    from transformers import BertConfig, BertModel

    dropout = dict.fromkeys(("hidden_dropout_prob", "attention_probs_dropout_prob"), 0.0)
    options = {**SIZES, "intermediate_size": 64, "max_position_embeddings": 64, **dropout, **changes}
    with torch.random.fork_rng():
        torch.manual_seed(7)
        return _save(BertModel(BertConfig(**options)), directory)


SIZES = {"vocab_size": len(VOCABULARY), "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}


def _save(network: Any, directory: Path) -> Path:
    network.save_pretrained(directory)
    write_tokenizer(directory)
    return directory


def write_bert(directory: Path, labels: int) -> Path:
    """Write a BERT sequence classifier with so many labels, whose scores differ visibly."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    with torch.random.fork_rng():
        torch.manual_seed(labels)
        config = BertConfig(
            **SIZES,
            intermediate_size=64,
            max_position_embeddings=64,
            num_labels=labels,
            initializer_range=0.3,
        )
        return _save(BertForSequenceClassification(config), directory)


def write_distilbert(directory: Path) -> Path:
    """Write a classifier of an architecture without token types."""
    import torch
    from transformers import DistilBertConfig, DistilBertForSequenceClassification

    with torch.random.fork_rng():
        torch.manual_seed(3)
        config = DistilBertConfig(
            vocab_size=len(VOCABULARY), dim=32, n_layers=2, n_heads=4, hidden_dim=64, num_labels=1,
            max_position_embeddings=64, initializer_range=0.3,
        )  # fmt: skip
        return _save(DistilBertForSequenceClassification(config), directory)


def write_roberta(directory: Path) -> Path:
    """Write one with two separators between the texts, and with positions that are counted from the padding's id."""
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit
    from tokenizers.processors import RobertaProcessing
    from transformers import RobertaConfig, RobertaForSequenceClassification

    directory.mkdir(parents=True)
    with torch.random.fork_rng():
        torch.manual_seed(4)
        sizes = {**SIZES, "vocab_size": len(VOCABULARY) + 5}
        config = RobertaConfig(
            **sizes, intermediate_size=64, max_position_embeddings=34, num_labels=1, type_vocab_size=1,
            pad_token_id=1, initializer_range=0.3,
        )  # fmt: skip
        RobertaForSequenceClassification(config).save_pretrained(directory)
    names = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *VOCABULARY]
    tokenizer = Tokenizer(WordLevel({name: i for i, name in enumerate(names)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.add_special_tokens(names[:5])
    tokenizer.post_processor = RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    special = {"pad": "<pad>", "mask": "<mask>", "unk": "<unk>", "sep": "</s>"}
    _describe(directory, tokenizer, types=False, **special)
    return directory


MERGES = [("w", "o"), ("r", "d"), ("wo", "rd"), ("Ġ", "word"), ("c", "a"), ("ca", "t"), ("Ġ", "cat")]


def byte_level_tokenizer(merges: list[tuple[str, str]], trim: bool = True) -> Any:
    """RoBERTa's kind of tokenizer: one piece a byte, a space being Ġ, but for what `merges` join."""
    from tokenizers import Tokenizer, decoders
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel
    from tokenizers.processors import RobertaProcessing

    names = ["<s>", "<pad>", "</s>", "<unk>", *sorted(ByteLevel.alphabet()), *(a + b for a, b in merges)]
    tokenizer = Tokenizer(BPE({name: i for i, name in enumerate(names)}, merges))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([*names[:4], "<mask>"])
    tokenizer.post_processor = RobertaProcessing(("</s>", 2), ("<s>", 0), trim, add_prefix_space=False)
    return tokenizer


def sentencepiece_tokenizer() -> Any:
    """SentencePiece's kind of tokenizer: one piece a character, ▁ before a word, but for "▁cat"."""
    from tokenizers import Tokenizer, decoders
    from tokenizers.models import Unigram
    from tokenizers.normalizers import NFKC
    from tokenizers.pre_tokenizers import Metaspace
    from tokenizers.processors import TemplateProcessing

    pieces = [("<pad>", 0.0), ("<unk>", -20.0), ("[CLS]", 0.0), ("[SEP]", 0.0), ("▁", -2.0), ("▁cat", -1.0)]
    pieces += [(letter, -3.0) for letter in "abcdefghijklmnopqrstuvwxyz0123456789.!"]
    tokenizer = Tokenizer(Unigram(pieces, unk_id=1))
    tokenizer.normalizer = NFKC()
    tokenizer.pre_tokenizer = Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.add_special_tokens(["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"])
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
    )
    return tokenizer


def _word_pieces(directory: Path) -> None:
    write_tokenizer(directory)


def _byte_level(directory: Path) -> None:
    """RoBERTa's: two separators between texts."""
    _describe(directory, byte_level_tokenizer(MERGES), False, pad="<pad>", mask="<mask>")


def _byte_level_of_modernbert(directory: Path) -> None:
    """One separator, and white space counts as part of the word behind it."""
    from tokenizers.processors import TemplateProcessing

    tokenizer = byte_level_tokenizer(MERGES)
    tokenizer.post_processor = TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    _describe(directory, tokenizer, False, pad="<pad>", mask="<mask>")


def _sentencepiece(directory: Path) -> None:
    _describe(directory, sentencepiece_tokenizer(), True, pad="<pad>", mask="[MASK]")


def _sentencepiece_of_xlm_roberta(directory: Path) -> None:
    """Two separators between texts, and no token types."""
    from tokenizers.processors import TemplateProcessing

    tokenizer, ends = sentencepiece_tokenizer(), [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] [SEP] $B [SEP]", special_tokens=ends
    )
    _describe(directory, tokenizer, False, pad="<pad>", mask="[MASK]")


def _describe(directory: Path, tokenizer: Any, types: bool, **special: str) -> None:
    tokenizer.save(str(directory / "tokenizer.json"))
    names = ["input_ids", *(["token_type_ids"] if types else []), "attention_mask"]
    described = {"tokenizer_class": "PreTrainedTokenizerFast", "model_input_names": names}
    described |= {f"{name}_token": token for name, token in special.items()}
    (directory / "tokenizer_config.json").write_text(json.dumps(described))


FAMILIES: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "bert": ("bert", _word_pieces, {}),
    "minilm": ("bert", _word_pieces, {"intermediate_size": 128}),
    "electra": ("electra", _word_pieces, {"embedding_size": 16}),
    "distilbert": ("distilbert", _word_pieces, {"hidden_dim": 64}),  # reads no token types
    "roberta": ("roberta", _byte_level, {"type_vocab_size": 1, "pad_token_id": 1}),
    "xlm-roberta": (
        "xlm-roberta",
        _sentencepiece_of_xlm_roberta,
        {"type_vocab_size": 1, "pad_token_id": 0},
    ),
    "albert": ("albert", _sentencepiece, {"embedding_size": 16}),
    "deberta-v3": (
        "deberta-v2",
        _sentencepiece,
        {
            "type_vocab_size": 0,
            "relative_attention": True,
            "position_buckets": 16,
            "norm_rel_ebd": "layer_norm",
            "share_att_key": True,
            "pos_att_type": ["p2c", "c2p"],
            "position_biased_input": False,
        },
    ),
    "modernbert": (
        "modernbert",
        _byte_level_of_modernbert,
        {
            "local_attention": 16,
            "global_attn_every_n_layers": 2,
            "pad_token_id": 1,
            **dict.fromkeys(("bos_token_id", "cls_token_id"), 0),
            **dict.fromkeys(("eos_token_id", "sep_token_id"), 2),
        },
    ),
}
"""Family of encoders → type of its configuration, tokenizer, and what it has beside the tiny sizes."""


def write_family(directory: Path, family: str, with_mlm_head: bool = False, **changes: Any) -> Path:
    """Write a random encoder of a family: 2 layers, 128 positions or more, and weights whose scores differ visibly."""
    import torch
    from transformers import AutoConfig, AutoModel, AutoModelForMaskedLM

    kind, tokenizer, options = FAMILIES[family]
    directory.mkdir(parents=True)
    tokenizer(directory)
    vocabulary = json.loads((directory / "tokenizer.json").read_text())
    entries = {token["content"] for token in vocabulary["added_tokens"]}
    known = vocabulary["model"]["vocab"]
    entries |= {entry[0] for entry in known} if isinstance(known, list) else set(known)
    sizes = {**SIZES, "vocab_size": len(entries), "intermediate_size": 64, "max_position_embeddings": 130}
    config = AutoConfig.for_model(kind, **{**sizes, "initializer_range": 0.1, **options, **changes})
    for name in [name for name in config.to_dict() if "dropout" in name]:
        setattr(config, name, 0.0)
    with torch.random.fork_rng():
        torch.manual_seed(11)
        (AutoModelForMaskedLM if with_mlm_head else AutoModel).from_config(config).save_pretrained(directory)
    return directory
