"""Worked examples looked up per record: the nearest records of another set, never of the record's own cluster."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.errors import InputError, MissingDependency, RubricError
from judgekit.records import Record, content_hash

if TYPE_CHECKING:
    from judgekit.rubric import CompiledRubric

__all__ = ["Retriever", "Retrievers", "field_text"]

_KEPT = 256  # neighbours of the last records: each is wanted again by the next judge and sample


def field_text(record: Record, name: str) -> str:
    """The text of a record's field (``question`` flattened, else the field, else the input of that name); blank if absent."""
    if name == "question":
        return record.question_text or ""
    value = getattr(record, name, None) if name in ("response", "reference") else record.inputs.get(name)
    return "" if value is None else str(value)


class Retriever:
    """The retrieved examples of one rubric.

    Parameters
    ----------
    rubric : a compiled rubric whose `examples` say ``retrieve``.
    pool : the records to choose from; by default those that the rubric names.

    Raises
    ------
    RubricError when the set cannot be found, no record of it fits, or a verdict is not one that the rubric allows.
    MissingDependency for ``using: minilm`` where no embeddings are installed.
    """

    def __init__(self, rubric: CompiledRubric, pool: Sequence[Record] | None = None) -> None:
        from judgekit.rubric.conditions import matches

        spec: Any = rubric.spec.examples
        self.rubric, self.spec = rubric, spec
        everything = _load(rubric, spec.source) if pool is None else pool
        self.pool: list[Record] = []
        self.examples_of: list[Any] = []
        for record in everything:
            if matches(spec.where, _flat(record)) and field_text(record, spec.by).strip():
                example = self._example(record)
                if example is not None:
                    self.pool.append(record)
                    self.examples_of.append(example)
        if not self.pool:
            raise RubricError(
                f"no record of {spec.source} can serve as an example",
                file=None if rubric.path is None else str(rubric.path),
                field="examples",
                mend="loosen `where`, or check that `verdict` finds something in the records",
            )
        texts = [field_text(record, spec.by) for record in self.pool]
        self._index = _Embeddings(texts, rubric) if spec.using == "minilm" else _Tfidf(texts)
        self.data_hash = content_hash([[one.record.fingerprint(), one.verdict, one.text] for one in self.examples_of])
        self._recent: OrderedDict[tuple[str, str], list[Any]] = OrderedDict()

    def _example(self, record: Record) -> Any:
        from judgekit.data.expressions import find
        from judgekit.rubric.spec import Example

        if self.spec.verdict is None:
            return Example(record=record)
        value = find(self.spec.verdict, record.to_dict())
        if value is None:
            return None
        if self.rubric.output == "text":
            return Example(record=record, text=str(value))
        from pydantic import ValidationError

        model = None if self.rubric.spec.criteria is not None else self.rubric.response_model(record)
        if model is not None:
            try:
                model.model_validate(value)
            except ValidationError as error:
                raise RubricError(
                    f"record {record.id} gives an example's verdict that the rubric does not allow ({error.errors()[0]['msg']})",
                    file=None if self.rubric.path is None else str(self.rubric.path),
                    field="examples.verdict",
                    mend="let `verdict` build an object with the rubric's own verdict fields",
                ) from error
        return Example(record=record, verdict=value)

    def examples(self, record: Record) -> list[Any]:
        """The `count` nearest examples, nearest first; ties in the order of the set; fewer where the set has fewer."""
        text = field_text(record, self.spec.by)
        key = (record.cluster_id, text)
        if key not in self._recent:
            own, turns = record.cluster_id, record.question_text
            near = (
                self.examples_of[i]
                for i in self._index.nearest(text)
                if self.pool[i].cluster_id != own and (turns is None or self.pool[i].question_text != turns)
            )
            self._recent[key] = [example for example, _ in zip(near, range(self.spec.count), strict=False)]
            if len(self._recent) > _KEPT:
                self._recent.popitem(last=False)
        return self._recent[key]


class _Tfidf:
    def __init__(self, texts: list[str]) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        self._vectorizer = TfidfVectorizer(sublinear_tf=True, token_pattern=r"(?u)\b\w+\b")
        try:
            self._matrix = self._vectorizer.fit_transform(texts)
        except ValueError as error:
            raise InputError("the examples' texts hold no words to compare by", field="examples.by") from error

    def nearest(self, text: str) -> list[int]:
        """Positions by falling cosine; equal ones in their order."""
        import numpy as np

        likeness = (self._matrix @ self._vectorizer.transform([text]).T).toarray().ravel()
        order: list[int] = np.argsort(-likeness, kind="stable").tolist()
        return order


class _Embeddings:
    def __init__(self, texts: list[str], rubric: CompiledRubric) -> None:
        # Opened by name: where the metrics' models are not installed, only the rubrics that need them fail.
        try:
            self._encoder: Any = import_module("judgekit.metrics.models").encoder()
        except (ImportError, MissingDependency) as error:
            raise MissingDependency(
                f"{rubric.name} retrieves examples by embeddings (minilm), which cannot be computed here: {error}",
                file=None if rubric.path is None else str(rubric.path),
                field="examples.using",
                mend="pip install 'clinical-judgekit[metrics]', or write using: tfidf",
            ) from error
        self._matrix = self._encoder.encode(texts)

    def nearest(self, text: str) -> list[int]:
        """Positions by falling cosine of the texts' embeddings; equal ones in their order."""
        import numpy as np

        order: list[int] = np.argsort(-(self._matrix @ self._encoder.encode([text])[0]), kind="stable").tolist()
        return order


class Retrievers:
    """The retrievers of a command's rubrics; a rubric with given examples, or none, has none."""

    def __init__(self) -> None:
        self._by_ask: dict[str, Retriever] = {}

    def bind(self, rubrics: Iterable[CompiledRubric]) -> list[CompiledRubric]:
        """The rubrics, those that retrieve under an `ask` fingerprint that holds the hash of what they retrieve from."""
        from judgekit.rubric.spec import RetrieveSpec

        bound = []
        for rubric in rubrics:
            if isinstance(rubric.spec.examples, RetrieveSpec):
                retriever = Retriever(rubric)
                rubric = copy.copy(rubric)
                rubric.ask_fingerprint = rubric.ask_with(retriever.data_hash)
                self._by_ask[rubric.ask_fingerprint] = retriever
            bound.append(rubric)
        return bound

    def examples(self, rubric: CompiledRubric, record: Record) -> list[Any] | None:
        """Retrieved examples for a record, or None where the rubric's own are to be used."""
        retriever = self._by_ask.get(rubric.ask_fingerprint)
        return None if retriever is None else retriever.examples(record)


def _flat(record: Record) -> dict[str, Any]:
    meta = {**record.meta, **{f"meta.{name}": value for name, value in record.meta.items()}}
    return {**meta, **record.inputs, "id": record.id, "cluster": record.cluster_id, "answer": record.answer}


def _load(rubric: CompiledRubric, source: str) -> Sequence[Record]:
    from judgekit.data import load_records
    from judgekit.data.cards import card_names
    from judgekit.registry import library_files

    folder = None if rubric.path is None else Path(rubric.path).parent
    for path in [*([folder / source] if folder else []), Path(source)]:
        if path.is_file():
            return load_records(path)
    found = library_files("datasets/examples", ".jsonl").get(source)
    if found is not None:
        return load_records(found)
    if source.partition("/")[0] in card_names():
        return load_records(source)
    raise RubricError(
        f"there is no data set {source!r} to retrieve examples from",
        file=None if rubric.path is None else str(rubric.path),
        field="examples.from",
        mend="name a file beside the rubric, or a data set of `judgekit data list`",
    )
