"""A scripted provider for stability studies: it rewords, judges rewordings and answers, over real HTTP.

Every stem is a case with five findings. A rewording lists them in another order, which keeps the meaning; some kinds misbehave on
purpose, so that each stage of the funnel has something to drop.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from judgekit.data import RecordSet
from judgekit.judging.provider.types import JudgeSpec
from judgekit.records import Record
from tests.judging.provider import Provider, Say

FINDINGS = ["chest pain", "fever", "cough", "night sweats", "weight loss"]
# Orders whose trigram similarity to the stem and to each other is under .92.
ORDERS = {
    "abbreviation-expansion": (0, 1, 3, 4, 2),
    "syntactic-reordering": (0, 1, 4, 2, 3),
    "active-to-passive": (0, 2, 3, 4, 1),
    "question-reframing": (1, 0, 2, 4, 3),
    "documentation-style": (1, 2, 3, 0, 4),
    "format-shift": (1, 2, 3, 4, 0),
}


def stem(item: int, order: tuple[int, ...] = (0, 1, 2, 3, 4)) -> str:
    listed = [FINDINGS[i] for i in order]
    return f"A 45-year-old man has {', '.join(listed[:4])} and {listed[4]}. What is the first step for item{item}?"


def questions(n: int) -> RecordSet:
    options = {"A": "a scan", "B": "a swab", "C": "rest"}
    return RecordSet(
        [Record(id=f"q{i}", question=stem(i), options=options, answer="A") for i in range(n)], name="cases"
    )


def writer(provider: Provider, model: str = "writer") -> JudgeSpec:
    return JudgeSpec(f"openai/{model}", {}, provider.base)


def fenced(body: dict[str, Any], name: str) -> str:
    found = re.search(rf"<{name}-\w+>\n(.*?)\n</{name}-\w+>", body["messages"][-1]["content"], re.DOTALL)
    return found.group(1) if found else ""


KIND_WORDS = {
    "write out every abbreviation": "abbreviation-expansion",
    "replace terms by the abbreviations": "abbreviation-compression",
    "replace clinical terms": "clinical-to-lay",
    "replace everyday words": "lay-to-clinical",
    "change the order of clauses": "syntactic-reordering",
    "turn active sentences": "active-to-passive",
    "put the question itself": "question-reframing",
    "in the style of clinical notes": "documentation-style",
    "change the layout": "format-shift",
    "drop words that carry no meaning": "redundancy-trimming",
}


class Script:
    """`asked` counts requests by (model, kind, item); `answers` maps (model, kind or None) to an option."""

    def __init__(self) -> None:
        self.asked: Counter[tuple[str, str, str]] = Counter()
        self.flips: set[str] = {"question-reframing"}  # kinds whose rewording the model "fickle" answers otherwise
        self.logprobs = False

    def __call__(self, body: dict[str, Any], n: int) -> str | Say:
        text = body["messages"][-1]["content"]
        item = (re.findall(r"item(\d+)", text) or ["?"])[0]
        model = body["model"]
        if "How to reword:" in text:
            kind = next(kind for words, kind in KIND_WORDS.items() if words in text)
            self.asked[model, kind, item] += 1
            return self._reword(kind, int(item), self.asked[model, kind, item], text)
        if "The reworded text:" in text:
            self.asked[model, "judge", item] += 1
            return self._judge(model, fenced(body, "variant"), item)
        self.asked[model, "answer", item] += 1
        return self._answer(body, model, fenced(body, "question"), int(item))

    def _reword(self, kind: str, item: int, times: int, text: str) -> str | Say:
        if kind == "abbreviation-expansion" and times == 1:
            return stem(item)  # unchanged at first, so it is asked again
        if kind == "abbreviation-compression":
            return stem(item)  # never safe to reword
        if kind == "clinical-to-lay":
            return stem(item, (1, 0, 3, 2, 4)).replace("45", "54")  # a changed age
        if kind == "lay-to-clinical":
            return f"An entirely different vignette about a broken ankle, 45 of them, for item{item}?"
        if kind == "redundancy-trimming":
            return Say(None, refusal="I cannot help with that.")
        return stem(item, ORDERS[kind])

    def _judge(self, model: str, variant: str, item: str) -> str:
        # judge-a doubts one kind
        doubted = model == "judge-a" and variant == stem(int(item), ORDERS["documentation-style"])
        return json.dumps({"explanation": "", "preserved": not doubted})

    def _answer(self, body: dict[str, Any], model: str, question: str, item: int) -> str | Say:
        flipped = model == "fickle" and any(question == stem(item, ORDERS[kind]) for kind in self.flips)
        answer = "B" if flipped else "A"
        text = json.dumps({"answer": answer})
        if not body.get("logprobs") or not self.logprobs:
            return text
        # exp(-.2) = .819 against exp(-1.8) = .165: normalised .832
        top = [{"token": one, "logprob": -0.2 if one == answer else -1.8, "bytes": None} for one in ("A", "B")]
        tokens = [
            {
                "token": piece,
                "logprob": -0.2 if piece == answer else 0.0,
                "bytes": None,
                "top_logprobs": top if piece == answer else [],
            }
            for piece in ('{"answer": "', answer, '"}')
        ]
        return Say(
            body={
                "id": "x", "object": "chat.completion", "created": 1, "model": model,
                "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}, "logprobs": {"content": tokens}}],
                "usage": {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10},
            }
        )  # fmt: skip
