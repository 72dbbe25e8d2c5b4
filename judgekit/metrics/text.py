"""Words, sentences and normal forms: what every local metric agrees on about text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

__all__ = [
    "UNITS", "Token", "encodable", "fold", "folded", "is_blank", "normalise", "sentences", "span_in", "tokens", "words",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Token:
    """One word: its normal form (see `fold`; case folded, without a possessive ending) and where it stands in the text."""

    form: str
    start: int
    end: int


# How one thing is written: whatever hyphen, quotation mark, accent, alphabet or width a person, a word processor or a model chose.
_ONE_SPELLING: Final[dict[str, str]] = {
    # A soft hyphen is a hyphen too: models write it for one. At a line's end it goes with the line break.
    **dict.fromkeys("\u00ad\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u02d7\ufe58\ufe63\uff0d", "-"),
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u02b9\u02bb\u02bc\u02c8\u00b4\u2032\u055a\u05f3\uff07", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\uff02", '"'),
    **dict.fromkeys("\u2028\u2029\u0085", "\n"),
    **dict.fromkeys("™℠®©", ""),
    **dict.fromkeys("º˚", "°"),
    "×": "x", "✕": "x", "⁄": "/", "∕": "/", "№": "#", "٫": ".", "٬": ",",
    "ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D",
}  # fmt: skip
_GREEK: Final = dict(
    zip(
        "αβγδεζηθικλμνξοπρσςτυφχψω",
        [
            "alpha",
            "beta",
            "gamma",
            "delta",
            "epsilon",
            "zeta",
            "eta",
            "theta",
            "iota",
            "kappa",
            "lambda",
            "mu",
            "nu",
            "xi",
            "omicron",
            "pi",
            "rho",
            "sigma",
            "sigma",
            "tau",
            "upsilon",
            "phi",
            "chi",
            "psi",
            "omega",
        ],
        strict=True,
    )
)
_ODD: Final = re.compile(r"\u00ad[ \t]*\r?\n\s*|[^\x00-\x7f]|(?<=[A-Za-z])`(?=[A-Za-z])")


def fold(text: str) -> str:
    """The one spelling that all lexical metrics read.

    Dashes, apostrophes and spaces of every kind become the plain ones, accents and zero-width characters go, full width becomes plain,
    a Greek letter in an English word its name ("β-blocker" is "beta-blocker", "μg" is "ug"), "½" is "1/2" and "10⁹" is "10^9".
    """
    return folded(text)[0]


@lru_cache(maxsize=4096)
def folded(text: str) -> tuple[str, Sequence[int]]:
    """`fold` of a text, and for each of its characters (and its end) the place in `text` that it comes from."""
    if text.isascii() and "`" not in text:
        return text, range(len(text) + 1)
    out: list[str] = []
    places: list[int] = []
    at = 0
    for match in _ODD.finditer(text):
        start = match.start()
        out.append(text[at:start])
        places.extend(range(at, start))
        plain = _plain(text, start) if match.end() == start + 1 else ""
        out.append(plain)
        places.extend([start] * len(plain))
        at = match.end()
    out.append(text[at:])
    places.extend(range(at, len(text) + 1))
    return "".join(out), places


def _plain(text: str, at: int) -> str:
    """What the character at a place becomes."""
    char = text[at]
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if char == "`":
        return "'"
    if char in _ONE_SPELLING:
        return _ONE_SPELLING[char]
    kind = unicodedata.category(char)
    if kind == "Cf" or "\ufe00" <= char <= "\ufe0f" or "\u0300" <= char <= "\u036f":
        return ""
    if kind == "Nd":
        return str(unicodedata.decimal(char))
    whole = unicodedata.normalize("NFKD", char)
    if kind == "No" and "⁄" in whole:
        return (" " if before.isdigit() else "") + whole.replace("⁄", "/")
    if kind == "No" and before.isdigit() and unicodedata.decomposition(char).startswith("<super>"):
        return f"^{whole}"
    bare = "".join(part for part in whole if not "\u0300" <= part <= "\u036f")
    if not bare.strip():
        return " "
    low = bare.casefold()
    if low in _GREEK and not _greek(before) and not _greek(after):
        if low == "μ" and after.isascii() and after.isalpha():
            return "u"
        return ("-" if _latin(before) else "") + _GREEK[low] + ("-" if _latin(after) else "")
    return unicodedata.normalize("NFC", bare)


def _greek(char: str) -> bool:
    return bool(char) and ("\u0370" <= char <= "\u03ff" or "\u1f00" <= char <= "\u1fff")


def _latin(char: str) -> bool:
    return char.isascii() and char.isalpha()


def span_in(places: Sequence[int], start: int, end: int) -> tuple[int, int]:
    """The span of the text as given that a span of its folded form stands for."""
    return places[start], max(places[end - 1] + 1, places[end]) if end > start else places[start]


# A number keeps its decimal or thousands part; an apostrophe stays inside a word; everything else parts words.
# A mark (category M) belongs to the letter before it, so that Hindi, Arabic or Hebrew words stay whole.
_WORD: Final = re.compile(r"\d+(?:[.,]\d+)+|[^\W_](?:[^\W_]|[\u0591-\u05c7\u064b-\u065f\u0900-\u0dff])*(?:'[^\W_]+)*%?")
_POSSESSIVE: Final = re.compile(r"'s?$")
_THOUSANDS: Final = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")

# Both ways: every spelling goes to one short form.
UNITS: Final[dict[str, str]] = {
    spelling: short
    for short, spellings in {
        "mg": "mg mgs milligram milligrams milligramme milligrammes", "mcg": "mcg mcgs ug microgram micrograms microgramme microgrammes",
        "ng": "ng nanogram nanograms", "g": "gram grams gramme grammes gm gms", "kg": "kg kgs kilogram kilograms kilo kilos",
        "ml": "ml mls milliliter milliliters millilitre millilitres cc", "dl": "dl deciliter decilitre", "cl": "cl centilitre centiliter",
        "ul": "ul microliter microlitre", "l": "liter liters litre litres", "cm": "cm centimeter centimeters centimetre centimetres",
        "mm": "mm millimeter millimeters millimetre millimetres", "tablet": "tab tabs tablet tablets", "capsule": "caps capsule capsules",
        "pill": "pill pills", "drop": "drop drops", "puff": "puff puffs", "spray": "spray sprays", "sachet": "sachet sachets",
        "patch": "patch patches", "vial": "vial vials", "ampoule": "ampoule ampoules ampule ampules", "suppository": "suppository suppositories",
        "teaspoon": "tsp teaspoon teaspoons", "tablespoon": "tbsp tablespoon tablespoons", "hour": "hr hrs hour hours",
        "minute": "min mins minute minutes", "day": "day days", "week": "wk wks week weeks", "month": "month months",
        "year": "yr yrs year years", "iu": "iu ius", "unit": "unit units", "meq": "meq milliequivalent milliequivalents",
        "mmol": "mmol millimole millimoles", "umol": "umol micromole micromoles", "nmol": "nmol", "pmol": "pmol", "mmhg": "mmhg", "bpm": "bpm",
        "kcal": "kcal", "inch": "inch inches", "foot": "foot ft", "lb": "pound pounds", "oz": "ounce ounces", "%": "percent pct",
    }.items()
    for spelling in spellings.split()
}  # fmt: skip

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
    """The text as a model can take it: folded, control characters as spaces, lone surrogates as the replacement character."""
    safe = fold(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    return "".join(" " if unicodedata.category(char) == "Cc" and char not in "\n\t" else char for char in safe)


def tokens(text: str) -> list[Token]:
    """Words with their places; character offsets are into `text` as given."""
    plain, places = folded(text)
    found = []
    for match in _WORD.finditer(plain):
        form = match.group().casefold()
        if _THOUSANDS.fullmatch(form):
            form = form.replace(",", "")
        found.append(Token(_POSSESSIVE.sub("", form) or form, *span_in(places, *match.span())))
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
_BREAK: Final = re.compile(r"[.!?。]+[\"')\]]*(?=\s+|$)|\n+")
_BULLET: Final = re.compile(r"\s*(?:[-*•‣▪◦·]|\(?\d{1,2}[.)]|\(?[a-zA-Z]\))\s+")


def sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences and list lines of a text, without bullets and outer spaces; spans hold at least one word.

    A line break always parts. A full stop parts before white space, unless it ends a known abbreviation or a
    list number. Decimals stay whole.
    """
    plain, places = folded(text)
    return [span_in(places, start, end) for start, end in _sentences(plain)]


def _sentences(text: str) -> list[tuple[int, int]]:
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
