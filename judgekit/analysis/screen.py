"""A screen combines judges' scores and local metrics into one score; saved, it is a small readable file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from judgekit.analysis.cells import Cell
from judgekit.analysis.guards import same_model
from judgekit.analysis.labelled import Labelled
from judgekit.analysis.options import function, opt
from judgekit.analysis.result import Column, Result, Table, number, plain, signature
from judgekit.errors import InputError, StatisticsError

if TYPE_CHECKING:
    from judgekit.analysis.source import Source
    from judgekit.stats.screen import ScreenModel, ScreenResult

__all__ = ["MakeScreen", "Part", "Screen", "ScreenShown", "apply_screen", "build_screen", "read_screen", "screen"]

FORMAT = 1


@dataclass(frozen=True)
class Part:
    """One score that a screen reads: a judge under a rubric, a local metric, or a column of a table."""

    kind: str
    name: str
    rubric: str | None = None
    judge: str | None = None
    fingerprint: str | None = None
    higher_is_worse: bool = False

    @staticmethod
    def of(cell: Cell, higher_is_worse: bool) -> Part:
        """The part that a cell's scores are."""
        worse = higher_is_worse if cell.higher_is_worse is None else cell.higher_is_worse
        name = " · ".join(part for part in (cell.rubric, cell.judge) if part)
        kind = "column" if cell.fingerprint is None else "metric" if cell.rubric is None else "judgement"
        return Part(kind, name, cell.rubric, cell.judge, cell.fingerprint, worse)


@dataclass(frozen=True)
class Screen:
    """A screen with what made it. `result` holds the cross-fitted figures; `model` is the refit on all its records."""

    name: str
    parts: tuple[Part, ...]
    model: ScreenModel
    why: str
    descriptive: bool
    dataset: str
    rater: str | None
    n: int
    n_incomplete: int
    rows: tuple[str, ...]
    signature: str
    result: ScreenResult | None = None
    recall: str = "0.9"
    notes: tuple[str, ...] = ()
    left_out: dict[str, int] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Hash of what decides a score: the parts and the model."""
        return hashlib.sha256(json.dumps(self._decides(), sort_keys=True).encode("utf-8")).hexdigest()[:16]

    def _decides(self) -> dict[str, Any]:
        parts = [
            asdict(part) | {"centre": centre, "spread": spread, "weight": weight}
            for part, centre, spread, weight in zip(
                self.parts, self.model.centre, self.model.spread, self.model.weight, strict=True
            )
        ]
        return {"kind": self.model.kind, "parts": parts, "intercept": self.model.intercept}

    def to_json(self) -> dict[str, Any]:
        """The file's content, as plain JSON values."""
        body = {"judgekit_screen": FORMAT, "name": self.name, "lower_means": "more incomplete", **self._decides()}
        body |= {"why": self.why, "descriptive": self.descriptive, "signature": self.signature}
        body["made_from"] = {
            "dataset": self.dataset, "rater": self.rater, "n": self.n, "n_incomplete": self.n_incomplete,
            "left_out": self.left_out, "rows": list(self.rows),
        }  # fmt: skip
        body["cross_fitted"] = None if self.result is None else plain(asdict(self.result))
        body["notes"] = list(self.notes)
        return body

    def save(self, path: str | Path) -> None:
        """Write the file; it holds hashes of the records that made it, no text of theirs."""
        try:
            Path(path).write_text(
                json.dumps(self.to_json(), ensure_ascii=False, indent=1, allow_nan=False) + "\n", "utf-8"
            )
        except OSError as error:
            raise InputError(f"cannot write the screen: {error.strerror}", file=str(path)) from None

    def text(self, width: int = 110) -> str:
        """The screen beside each of its parts."""
        return self.show().text(width)

    def show(self) -> ScreenShown:
        """The screen beside each of its parts, as a result."""
        result = self.result
        stamp = " (descriptive: under 100 records)" if self.descriptive else ""
        rater = f", rater {self.rater}" if self.rater else ""
        left = "".join(f", {n} {why}" for why, n in self.left_out.items() if n)
        head = f"Screen {self.name}: {self.model.kind}{stamp}; {self.why}"
        lines = [f"{self.dataset}{rater}: {self.n_incomplete} incomplete of {self.n} records{left}"]
        rows: list[dict[str, Any]] = []
        if result is not None and result.fit is not None:
            fit = result.fit
            for index, part in enumerate(self.parts):
                rows.append(
                    {"part": part.name, "weight": self.model.weight[index], "auc": fit.parts[index]}
                    | _ends("auc", result.part_intervals[index]) | {"recall": fit.part_recalls[index]}
                    | {"workload": fit.part_workloads[index]} | _ends("workload", result.part_workload_intervals[index])
                )  # fmt: skip
            rows.append({"part": "best part, inside folds", "auc": fit.best} | _ends("auc", result.best_interval))
            rows.append(
                {"part": "the screen, cross-fitted", "auc": fit.auc, "recall": fit.recall, "workload": fit.workload}
                | _ends("auc", result.auc_interval) | _ends("workload", result.workload_interval)
            )  # fmt: skip
            show = number(3)
            lines.append(f"On the records that made it the screen would show an AUC of {show(result.apparent)}.")
            if fit.difference is not None:
                beats = "beats" if result.beats_best else "is not shown to beat"
                span = _span(_ends("d", result.difference_interval), "d")
                lines.append(f"The screen {beats} its best single part: {fit.difference:+.3f} ({span}).")
            names = [self.parts[i].name for i in fit.chosen]
            lines.append(f"Best part in each fold: {', '.join(names) or 'none'}; {fit.pairs} pairs within folds.")
        lines.append("A saved screen is a refit on all of these records: certify it on records that it never saw.")
        columns = [
            Column("part", ""), Column("weight", "weight", number(2)), Column("auc", "AUC", number()),
            Column("auc_low", "95 %", lambda row: _span(row, "auc"), whole=True),
            Column("recall", f"recall (aim {self.recall})", number()), Column("workload", "to read", number()),
            Column("workload_low", "95 % ", lambda row: _span(row, "workload"), whole=True),
        ]  # fmt: skip
        return ScreenShown(
            [Table("parts", head, rows, columns)], self.signature, list(self.notes), [("", lines)], screen=self
        )


