"""Loading, batching and devices: the NLI and similarity paths with checkpoints made here."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.errors import InputError, MissingDependency, UsageError
from judgekit.metrics import models
from judgekit.metrics.batching import in_batches
from judgekit.metrics.nli import load_nli
from judgekit.metrics.nli_labels import label_order

needs_models = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None or importlib.util.find_spec("sentence_transformers") is None,
    reason="transformers and sentence-transformers are not installed (extra: metrics)",
)


def helpers():  # type: ignore[no-untyped-def]
    """tests/metrics/checkpoints.py, by its path: in importlib mode tests are no package."""
    spec = importlib.util.spec_from_file_location("judgekit_test_checkpoints", Path(__file__).parent / "checkpoints.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@given(st.lists(st.integers(1, 50), max_size=40), st.integers(1, 100))
def test_batches_keep_order_and_budget(lengths: list[int], budget: int) -> None:
    seen: list[list[int]] = []

    def run(batch: list[int]) -> list[int]:
        seen.append(batch)
        return [item * 2 for item in batch]

    items = list(range(len(lengths)))
    assert in_batches(items, lengths, budget, run) == [item * 2 for item in items]
    for batch in seen:
        assert len(batch) == 1 or len(batch) * max(lengths[item] for item in batch) <= budget


def test_a_batch_that_does_not_fit_is_halved_until_it_does() -> None:
    sizes: list[int] = []

    def run(batch: list[int]) -> list[int]:
        sizes.append(len(batch))
        if len(batch) > 2:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")
        return batch

    assert in_batches(list(range(9)), [1] * 9, 100, run) == list(range(9))
    assert sizes[0] == 9
    assert max(size for size in sizes if size <= 2) == 2


def test_one_text_that_does_not_fit_is_an_error_and_other_errors_pass() -> None:
    def full(batch: list[int]) -> list[int]:
        raise RuntimeError("out of memory")

    def broken(batch: list[int]) -> list[int]:
        raise RuntimeError("shapes differ")

    with pytest.raises(InputError, match="does not fit"):
        in_batches([1], [7], 10, full)
    with pytest.raises(RuntimeError, match="shapes differ"):
        in_batches([1, 2], [7, 7], 100, broken)


# Labels are found by name, whatever their order; names that do not tell are refused.
@pytest.mark.parametrize(
    ("names", "given", "order"),
    [
        (["contradiction", "neutral", "entailment"], "", [2, 1, 0]),
        (["ENTAILMENT", "NEUTRAL", "CONTRADICTION"], "", [0, 1, 2]),
        (["neutral", "contradiction", "entailed"], "", [2, 0, 1]),
        (["LABEL_0", "LABEL_1", "LABEL_2"], "contradiction/neutral/entailment", [2, 1, 0]),
        (
            ["entailment", "neutral", "contradiction"],
            "contradiction/neutral/entailment",
            [0, 1, 2],
        ),  # its own names win
    ],
)
def test_labels_by_name(names: list[str], given: str, order: list[int]) -> None:
    assert label_order(dict(enumerate(names)), given) == order


@pytest.mark.parametrize(
    "names",
    [["LABEL_0", "LABEL_1", "LABEL_2"], ["entailment", "not_entailment"], ["entailment", "entails", "contradiction"]],
)
def test_names_that_do_not_tell_are_refused(names: list[str]) -> None:
    with pytest.raises(InputError, match="cannot be told") as caught:
        label_order(dict(enumerate(names)))
    assert "labels=" in str(caught.value.mend)


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    pytest.importorskip("transformers", reason="transformers is not installed (extra: metrics)")
    make = helpers().trained_nli
    place = tmp_path_factory.mktemp("nli")
    state = make(place / "plain", {0: "entailment", 1: "neutral", 2: "contradiction"}, [0, 1, 2])
    make(place / "permuted", {0: "CONTRADICTION", 1: "ENTAILMENT", 2: "NEUTRAL"}, [2, 0, 1], state)
    make(place / "nameless", {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}, [2, 1, 0], state)
    return {name: str(place / name) for name in ("plain", "permuted", "nameless")}


@needs_models
def test_case_10_contradiction_is_found_by_name_under_any_order(checkpoints: dict[str, str]) -> None:
    pair = ("Take with food", "Do not take with food")
    plain = load_nli(checkpoints["plain"]).predict([pair, pair[::-1], ("rest", "aspirin daily")])
    assert plain[0].contradiction > 0.5
    permuted = load_nli(checkpoints["permuted"]).predict([pair])[0]
    assert permuted.contradiction == pytest.approx(plain[0].contradiction, abs=1e-5)
    with pytest.raises(InputError, match="cannot be told"):
        load_nli(checkpoints["nameless"])
    mapped = load_nli(checkpoints["nameless"], "contradiction/neutral/entailment").predict([pair])[0]
    assert mapped.contradiction == pytest.approx(plain[0].contradiction, abs=1e-5)


@needs_models
def test_labels_and_configuration_are_part_of_the_version(checkpoints: dict[str, str], tmp_path: Path) -> None:
    import json
    import shutil

    one, two = (
        load_nli(checkpoints["nameless"], order).version
        for order in ("contradiction/neutral/entailment", "entailment/neutral/contradiction")
    )
    assert one != two
    assert "contradiction/neutral/entailment" in one
    folder = tmp_path / "changed"
    shutil.copytree(checkpoints["plain"], folder)
    before = models._weights(folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "layer_norm_eps": 0.5}))
    assert models._weights(folder) != before


@needs_models
def test_batching_and_repeats_change_nothing(checkpoints: dict[str, str]) -> None:
    nli = load_nli(checkpoints["plain"])
    pairs = [("take with food", "take"), ("rest", "rest daily with water and food"), ("take with food", "take")]
    together = nli.predict(pairs)
    for pair, verdict in zip(pairs, together, strict=True):
        assert nli.predict([pair])[0].contradiction == pytest.approx(verdict.contradiction, abs=1e-5)
        assert verdict.entailment + verdict.neutral + verdict.contradiction == pytest.approx(1)


@needs_models
def test_weights_other_than_safetensors_are_not_opened(checkpoints: dict[str, str], tmp_path: Path) -> None:
    import shutil

    import torch

    folder = tmp_path / "pickled"
    shutil.copytree(checkpoints["plain"], folder)
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(InputError, match="no safetensors"):
        models.classifier(str(folder))


@needs_models
def test_a_model_that_is_not_there_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(MissingDependency, match="cannot be loaded"):
        models.classifier(str(tmp_path))


def test_devices_that_are_not_there() -> None:
    with pytest.raises(UsageError, match="no device"):
        models.use_device("tpu")
    pytest.importorskip("torch", reason="torch is not installed (extra: metrics)")
    before = models._wanted
    try:
        for name in ("cuda", "mps"):
            if name not in models._devices():
                with pytest.raises(MissingDependency, match=name):
                    models.use_device(name)
    finally:
        models._wanted = before


@pytest.mark.gpu
def test_half_precision_on_a_gpu_changes_little(checkpoints: dict[str, str]) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed (extra: metrics)")
    if not torch.cuda.is_available():
        pytest.skip("no GPU here")
    pair = ("Take with food", "Do not take with food")
    values = []
    for name in ("cpu", "cuda"):
        models.use_device(name)
        load_nli.cache_clear()
        values.append(load_nli(checkpoints["plain"]).predict([pair])[0].contradiction)
    models.use_device("auto")
    assert values[0] == pytest.approx(values[1], abs=0.01)
