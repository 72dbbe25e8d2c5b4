"""Next-token probabilities of answer options under a local causal language model (001, 4.3).

With `models`, the door to torch and transformers: weights come as safetensors only, no checkpoint's own code is run, and a prompt that
does not fit the model is an error of that prompt, never cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from judgekit.errors import InputError, MissingDependency, UsageError
from judgekit.metrics.batching import in_batches
from judgekit.metrics.models import TOKENS_A_BATCH, _first_line, _free, _need, _torch, _weights, device, quiet
from judgekit.metrics.text import encodable

__all__ = ["DTYPES", "Causal", "OptionTokens", "causal_model"]

DTYPES: Final = ("auto", "float32", "bfloat16", "float16", "nf4")


@dataclass(frozen=True, slots=True)
class OptionTokens:
    """For each option the vocabulary ids that stand for it as the next token; `forms` says how they were written."""

    ids: dict[str, tuple[int, ...]]
    forms: tuple[str, ...]


class Causal:
    """A causal language model. `limit` counts tokens of a prompt, special ones included; `version` names weights, library, precision."""

    def __init__(self, model: Any, tokenizer: Any, version: str, dtype: str) -> None:
        self._model, self._tokenizer = model, tokenizer
        known = getattr(model.config, "max_position_embeddings", None) or getattr(model.config, "n_positions", None)
        self.limit: int | None = None if known is None else int(known)
        self.version = version
        self.dtype = dtype

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer(encodable(text), truncation=False, verbose=False)["input_ids"]
        return ids

    def lengths(self, prompts: Sequence[str]) -> list[int]:
        """Tokens of each prompt, special ones included, nothing cut."""
        return [len(self._ids(prompt)) for prompt in prompts]

    def option_tokens(self, cue: str, options: Sequence[str]) -> OptionTokens:
        """The tokens that write an option after `cue`, with a space before it and without, as this tokenizer does.

        A form counts when, for every option, cue and option together are the cue's own tokens and exactly one more, no two options share
        it, and it is not the unknown token. With both forms an option's probability is the sum of the two. Raises InputError where neither
        form works, as for options of several tokens.
        """
        start = self._ids(cue)
        # A tokenizer that ends texts with a special token (as a few do) would hide the next token behind it.
        tail = self._ids("")
        if (
            tail
            and start
            and start[-1] == tail[-1]
            and len(start) > 1
            and start[-1] in (self._tokenizer.eos_token_id, self._tokenizer.sep_token_id)
        ):
            raise InputError(
                "the tokenizer ends every text with a special token", mend="set add_eos_token to false in its files"
            )
        found: dict[str, list[int]] = {option: [] for option in options}
        forms: list[str] = []
        for name, lead in (("with a space", " "), ("without a space", "")):
            ids = {}
            for option in options:
                whole = self._ids(cue + lead + option)
                if (
                    whole[: len(start)] == start
                    and len(whole) == len(start) + 1
                    and whole[-1] != self._tokenizer.unk_token_id
                ):
                    ids[option] = whole[-1]
            if len(ids) == len(found) and len(set(ids.values())) == len(ids):
                if any(ids[option] in found[other] for option in options for other in options if other != option):
                    continue
                forms.append(name)
                for option, token in ids.items():
                    if token not in found[option]:
                        found[option].append(token)
        if not forms:
            raise InputError(
                f"this tokenizer writes no single token for each of {', '.join(options)} after {cue[-20:]!r}",
                field="options",
                mend="call the options by single letters",
            )
        return OptionTokens({option: tuple(ids) for option, ids in found.items()}, tuple(forms))

    def probabilities(
        self, prompts: Sequence[str], options: Sequence[Sequence[str]], cue: str, *, tokens_a_batch: int | None = None
    ) -> list[dict[str, float] | str]:
        """For each prompt its options' next-token probabilities, normalised over the options (they sum to 1), or why there are none.

        Parameters
        ----------
        prompts : each ends in `cue`.
        options : for each prompt its options, in their own order; a prompt's options do not depend on the batch.
        tokens_a_batch : padded tokens that go through at once; by default by device. 1: every prompt by itself.

        Deterministic: no sampling. Padding is on the left and masked, with positions counted from each prompt's own beginning, so that a
        batch changes nothing but the last digits (1e-5 in float32).
        """
        torch = _torch()
        found: dict[tuple[str, ...], OptionTokens] = {}
        for letters in dict.fromkeys(tuple(each) for each in options):
            found[letters] = self.option_tokens(cue, letters)
        ids = [self._ids(prompt) for prompt in prompts]
        fits = [i for i, row in enumerate(ids) if row and (self.limit is None or len(row) <= self.limit)]
        pad = self._tokenizer.pad_token_id if self._tokenizer.pad_token_id is not None else 0

        def run(batch: list[int]) -> list[dict[str, float] | str]:
            size = max(len(ids[i]) for i in batch)
            rows = torch.tensor([[pad] * (size - len(ids[i])) + ids[i] for i in batch])
            mask = torch.tensor([[0] * (size - len(ids[i])) + [1] * len(ids[i]) for i in batch])
            places = (mask.cumsum(-1) - 1).clamp(min=0)
            where = self._model.device
            with torch.inference_mode():
                logits = self._model(
                    input_ids=rows.to(where), attention_mask=mask.to(where), position_ids=places.to(where), use_cache=False,
                    logits_to_keep=1,
                ).logits[:, -1].float().cpu()  # fmt: skip
            # in double precision, so that the options' own shares lose nothing to the rest of the vocabulary
            log = torch.log_softmax(logits.double(), dim=-1)
            out: list[dict[str, float] | str] = []
            for row, i in zip(log, batch, strict=True):
                tokens = found[tuple(options[i])].ids
                mass = torch.stack([torch.logsumexp(row[list(known)], dim=0) for known in tokens.values()])
                shares = torch.softmax(mass, dim=0).tolist()
                if not all(share == share for share in shares):
                    out.append("the model gives no finite probability")
                else:
                    out.append(dict(zip(tokens, shares, strict=True)))
            return out

        limit = TOKENS_A_BATCH[device()] if tokens_a_batch is None else tokens_a_batch
        done = iter(in_batches(fits, [len(ids[i]) for i in fits], limit, run, _free))
        results: list[dict[str, float] | str] = []
        kept = set(fits)
        for i, row in enumerate(ids):
            results.append(
                next(done) if i in kept else f"the prompt has {len(row)} tokens, the model reads {self.limit}"
            )
        return results


@lru_cache(maxsize=1)
def causal_model(name: str, dtype: str = "auto") -> Causal:
    """The causal checkpoint of that name, or in that folder.

    Parameters
    ----------
    dtype : ``float32``, ``bfloat16`` or ``float16``; ``auto``: float32 on a CPU, bfloat16 on a GPU; ``nf4``: 4-bit NF4 with
        half-precision arithmetic (001, 4.3), which needs a CUDA GPU and bitsandbytes.

    Raises UsageError for another dtype, MissingDependency where a package, a GPU or the checkpoint is absent, InputError where weights are
    no safetensors.
    """
    if dtype not in DTYPES:
        raise UsageError(f"there is no precision {dtype!r}", field="dtype", mend=f"one of {', '.join(DTYPES)}")
    _need("transformers")
    torch = _torch()
    where = device()
    if dtype == "auto":
        dtype = "float32" if where == "cpu" else "bfloat16"
    more: dict[str, Any] = {}
    import transformers
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    if dtype == "nf4":
        if where != "cuda" or find_spec("bitsandbytes") is None:
            lacking = "a CUDA GPU" if where != "cuda" else "the package bitsandbytes"
            raise MissingDependency(
                f"4-bit NF4 needs {lacking}",
                mend="pip install bitsandbytes on a machine with a CUDA GPU, or dtype=bfloat16",
            )
        config: Any = transformers.BitsAndBytesConfig
        more["quantization_config"] = config(
            load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.float16
        )
        more["device_map"] = {"": 0}
    else:
        more["dtype"] = getattr(torch, dtype)
    quiet()
    local = Path(name).is_dir()
    sha = _weights(Path(name)) if local else ""
    safe = {"trust_remote_code": False, "local_files_only": local}
    try:
        settings = AutoConfig.from_pretrained(name, **safe)
        tokenizer = AutoTokenizer.from_pretrained(name, **safe)
        model = AutoModelForCausalLM.from_pretrained(name, use_safetensors=True, **safe, **more)
    except (OSError, ValueError) as error:
        raise MissingDependency(
            f"the checkpoint {name} cannot be loaded: {_first_line(error)}",
            mend="give the folder of a downloaded model, or a name that can be downloaded here; weights must be safetensors",
        ) from None
    model.eval()
    if dtype != "nf4":
        model.to(where)
    commit = getattr(settings, "_commit_hash", None)
    return Causal(
        model,
        tokenizer,
        f"{name}@{(sha or commit or 'hub')[:8]}+transformers-{transformers.__version__}+{where}-{dtype}",
        dtype,
    )