@dataclass(repr=False)
class ScreenShown(Result):
    """A screen's figures, with the screen itself in `screen`."""

    screen: Screen | None = None

    def to_json(self) -> dict[str, Any]:
        """The saved file's content."""
        assert self.screen is not None
        return self.screen.to_json()


def _ends(name: str, interval: Any) -> dict[str, Any]:
    known = interval is not None and interval.low is not None and interval.high is not None
    return {f"{name}_low": interval.low if known else None, f"{name}_high": interval.high if known else None}


def _span(row: dict[str, Any], name: str) -> str:
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    return "-" if low is None or high is None else f"{low:.3f} to {high:.3f}"


class MakeScreen(Labelled):
    """Combine judges and metrics into one screen.

    The screen is cross-fitted by question and shown beside each of its parts and the best single one. With `out` it is
    refitted on all records and saved; triage then applies it to records that it never saw.
    """

    name: ClassVar[str] = "screen"

    out: str | None = opt(None, "Save the screen for `judgekit triage --screen FILE`.", metavar="FILE")
    title: str = opt("screen", "Name of the screen.")
    recall: str = opt("0.9", "Share of the incomplete answers to catch, in (0, 1].")
    metric: tuple[str, ...] = opt(("all",), "Run: only these local metrics. [all]", only="run")
    higher_is_worse: bool = opt(False, "In all parts a higher score means more incomplete.")
    worse: tuple[str, ...] = opt((), "In this part a higher score means more incomplete. [repeatable]", metavar="PART")
    folds: int = opt(5, "Folds, by question.", ge=2)
    repeats: int = opt(500, "Bootstrap samples of the procedure.", ge=20)
    seed: int = opt(0, "Seed of folds and bootstrap.")

    def analyse(self, source: Source) -> Result:
        from judgekit.analysis.triage.work import make_choices

        make_choices(self.recall)
        found = build_screen(
            source.cells(), name=self.title, higher_is_worse=self.higher_is_worse, worse_parts=self.worse, recall=self.recall,
            folds=self.folds, repeats=self.repeats, seed=self.seed, source=source.name,
        )  # fmt: skip
        if self.out is not None:
            found.save(self.out)
        shown = found.show()
        shown.notes = [*dict.fromkeys(source.left_out), *shown.notes, *([f"saved: {self.out}"] if self.out else [])]
        return shown


screen = function(MakeScreen)


