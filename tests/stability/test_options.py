"""Next-token probabilities of options: real checkpoints made here, llama and gpt2 style tokenizers, and the embedded weights."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from judgekit.data import RecordSet
from judgekit.errors import InputError, JudgekitError, MissingDependency, UsageError
from judgekit.records import Record
from judgekit.stability.ask import CUE, ask_by_probability, option_prompt, stored_answers
from judgekit.stability.logprobs import choice_confidence
from judgekit.stability.make import make_study
from judgekit.stability.study import load_study
from tests.judging.provider import Provider
from tests.stability.script import Script, questions, writer

LETTERS = ["A", "B", "C"]


def corpus() -> list[str]:
    return [option_prompt(record) + f" {letter}" for record in questions(4) for letter in "ABCDE"] + [
        "A B C D E Answer: A"
    ] * 20


def llama_tokenizer(folder: Path) -> Any:
    """SentencePiece's way: a space is a mark that begins the next piece."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=False))
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    made.train_from_iterator(corpus(), trainers.BpeTrainer(vocab_size=400, special_tokens=["<unk>", "<s>", "</s>"]))
    fast = PreTrainedTokenizerFast(tokenizer_object=made, unk_token="<unk>", bos_token="<s>", eos_token="</s>")
    fast.save_pretrained(folder)
    return fast


