"""A small verdict for the tests of calls: what a rubric with one text and one scale 1 to 5 compiles to."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictStr

from judgekit.judging.provider.client import open_client
from judgekit.judging.provider.types import JudgeSpec, Reply
from tests.judging.provider import Provider


def whole(value: Any) -> int:
    """ "4" and 4.0 are 4; true, 4.5, "4/5" and NaN are not whole numbers."""
    if isinstance(value, str) and value.strip().lstrip("-").isdigit():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise ValueError("write one of the whole numbers 1 to 5")
    return int(value)


class Verdict(BaseModel):
    model_config = ConfigDict(extra="forbid")
    explanation: StrictStr
    score: Annotated[int, BeforeValidator(whole), Field(ge=1, le=5)]


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "explanation": {"type": "string", "description": "Name each omission.", "maxLength": 300},
        "score": {"type": "string", "enum": ["1", "2", "3", "4", "5"]},
    },
    "required": ["explanation", "score"],
    "additionalProperties": False,
}
MESSAGES = [{"role": "system", "content": "Judge the answer."}, {"role": "user", "content": "May I? -- Yes."}]
SAMPLING = {"temperature": 0, "max_tokens": 200}


def good(score: Any = "4", explanation: str = "fine") -> str:
    import json

    return json.dumps({"explanation": explanation, "score": score}, ensure_ascii=False)


def judge_once(
    provider: Provider,
    *,
    model: str = "openai/fake",
    judge_sampling: dict[str, Any] | None = None,
    writer: bool = False,
    times: int = 1,
    base: str | None = None,
    notes: list[str] | None = None,
    **options: Any,
) -> Reply:
    """Open a client to the fake provider, send the same request `times` times, and give the last reply."""

    async def go() -> Reply:
        spec = JudgeSpec(model, sampling=judge_sampling or {}, api_base=base or provider.base)
        async with open_client(spec, **options) as client:
            request = client.request(MESSAGES, None if writer else SCHEMA, SAMPLING)
            for _ in range(times):
                reply = await client.send(request, None if writer else Verdict)
            if notes is not None:
                notes.extend(client.notes)
            return reply

    return asyncio.run(go())