def build_screen(
    cells: Sequence[Cell],
    *,
    name: str = "screen",
    higher_is_worse: bool = False,
    worse_parts: Sequence[str] = (),
    recall: str = "0.9",
    folds: int = 5,
    repeats: int = 500,
    seed: int = 0,
    source: str = "",
) -> Screen:
    """Combine the cells' scores of one data set and rater into a screen, cross-fitted by question.

    Parameters
    ----------
    cells : two or more sets of scores over the same records.
    higher_is_worse : for all parts without a direction of their own; `worse_parts` names single ones.

    Raises
    ------
    StatisticsError : several data sets or raters, fewer than two parts, a part judged by its own labeller, or one class.
    """

    import numpy as np

    from judgekit.stats.screen import KINDS, RIDGE, choose_kind, fit_screen
    from judgekit.stats.screen import screen as cross_fitted

    _one_set(cells)
    parts = [Part.of(cell, higher_is_worse or (cell.judge or "") in worse_parts) for cell in cells]
    _not_the_labeller(cells)
    _, matrix, label, clusters, rows, notes = _matrix(cells, parts)
    labelled = label >= 0
    complete = ~np.isnan(matrix).any(axis=1)
    keep = labelled & complete
    left = {"unlabelled": int((~labelled).sum()), "labelled, with a part missing": int((labelled & ~complete).sum())}
    y, x = label[keep] == 1, matrix[keep]
    kind, why = choose_kind(y, x.shape[1])
    groups = [clusters[i] for i in np.flatnonzero(keep)]
    result = cross_fitted(
        y, x, clusters=groups, kind=kind, folds=folds, recall=recall, repeats=repeats, rng=np.random.default_rng(seed)
    )
    if result.fit is None:
        raise StatisticsError(f"no screen: {result.reason}")
    mark = signature(
        screen=kind, source=source or cells[0].dataset, ridge=f"{RIDGE:g}" if kind == KINDS[1] else None,
        folds=f"{result.fit.folds} by question", auc="within folds, ties half", recall=f">={recall} by thresholds of the other folds",
        bootstrap="the whole procedure by question", replicates=repeats, seed=seed, numpy=np.__version__,
    )  # fmt: skip
    return Screen(
        name, tuple(parts), fit_screen(y, x, kind), why, result.descriptive, cells[0].dataset, cells[0].rater, int(keep.sum()),
        int(y.sum()), tuple(sorted(rows[i][:16] for i in np.flatnonzero(keep))), mark, result, recall, tuple(notes), left,
    )  # fmt: skip


def read_screen(path: str | Path) -> Screen:
    """Read a saved screen; InputError names what is wrong with the file."""

    from judgekit.stats.screen import ScreenModel

    try:
        body = json.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise InputError(f"cannot read the screen: {error.strerror}", file=str(path)) from None
    except ValueError as error:
        raise InputError(
            f"not a screen: {error}", file=str(path), mend="give a file that judgekit screen wrote"
        ) from None
    if not isinstance(body, dict) or body.get("judgekit_screen") != FORMAT:
        raise InputError("not a screen of this version", file=str(path), mend="make it anew with judgekit screen")
    try:
        names = ("kind", "name", "rubric", "judge", "fingerprint", "higher_is_worse")
        parts = tuple(Part(**{key: part[key] for key in names}) for part in body["parts"])
        numbers = [tuple(float(part[key]) for part in body["parts"]) for key in ("centre", "spread", "weight")]
        model = ScreenModel(body["kind"], numbers[0], numbers[1], numbers[2], float(body["intercept"]))
        made = body["made_from"]
        return Screen(
            body["name"], parts, model, body["why"], body["descriptive"], made["dataset"], made["rater"], made["n"],
            made["n_incomplete"], tuple(made["rows"]), body["signature"], notes=tuple(body["notes"]), left_out=made["left_out"],
        )  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"the screen lacks or breaks {error}", file=str(path), mend="make it anew with judgekit screen"
        ) from None


