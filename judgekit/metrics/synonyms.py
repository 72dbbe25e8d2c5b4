"""Synonym sources for MedSynF1: concept ids, a dictionary file, WordNet, UMLS's MRCONSO; they can be combined with "+"."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable
from functools import lru_cache
from importlib.util import find_spec
from typing import Final, Protocol

from judgekit.errors import DataError, MissingDependency, UsageError
from judgekit.limits import json_value, open_text, read_file
from judgekit.metrics.entities import Entity
from judgekit.metrics.text import normalise

__all__ = ["lemmatised", "lemmatiser_version", "synonym_sources"]

WORDNET_KINDS: Final = "concepts, dict:FILE, wordnet, umls:MRCONSO.RRF; combined as concepts+dict:FILE; or none"


class Source(Protocol):
    """Gives what else an entity may be called; every string is compared with those of the other side."""

    version: str

    def of(self, entity: Entity) -> Iterable[str]: ...


class _Concepts:
    """Concept ids of the recogniser: two spellings of one concept share an id."""

    version = "concepts"

    def of(self, entity: Entity) -> Iterable[str]:
        return (f"\x00{concept}" for concept in entity.concepts)  # no text can equal an id


class _File:
    """A JSON object ``{"term": ["synonym", ...]}``, as models write it for a set of gold answers."""

    def __init__(self, path: str) -> None:
        try:
            content = read_file(path, error=DataError)
            table = json_value(content)
        except OSError as error:
            raise DataError(f"the synonym dictionary cannot be read: {error.strerror}", file=path) from None
        except ValueError as error:
            raise DataError(
                f"the synonym dictionary is no JSON: {error}", file=path, line=getattr(error, "lineno", None)
            ) from None
        if not isinstance(table, dict) or not all(
            isinstance(names, list) and all(isinstance(name, str) for name in names) for names in table.values()
        ):
            raise DataError(
                "a synonym dictionary maps terms to lists of terms", file=path, mend='{"tb": ["tuberculosis"]}'
            )
        self.version = f"dict-{hashlib.sha256(content).hexdigest()[:8]}"
        self._table: dict[str, set[str]] = {}
        for term, names in table.items():
            self._table.setdefault(normalise(term), set()).update(normalise(name) for name in names)

    def of(self, entity: Entity) -> Iterable[str]:
        return self._table.get(entity.norm, ())


class _WordNet:
    def __init__(self) -> None:
        if find_spec("nltk") is None:
            raise MissingDependency(
                "synonyms=wordnet needs the package nltk", mend="pip install nltk; python -m nltk.downloader wordnet"
            )
        from nltk.corpus import wordnet

        try:
            wordnet.ensure_loaded()
        except LookupError:
            raise MissingDependency(
                "WordNet's data is not installed", mend="python -m nltk.downloader wordnet"
            ) from None
        self._wordnet = wordnet
        self.version = f"wordnet-{wordnet.get_version()}"

    def of(self, entity: Entity) -> Iterable[str]:
        for synset in self._wordnet.synsets(entity.norm.replace(" ", "_")):
            for name in synset.lemma_names():
                yield normalise(name.replace("_", " "))


class _Umls:
    """MRCONSO.RRF of a licensed UMLS release: English names of one concept (CUI) are synonyms."""

    def __init__(self, path: str) -> None:
        self._names: dict[str, set[str]] = {}
        try:
            with open_text(path, DataError) as file:
                for row in csv.reader(file, delimiter="|", quoting=csv.QUOTE_NONE):
                    if len(row) < 15:
                        raise DataError("a row of MRCONSO.RRF has at least 15 fields", file=path)
                    if row[1] == "ENG":
                        self._names.setdefault(normalise(row[14]), set()).add(row[0])
        except OSError as error:
            raise DataError(
                f"MRCONSO.RRF cannot be read: {error.strerror}",
                file=path,
                mend="point umls: to the file of your licensed release",
            ) from None
        self.version = f"umls-{len(self._names)}names"

    def of(self, entity: Entity) -> Iterable[str]:
        return (f"\x00umls:{cui}" for cui in self._names.get(entity.norm, ()))


@lru_cache(maxsize=8)
def synonym_sources(text: str) -> tuple[Source, ...]:
    """The sources that a notation names, in order: ``concepts+dict:my.json``. ``none`` is empty."""
    sources: list[Source] = []
    for part in filter(None, text.split("+")) if text != "none" else ():
        kind, _, place = part.partition(":")
        if kind == "concepts" and not place:
            sources.append(_Concepts())
        elif kind == "dict" and place:
            sources.append(_File(place))
        elif kind == "wordnet" and not place:
            sources.append(_WordNet())
        elif kind == "umls" and place:
            sources.append(_Umls(place))
        else:
            raise UsageError(f"synonyms={text}: {part!r} is no source", field="synonyms", mend=WORDNET_KINDS)
    return tuple(sources)


def lemmatiser_version(lemmas: str) -> str:
    """Package and version behind ``lemmas=simplemma`` or ``lemmas=stanza``. Raises MissingDependency."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"{lemmas}-{version(lemmas)}"
    except PackageNotFoundError:
        raise MissingDependency(
            f"lemmas={lemmas} needs the package {lemmas}", mend=f"pip install {lemmas}, or lemmas=none"
        ) from None


@lru_cache(maxsize=65536)
def lemmatised(text: str, lemmas: str) -> str:
    """Each word of a normal form in its dictionary form; ``lemmas=none`` changes nothing."""
    if lemmas == "none" or not text:
        return text
    lemmatiser_version(lemmas)
    if lemmas == "stanza":
        return " ".join(
            str(word.lemma or word.text).casefold() for sentence in _stanza()(text).sentences for word in sentence.words
        )
    import simplemma

    return " ".join(str(simplemma.lemmatize(word, lang="en")).casefold() for word in text.split())


@lru_cache(maxsize=1)
def _stanza():  # type: ignore[no-untyped-def]
    import stanza

    return stanza.Pipeline("en", processors="tokenize,pos,lemma", download_method=None, verbose=False)
