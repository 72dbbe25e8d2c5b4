"""The JSON Schema of card files, for editors: completion and checks while writing (``judgekit data schema``)."""

from __future__ import annotations

from typing import Any

from judgekit.data.cards import CardSpec, Shape

__all__ = ["card_schema"]


def card_schema() -> dict[str, Any]:
    """The schema of a card. A card of one shape may write the shape's keys at the top."""
    schema = CardSpec.model_json_schema(by_alias=True)
    definitions = schema["$defs"]
    text = {"type": "string"}
    label = definitions["LabelSpec"]["properties"]
    # A path alone stands for {path: ...}, one score for a list of one.
    label["complete"] = {"anyOf": [text, *label["complete"]["anyOf"]]}
    one_score = [text, {"$ref": "#/$defs/ScoreSpec"}]
    label["score"] = {"anyOf": [*one_score, {**label["score"], "items": {"anyOf": one_score}}]}
    one_or_more = {"anyOf": [{"$ref": "#/$defs/LabelSpec"}, definitions["Shape"]["properties"]["labels"]]}
    definitions["Shape"]["properties"]["labels"] = one_or_more
    shape = definitions["Shape"]["properties"]
    flat = {name: shape[name] for name in Shape.model_fields if name not in schema["properties"]}
    schema["properties"] = {**schema["properties"], **flat}
    schema["required"] = [name for name in schema["required"] if name != "shapes"]
    schema["anyOf"] = [{"required": ["shapes"]}, {"required": ["fields"]}, {"required": ["native"]}]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "judgekit data set card", **schema}
