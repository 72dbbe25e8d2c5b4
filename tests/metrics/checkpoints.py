"""Tiny checkpoints, made and saved here, so that loading is real and nothing is downloaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "take",
    "do",
    "not",
    "with",
    "food",
    "aspirin",
    "daily",
    "water",
    "never",
    "stop",
    "it",
    "the",
    "a",
    "rest",
    "fever",
    "cough",
    ".",
    ",",
]
PAIRS = [
    # premise, hypothesis, label: 0 entailment, 1 neutral, 2 contradiction
    ("take with food", "take with food", 0),
    ("take aspirin daily", "take aspirin", 0),
    ("take with water", "take with water", 0),
    ("rest daily", "rest daily", 0),
    ("take with food", "do not take with food", 2),
    ("take aspirin", "do not take aspirin", 2),
    ("do not take with water", "take with water", 2),
    ("take it daily", "never take it", 2),
    ("take with food", "fever cough", 1),
    ("rest", "aspirin daily", 1),
    ("the fever", "water with food", 1),
    ("cough", "rest with water", 1),
]


def tokenizer(folder: Path) -> Any:
    from transformers import BertTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    return BertTokenizerFast(vocab=str(folder / "vocab.txt"), do_lower_case=True, model_max_length=64)


def bert_config(**more: Any) -> Any:
    from transformers import BertConfig

    return BertConfig(
        vocab_size=len(WORDS), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
        max_position_embeddings=64, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, **more,
    )  # fmt: skip


def trained_nli(
    folder: Path, names: dict[int, str], order: list[int], state: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Saves a checkpoint that has learnt PAIRS, whose output `i` means label `order[i]` and is called `names[i]`."""
    torch = pytest.importorskip("torch", reason="torch is not installed (extra: metrics)")
    from transformers import BertForSequenceClassification

    torch.manual_seed(0)
    model = BertForSequenceClassification(
        bert_config(num_labels=3, id2label=names, label2id={v: k for k, v in names.items()})
    )
    words = tokenizer(folder)
    if state is None:
        batch = words([p for p, _, _ in PAIRS], [h for _, h, _ in PAIRS], padding=True, return_tensors="pt")
        truth = torch.tensor([label for _, _, label in PAIRS])
        optimiser = torch.optim.AdamW(model.parameters(), lr=5e-3)
        model.train()
        for _ in range(80):
            loss = torch.nn.functional.cross_entropy(model(**batch).logits, truth)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        state = {key: value.clone() for key, value in model.state_dict().items()}
    permuted = dict(state)
    for key in ("classifier.weight", "classifier.bias"):
        permuted[key] = state[key][order]
    model.load_state_dict(permuted)
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return state