def gpt2_tokenizer(folder: Path) -> Any:
    """Byte-level BPE: a space belongs to the word after it."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=500, special_tokens=["<|endoftext|>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    made.train_from_iterator(corpus(), trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|endoftext|>", bos_token="<|endoftext|>")
    fast.save_pretrained(folder)
    return fast


def checkpoint(folder: Path, style: str) -> Path:
    torch = pytest.importorskip("torch", reason="torch is not installed (extra: metrics)")
    pytest.importorskip("transformers", reason="transformers is not installed (extra: metrics)")
    from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

    torch.manual_seed(5)
    folder.mkdir(parents=True, exist_ok=True)
    if style == "llama":
        words = llama_tokenizer(folder)
        model: Any = LlamaForCausalLM(
            LlamaConfig(
                vocab_size=len(words), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
                num_key_value_heads=2, max_position_embeddings=512, initializer_range=0.4,
            )
        )  # fmt: skip
    else:
        words = gpt2_tokenizer(folder)
        model = GPT2LMHeadModel(
            GPT2Config(vocab_size=len(words), n_embd=32, n_layer=2, n_head=4, n_positions=512, initializer_range=0.4)
        )
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module", params=["llama", "gpt2"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkpoint(tmp_path_factory.mktemp(request.param) / "model", request.param)


def prompts() -> list[str]:
    records = list(questions(3))
    longer = Record(id="x", question="Again. " * 30 + str(records[0].question), options=records[0].options)
    return [option_prompt(record) for record in [*records, longer]]


def test_batched_equals_unbatched(model: Path) -> None:
    from judgekit.metrics.causal import causal_model

    loaded = causal_model(str(model), "float32")
    texts = prompts()
    batched = loaded.probabilities(texts, [LETTERS] * 4, CUE)
    alone = loaded.probabilities(texts, [LETTERS] * 4, CUE, tokens_a_batch=1)
    for one, two in zip(batched, alone, strict=True):
        assert isinstance(one, dict)
        assert isinstance(two, dict)
        assert list(one) == LETTERS
        assert sum(one.values()) == pytest.approx(1.0)
        assert [one[k] for k in LETTERS] == pytest.approx([two[k] for k in LETTERS], abs=1e-5)
    spread = {round(found["A"], 4) for found in batched if isinstance(found, dict)}
    assert len(spread) > 1  # the model does look at the question


def test_the_probabilities_are_the_models_own(model: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from judgekit.metrics.causal import causal_model

    # Independent: the plain library, one prompt, the softmax over the vocabulary, then the options' share of it.
    words, plain = AutoTokenizer.from_pretrained(model), AutoModelForCausalLM.from_pretrained(model).eval()
    text = prompts()[0]
    with torch.inference_mode():
        row = torch.softmax(
            plain(**words(text, return_tensors="pt", return_token_type_ids=False)).logits[0, -1].double(), -1
        )
    loaded = causal_model(str(model), "float32")
    tokens = loaded.option_tokens(CUE, LETTERS)
    mass = {letter: sum(float(row[i]) for i in tokens.ids[letter]) for letter in LETTERS}
    found = loaded.probabilities([text], [LETTERS], CUE)[0]
    assert isinstance(found, dict)
    for letter in LETTERS:
        assert found[letter] == pytest.approx(mass[letter] / sum(mass.values()), abs=1e-5)


def test_option_tokens_are_found_with_and_without_a_space(model: Path) -> None:
    from judgekit.metrics.causal import causal_model

    loaded = causal_model(str(model), "float32")
    tokens = loaded.option_tokens(CUE, LETTERS)
    assert "with a space" in tokens.forms
    words = loaded._tokenizer
    for letter in LETTERS:
        assert {words.decode([i]).strip(" ▁Ġ") for i in tokens.ids[letter]} == {letter}
    all_ids = [i for ids in tokens.ids.values() for i in ids]
    assert len(set(all_ids)) == len(all_ids)
    with pytest.raises(InputError, match="single token"):
        loaded.option_tokens(CUE, ["a long option name xyz", "another one qqq"])


def test_a_prompt_that_does_not_fit_is_told_and_never_cut(model: Path) -> None:
    from judgekit.metrics.causal import causal_model

    found = causal_model(str(model), "float32").probabilities(["word " * 3000 + CUE, prompts()[0]], [LETTERS] * 2, CUE)
    assert isinstance(found[0], str)
    assert "reads 512" in found[0]
    assert isinstance(found[1], dict)


def test_half_precision_runs_and_four_bit_says_what_it_needs(model: Path) -> None:
    import torch

    from judgekit.metrics.causal import causal_model

    half = causal_model(str(model), "bfloat16").probabilities(prompts()[:1], [LETTERS], CUE)[0]
    assert isinstance(half, dict)
    assert sum(half.values()) == pytest.approx(1.0)
    with pytest.raises(UsageError, match="no precision"):
        causal_model(str(model), "int3")
    if not torch.cuda.is_available():
        with pytest.raises(MissingDependency, match="CUDA GPU"):
            causal_model(str(model), "nf4")


def test_answers_are_kept_and_not_asked_again(model: Path, provider: Provider, tmp_path: Path) -> None:
    provider.script = Script()
    out = tmp_path / "s"
    make_study(questions(2), writer(provider), out, kinds=["format-shift", "question-reframing"], ner=None, quiet=True)
    first = ask_by_probability(out, f"hf/{model}", dtype="float32")
    again = ask_by_probability(out, f"hf/{model}", dtype="float32")
    assert (first.calls, first.reused, again.calls, again.reused) == (6, 0, 0, 6)
    ask_by_probability(out, f"hf/{model}", dtype="bfloat16")
    exact, half = stored_answers(out)
    assert exact.model.endswith("(dtype=float32)")
    assert set(exact.answer) == {"q0", "q1", *(row["id"] for row in load_study(out).final())}
    assert all(value is not None and 1 / 3 <= value <= 1 for value in exact.confidence.values())
    from judgekit.stability.scores import score_study

    found = score_study(out, replicates=50, permutations=100)
    assert all(row["quantisation"] for row in found.comparisons)  # one checkpoint, two precisions
    assert found.models[0]["mvs"] is not None
    assert half.entry["dtype"] == "bfloat16"


def test_the_embedded_model_gives_probabilities(provider: Provider, tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="the engine is not installed: pip install 'clinical-judgekit[local]'")
    from judgekit.judging.provider.weights import ensure, known
    from judgekit.stability.embedded import embedded

    try:
        ensure(known("smollm2-135m"), lambda line: None)
    except JudgekitError as error:
        pytest.skip(f"the weights cannot be fetched here: {error}")
    texts = [option_prompt(record) for record in questions(2)]
    with embedded("local/smollm2-135m") as loaded:
        found = loaded.probabilities(texts, [LETTERS] * 2, CUE)
        again = loaded.probabilities(texts[::-1], [LETTERS] * 2, CUE)
        whole = sum(len(ids) for ids in loaded._tokens(CUE, LETTERS).values())
    assert whole == 6  # " A" and "A", each one token of this vocabulary
    for one, two in zip(found, again[::-1], strict=True):
        assert isinstance(one, dict)
        assert isinstance(two, dict)
        assert sum(one.values()) == pytest.approx(1.0)
        assert list(one.values()) == pytest.approx(list(two.values()), abs=1e-5)  # whatever was asked before


def tokens(*rows: tuple[str, float, dict[str, float]]) -> list[dict[str, Any]]:
    return [{"token": text, "logprob": log, "top": top} for text, log, top in rows]


def test_confidence_from_a_providers_tokens() -> None:
    # p(A) = .6, p(B) = .2, another token .2: .6 / .8 = .75
    top = {"A": math.log(0.6), "B": math.log(0.2), "The": math.log(0.2)}
    said = tokens(('{"answer":"', 0.0, {}), ("A", math.log(0.6), top), ('"}', 0.0, {}))
    assert choice_confidence(said, "A", ["A", "B", "C"]).value == pytest.approx(0.75)
    glued = tokens(('{"answer": ', 0.0, {}), ('"A"}', math.log(0.6), {'"A"}': math.log(0.6), '"B"}': math.log(0.2)}))
    assert choice_confidence(glued, "A", ["A", "B"]).value == pytest.approx(0.75)


def test_confidence_is_none_with_the_reason() -> None:
    assert choice_confidence(None, "A", ["A"]).reason == "the provider gave no log-probabilities"
    split = tokens(('{"answer":"', 0.0, {}), ("o", 0.0, {}), ("k", 0.0, {}), ('"}', 0.0, {}))
    assert choice_confidence(split, "ok", ["ok", "no"]).reason == "the choice was written by several tokens"


def test_records_without_options_are_refused(provider: Provider, tmp_path: Path) -> None:
    provider.script = Script()
    bare = RecordSet([Record(id="q0", question=questions(1)[0].question)], name="bare")
    make_study(bare, writer(provider), tmp_path / "s", kinds=["format-shift"], ner=None, quiet=True)
    with pytest.raises(InputError, match="no options"):
        ask_by_probability(tmp_path / "s", "local/smollm2-135m")
