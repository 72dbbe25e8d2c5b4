"""Words, sentences and normal forms: what every local metric agrees on about text."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

__all__ = ["UNITS", "Token", "encodable", "is_blank", "normalise", "sentences", "tokens", "words"]


@dataclass(frozen=True, slots=True)
class Token:
    """One word: its normal form (NFKC, case folded, without a possessive ending) and where it stands in the text."""

    form: str
    start: int
    end: int


# A number keeps its decimal or thousands part; an apostrophe stays inside a word; everything else parts words.
# A mark (category M) belongs to the letter before it, so that Hindi, Arabic or Hebrew words stay whole.
_WORD: Final = re.compile(
    r"\d+(?:[.,]\d+)+|[^\W_](?:[^\W_]|[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff])*(?:['’][^\W_]+)*%?"
)
_POSSESSIVE: Final = re.compile(r"['’]s?$")

# Both ways: every spelling goes to one short form.
UNITS: Final[dict[str, str]] = {
    **dict.fromkeys(("mg", "mgs", "milligram", "milligrams", "milligramme", "milligrammes"), "mg"),
    **dict.fromkeys(("mcg", "mcgs", "ug", "μg", "microgram", "micrograms"), "mcg"),
    **dict.fromkeys(("gram", "grams", "gm", "gms"), "g"),
    **dict.fromkeys(("kg", "kgs", "kilogram", "kilograms", "kilo", "kilos"), "kg"),
    **dict.fromkeys(("ml", "mls", "milliliter", "milliliters", "millilitre", "millilitres", "cc"), "ml"),
    **dict.fromkeys(("liter", "liters", "litre", "litres"), "l"),
    **dict.fromkeys(("tab", "tabs", "tablet", "tablets"), "tablet"),
    **dict.fromkeys(("caps", "capsule", "capsules"), "capsule"),
    **dict.fromkeys(("hr", "hrs", "hour", "hours"), "hour"),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), "minute"),
    **dict.fromkeys(("day", "days"), "day"),
    **dict.fromkeys(("wk", "wks", "week", "weeks"), "week"),
    **dict.fromkeys(("month", "months"), "month"),
    **dict.fromkeys(("yr", "yrs", "year", "years"), "year"),
    **dict.fromkeys(("iu", "ius"), "iu"),
    **dict.fromkeys(("meq", "milliequivalent", "milliequivalents"), "meq"),
    **dict.fromkeys(("mmol", "millimole", "millimoles"), "mmol"),
    **dict.fromkeys(("percent", "pct"), "%"),
}

# Only abbreviations with one usual reading in medicine: "MS", "PE", "RA" or "PT" have several and stay as they are.
ABBREVIATIONS: Final[dict[str, str]] = {
    "tb": "tuberculosis",
    "htn": "hypertension",
    "copd": "chronic obstructive pulmonary disease",
    "uti": "urinary tract infection",
    "utis": "urinary tract infections",
    "gerd": "gastroesophageal reflux disease",
    "dvt": "deep vein thrombosis",
    "t2dm": "type 2 diabetes mellitus",
    "t1dm": "type 1 diabetes mellitus",
    "ckd": "chronic kidney disease",
    "cad": "coronary artery disease",
    "chf": "congestive heart failure",
    "ibs": "irritable bowel syndrome",
    "ibd": "inflammatory bowel disease",
    "adhd": "attention deficit hyperactivity disorder",
    "ocd": "obsessive compulsive disorder",
    "ptsd": "post traumatic stress disorder",
    "pcos": "polycystic ovary syndrome",
    "nsaid": "nonsteroidal anti inflammatory drug",
    "nsaids": "nonsteroidal anti inflammatory drugs",
    "ssri": "selective serotonin reuptake inhibitor",
    "ssris": "selective serotonin reuptake inhibitors",
    "sti": "sexually transmitted infection",
    "stis": "sexually transmitted infections",
    "std": "sexually transmitted disease",
    "stds": "sexually transmitted diseases",
    "pml": "progressive multifocal leukoencephalopathy",
    "cmv": "cytomegalovirus",
    "hbv": "hepatitis b virus",
    "hcv": "hepatitis c virus",
    "hpv": "human papillomavirus",
    "hsv": "herpes simplex virus",
    "vzv": "varicella zoster virus",
    "hiv": "human immunodeficiency virus",
    "aids": "acquired immunodeficiency syndrome",
    "ecg": "electrocardiogram",
    "ekg": "electrocardiogram",
    "mri": "magnetic resonance imaging",
    "bmi": "body mass index",
    "bp": "blood pressure",
    "sob": "shortness of breath",
}

_ARTICLES: Final = {"the", "a", "an"}


def is_blank(text: str | None) -> bool:
    """True where there is nothing to read: None, empty, or only white space and control or format characters."""
    return text is None or not any(
        not char.isspace() and unicodedata.category(char) not in {"Cc", "Cf", "Cs"} for char in text
    )


def encodable(text: str) -> str:
    """The text as a model can take it: control characters become spaces, lone surrogates the replacement character."""
    safe = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return "".join(" " if unicodedata.category(char) == "Cc" and char not in "\n\t" else char for char in safe)


def tokens(text: str) -> list[Token]:
    """Words with their places; character offsets are into `text` as given."""
    found = []
    for match in _WORD.finditer(text):
        form = unicodedata.normalize("NFKC", match.group()).casefold()
        found.append(Token(_POSSESSIVE.sub("", form) or form, match.start(), match.end()))
    return found


def words(text: str) -> list[str]:
    """The normal forms of the words of a text, in order."""
    return [token.form for token in tokens(text)]


def normalise(text: str) -> str:
    """The normal form of an entity (000, 3.2.2): case, punctuation, leading articles, units and abbreviations, spaces.

    Empty where nothing is left. Units and abbreviations go to one form whichever was written: ``milligrams`` and ``mg``,
    ``TB`` and ``tuberculosis``.
    """
    forms = words(text)
    while len(forms) > 1 and forms[0] in _ARTICLES:
        forms = forms[1:]
    return " ".join(ABBREVIATIONS.get(form) or UNITS.get(form) or form for form in forms)


# A full stop after one of these ends no sentence.
_SHORT: Final = {
    "dr",
    "mr",
    "mrs",
    "ms",
    "prof",
    "vs",
    "e.g",
    "i.e",
    "eg",
    "ie",
    "approx",
    "fig",
    "st",
    "etc",
    "cf",
    "al",
}
_BREAK: Final = re.compile(r"[.!?…。！？]+[\"'”’)\]]*(?=\s+|$)|\n+")
_BULLET: Final = re.compile(r"\s*(?:[-*•‣▪◦·–]|\(?\d{1,2}[.)]|\(?[a-zA-Z]\))\s+")


def sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences and list lines of a text, without bullets and outer spaces; spans hold at least one word.

    A line break always parts. A full stop parts before white space, unless it ends a known abbreviation or a
    list number. Decimals stay whole.
    """
    cuts, start = [], 0
    for match in _BREAK.finditer(text):
        if text[match.start()] == "." and match.group().startswith("."):
            before = text[start : match.start()]
            last = before.rsplit(None, 1)[-1].lstrip("(").casefold() if before.strip() else ""
            if last in _SHORT or (last.isdigit() and before.strip() == last and len(last) <= 2):
                continue
        cuts.append((start, match.end()))
        start = match.end()
    cuts.append((start, len(text)))
    spans = []
    for begin, end in cuts:
        bullet = _BULLET.match(text, begin, end)
        begin = bullet.end() if bullet else begin
        piece = text[begin:end]
        begin += len(piece) - len(piece.lstrip())
        end -= len(piece) - len(piece.rstrip())
        if begin < end and _WORD.search(text, begin, end):
            spans.append((begin, end))
    return spans
