"""Recognisers of medical terms: the gazetteer, spaCy and scispaCy pipelines, GLiNER. Each gives spans with a kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Protocol

from judgekit.errors import MissingDependency, UsageError

__all__ = ["Recogniser", "recogniser"]

Span = tuple[int, int, str, tuple[str, ...]]

PIECE: Final = 50_000  # characters that a neural pipeline gets at a time, so that memory stays flat
SCISPACY_ADDRESS: Final = "https://s3-us-west-2.amazonaws.com/ai2-s2-scispacy/releases/v0.5.4/{model}-0.5.4.tar.gz"
SCISPACY_MODELS: Final = ("en_core_sci_sm", "en_core_sci_md", "en_core_sci_lg", "en_core_sci_scibert")


class Recogniser(Protocol):
    """Finds terms. `version` names everything that decides what is found."""

    version: str

    def find(self, texts: Sequence[str]) -> Iterator[list[Span]]: ...


class _Gazetteer:
    def __init__(self) -> None:
        from judgekit.metrics.gazetteer import load_gazetteer

        self._gazetteer = load_gazetteer()
        self.version = f"gazetteer-{self._gazetteer.version}"

    def find(self, texts: Sequence[str]) -> Iterator[list[Span]]:
        for text in texts:
            yield list(self._gazetteer.scan(text))


class _Spacy:
    """A spaCy pipeline. Long texts go through in pieces that end at white space."""

    def __init__(self, nlp: Any, version: str) -> None:
        self._nlp = nlp
        self._unused = [
            name for name in ("parser", "lemmatizer", "tagger") if name in nlp.pipe_names and name not in _needed(nlp)
        ]
        self.version = version

    def find(self, texts: Sequence[str]) -> Iterator[list[Span]]:
        pieces = ((piece, (number, offset)) for number, text in enumerate(texts) for offset, piece in _pieces(text))
        found: list[list[Span]] = [[] for _ in texts]
        with self._nlp.select_pipes(disable=self._unused):
            for doc, (number, offset) in self._nlp.pipe(pieces, as_tuples=True, batch_size=32):
                for entity in doc.ents:
                    ids = tuple(f"kb:{ident}" for ident in (entity.kb_id_, entity.ent_id_) if ident)
                    found[number].append(
                        (
                            entity.start_char + offset,
                            entity.end_char + offset,
                            entity.label_.casefold() or "entity",
                            ids,
                        )
                    )
        yield from found


def _needed(nlp: Any) -> set[str]:
    """Components that the entity recogniser may listen to: a shared tok2vec or transformer is never switched off."""
    return {"tok2vec", "transformer", "ner", "entity_ruler", "sentencizer"}


def _pieces(text: str, size: int = PIECE) -> Iterator[tuple[int, str]]:
    start = 0
    while start < len(text):
        end = min(len(text), start + size)
        if end < len(text):
            space = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
            end = space + 1 if space > start else end
        yield start, text[start:end].encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        start = end


def _load_spacy(name: str, scispacy: bool) -> _Spacy:
    if find_spec("spacy") is None:
        raise MissingDependency(
            f"ner={'scispacy' if scispacy else 'spacy'}:{name} needs spaCy",
            mend="pip install 'clinical-judgekit[scispacy]' (its own environment: scispaCy holds numpy under 2), or ner=gazetteer",
        )
    if scispacy and not Path(name).exists():
        _check_scispacy(name)
    import spacy

    try:
        nlp = spacy.load(name)
    except OSError as error:
        mend = (
            f"pip install {SCISPACY_ADDRESS.format(model=name)}"
            if scispacy
            else "give the folder of a spaCy pipeline, or the name of an installed one"
        )
        raise MissingDependency(f"there is no spaCy pipeline {name}: {error}", mend=mend) from None
    meta = nlp.meta
    return _Spacy(
        nlp, f"{meta.get('lang', '')}_{meta.get('name', name)}-{meta.get('version', '?')}+spacy-{version('spacy')}"
    )


def _check_scispacy(name: str) -> None:
    if name not in SCISPACY_MODELS:
        raise UsageError(
            f"{name} is no scispaCy model that judgekit knows",
            field="ner",
            mend=f"one of {', '.join(SCISPACY_MODELS)}, or spacy:PATH",
        )
    try:
        number = version(name)
    except PackageNotFoundError:
        raise MissingDependency(
            f"the scispaCy model {name} is not installed",
            mend=f"pip install {SCISPACY_ADDRESS.format(model=name)} (the project's own release; the package of that name on PyPI is not the model)",
        ) from None
    if number.startswith("999"):
        raise MissingDependency(
            f"the installed {name} {number} is not scispaCy's model but a squat of its name",
            mend=f"pip uninstall {name}; pip install {SCISPACY_ADDRESS.format(model=name)}",
        )


class _Gliner:
    LABELS: Final = ("drug", "disease", "symptom", "medical procedure", "laboratory test", "anatomy", "dosage")

    def __init__(self, name: str) -> None:
        if find_spec("gliner") is None:
            raise MissingDependency(
                f"ner=gliner:{name} needs the package gliner", mend="pip install gliner, or ner=gazetteer"
            )
        from gliner import GLiNER

        self._model = GLiNER.from_pretrained(name, local_files_only=Path(name).exists())
        self.version = f"gliner-{version('gliner')}-{name}"

    def find(self, texts: Sequence[str]) -> Iterator[list[Span]]:
        for text in texts:
            spans: list[Span] = []
            for at, piece in _pieces(text, 1200):
                for item in (
                    self._model.predict_entities(piece, list(self.LABELS), threshold=0.5) if piece.strip() else ()
                ):
                    spans.append((item["start"] + at, item["end"] + at, item["label"], ()))
            yield spans


@lru_cache(maxsize=4)
def recogniser(ner: str) -> Recogniser:
    """The recogniser that `ner` names, loaded once per process.

    Raises UsageError for an unknown kind, MissingDependency where something must be installed first.
    """
    kind, _, name = ner.partition(":")
    if kind == "gazetteer" and not name:
        return _Gazetteer()
    if kind in {"spacy", "scispacy"} and name:
        return _load_spacy(name, scispacy=kind == "scispacy")
    if kind == "gliner" and name:
        return _Gliner(name)
    raise UsageError(
        f"ner={ner} names no recogniser", field="ner", mend="gazetteer, scispacy:MODEL, spacy:PATH or gliner:MODEL"
    )