def apply_screen(found: Screen, cells: Sequence[Cell]) -> list[Cell]:
    """Cells of the screen's scores, one a data set, rater and stratum.

    Raises
    ------
    StatisticsError : a part is missing, was made with another rubric version, judge or metric signature, or a record made
        the screen.
    """

    import numpy as np

    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.dataset, cell.rater, cell.stratum), []).append(cell)
    out = []
    for members in groups.values():
        mine = [_find(part, members) for part in found.parts]
        _not_the_labeller(mine)
        ids, matrix, label, clusters, rows, notes = _matrix(mine, found.parts)
        seen = set(found.rows)
        again = sum(1 for row in rows if row[:16] in seen)
        if again:
            raise StatisticsError(
                f"{again} of these records made the screen {found.name!r}", mend="triage records that it never saw"
            )
        first = mine[0]
        places = {name: i for i, name in enumerate(first.ids)}
        base = first.take([name in places for name in first.ids])
        severity = (
            None if base.severity is None else tuple(base.severity[places[n]] if n in places else None for n in ids)
        )
        score = found.model(matrix)
        missing = int((np.isnan(score) & (label >= 0)).sum())
        out.append(
            Cell(
                first.dataset, None, f"screen {found.name}", first.rater, tuple(ids), score, label, fingerprint=found.digest,
                cluster=tuple(clusters), severity=severity, unscored={"a part is missing": missing} if missing else {},
                stratum=first.stratum, raters=first.raters, hashes=tuple(rows), named=first.named, higher_is_worse=False,
                keys=first.keys if tuple(ids) == first.ids else None,
                notes=(*notes, f"the screen was made from {found.n} records of {found.dataset} ({found.model.kind})"),
            )
        )  # fmt: skip
    return out


def _find(part: Part, cells: Sequence[Cell]) -> Cell:
    near = [c for c in cells if (c.rubric, c.judge) == (part.rubric, part.judge)]
    for cell in near:
        if cell.fingerprint == part.fingerprint:
            return cell
    if near:
        what = "metric signature" if part.kind == "metric" else "rubric version"
        raise StatisticsError(
            f"{part.name}: another {what} ({near[0].fingerprint}) than the screen was made with ({part.fingerprint})",
            mend="judge these records with the same rubric file, or make the screen anew",
        )
    there = ", ".join(" · ".join(p for p in (c.rubric, c.judge) if p) for c in cells)
    raise StatisticsError(f"the screen needs {part.name}, which is not here", mend=f"there are {there or 'no scores'}")


def _one_set(cells: Sequence[Cell]) -> None:
    for attribute, word in (("dataset", "data sets"), ("rater", "raters"), ("stratum", "strata")):
        names = list(dict.fromkeys(getattr(cell, attribute) for cell in cells))
        if len(names) > 1:
            raise StatisticsError(
                f"{len(names)} {word} ({', '.join(map(str, names))}): a screen is made from one",
                mend=f"choose with --{attribute}",
            )
    if len(cells) < 2:
        raise StatisticsError(
            f"a screen combines two or more scores, there are {len(cells)}",
            mend="judge with another rubric or model, or measure a metric",
        )
    if any(cell.weight is not None for cell in cells):
        raise StatisticsError("a screen cannot be made from records sampled with unequal probabilities")


def _not_the_labeller(cells: Sequence[Cell]) -> None:
    for cell in cells:
        rater = same_model(cell.judge, (*cell.raters, cell.rater), cell.members)
        if rater is not None:
            raise StatisticsError(f"refused: the rater {rater!r} is a judge of this screen")


def _matrix(
    cells: Sequence[Cell], parts: Sequence[Part]
) -> tuple[list[str], Any, Any, list[str], list[str], list[str]]:
    import numpy as np

    ids = list(dict.fromkeys(name for cell in cells for name in cell.ids))
    place = {name: i for i, name in enumerate(ids)}
    matrix = np.full((len(ids), len(cells)), np.nan)
    label = np.full(len(ids), -1, dtype=np.int8)
    clusters, rows = list(ids), list(ids)
    notes: dict[str, None] = {}
    for column, (cell, part) in enumerate(zip(cells, parts, strict=True)):
        for i, name in enumerate(cell.ids):
            at = place[name]
            matrix[at, column] = -cell.score[i] if part.higher_is_worse else cell.score[i]
            label[at] = max(label[at], cell.label[i])
            if cell.cluster is not None:
                clusters[at] = cell.cluster[i]
            if cell.hashes is not None:
                rows[at] = cell.hashes[i]
        notes |= dict.fromkeys(
            f"{part.name}: {note}" for note in cell.notes if "oracle" in note or "evidence map" in note
        )
    return ids, matrix, label, clusters, rows, list(notes)
