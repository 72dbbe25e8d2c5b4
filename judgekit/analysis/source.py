"""The one door: a run, a table or records become answers with their labels, and what judges said of them.

Everything that could differ between two readers is decided here, once: what a run is, which columns name questions, how samples, raters
and panel members are joined (exactly, rounded once to the nearest float), which rows are no judgements, and what was left out and why.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.analysis import guards
from judgekit.analysis.cells import Cell, complete_by_rule, counted, default_complete_when, meets_rule
from judgekit.analysis.panel import panels
from judgekit.analysis.said import Answer, Judged, Said
from judgekit.data.labels import HOWS, PREFIX, is_join, joined_set, persons
from judgekit.data.labels import raters as raters_of
from judgekit.errors import DataError, InputError, JudgekitError, StatisticsError, UsageError
from judgekit.exact import exact_mean
from judgekit.records import Label, Record
from judgekit.runs.model import SCORED

if TYPE_CHECKING:
    import pandas

__all__ = ["Answer", "Judged", "Said", "Source", "choose", "fold_levels", "open_source", "rows_of"]

EACH = "each"
SELECTED = ("dataset", "rubric", "judge")


def rows_of(frame: pandas.DataFrame) -> Iterable[Any]:
    """A frame's rows as named tuples."""
    return frame.itertuples(index=False)


def choose(have: Iterable[str], wanted: Sequence[str], what: str, kind: type[JudgekitError] = StatisticsError) -> None:
    """Raise when a wanted name is not among those that are there."""
    there = sorted({str(one) for one in have})
    for name in wanted:
        if name not in there:
            raise kind(
                f"the run has no {what} {name!r}",
                field=what.replace(" ", ""),
                mend=f"it has {', '.join(there) or 'none'}",
            )


def open_source(source: Any, options: Any = None) -> Source:
    """Open a run (folder or object), a table (file or DataFrame) or records (a file with `card`, or Record objects).

    `options` is the analysis that reads; its fields say which columns, raters and judges are meant.
    """
    from judgekit.runs.reader import is_run, open_run

    if isinstance(source, Source):
        return source if options is None else source.again(options)
    if is_run(source):
        return RunSource(open_run(source) if isinstance(source, str | Path) else source, options)
    if isinstance(source, str | Path):
        path = Path(source)
        if not path.exists():
            raise InputError("there is no such run or table", file=str(source), mend="check the path")
        if path.is_dir():
            raise InputError("this folder holds no run", file=str(source), mend="name a run's folder, or a table")
        if getattr(options, "card", None) is not None:
            return RecordsSource(source, options)
    elif not hasattr(source, "columns"):
        return RecordsSource(source, options)
    found = TableSource(source, options)
    return RecordsSource(source, options) if found.holds_records else found


class Source:
    """Answers with labels, what judges said of them, and which analysis asks. See `open_source`."""

    kind = ""
    name = ""
    file: str | None = None

    def __init__(self, options: Any) -> None:
        self.options = options
        self.left_out: list[str] = []

    def again(self, options: Any) -> Source:
        """The same source for another analysis."""
        raise NotImplementedError

    def option(self, name: str, default: Any = None) -> Any:
        """A field of the analysis that reads, or the default where it has none."""
        found = getattr(self.options, name, default)
        return default if found is None else found

    @property
    def answers(self) -> dict[tuple[str, str], Answer]:
        """Every answer by data set and id, in the source's order."""
        raise NotImplementedError

    @property
    def judged(self) -> list[Judged]:
        """Every judge, panel and metric that was asked for."""
        raise NotImplementedError

    def frame(self) -> pandas.DataFrame:
        """Rows and columns as they are, one row an answer and sample, for what compares columns."""
        raise NotImplementedError

    def fail(self, answer: Answer, column: str, message: str, mend: str) -> JudgekitError:
        """An error at one answer."""
        return StatisticsError(f"record {answer.id!r}: {message}", field=column, mend=mend)

    def unit(self, frame: pandas.DataFrame, option: str, *, needed: bool = True) -> str:
        """The column of independent units; where nobody named it, ``none`` or an error that names the column to name.

        Raises UsageError where a unit is `needed`, StatisticsError where questions repeat.
        """
        from judgekit.data.table import QUESTION_COLUMNS

        if self.kind == "records":
            return "unit"
        known = [name for name in frame.columns if str(name).strip().lower() in QUESTION_COLUMNS]
        if needed:
            raise UsageError(
                "which column holds the question is not named, and rows of one question are not independent", file=self.file,
                field=option, mend=f"--{option} {known[0] if known else 'COL'}",
            )  # fmt: skip
        for name in known:
            repeats = int(frame[name].dropna().map(str).duplicated().sum())
            if repeats:
                raise StatisticsError(
                    f"{repeats} rows repeat a {name}, so that rows are not independent", file=self.file, field=option,
                    mend=f"--{option} {name}; or --{option} none when they truly are",
                )  # fmt: skip
        return "none"

    def of(self, judged: Judged) -> list[Answer]:
        """The answers that a judge was asked about."""
        return [self.answers[judged.dataset, name] for name in judged.said if (judged.dataset, name) in self.answers]

    # ---- whose labels ------------------------------------------------------------------------------------------------

    def wanted_raters(self, answers: Sequence[Answer], construct: str) -> list[str | None]:
        """Whose labels are looked at: names of raters and joins (``join:majority``), None for a rater without a name.

        By default the join that the card made; without one, each rater alone where all of them rated every labelled answer, and
        one joined row (majority, a single rater's label as it is) where some answers have fewer raters than others. Labels by construction
        and labels that a model wrote stay apart from people's.
        """
        names, joins, counts = self._who(answers, construct)
        asked = self.option("rater") if self.kind != "table" else self.option("join")
        if self.kind == "table" and asked is not None:
            if any(answer.key for answer in answers) and len(names) > 1:
                raise StatisticsError(
                    "raters cannot be joined: no id says which rows rate the same answer", file=self.file, mend="name the id column with --id",
                )  # fmt: skip
            return [*names, PREFIX + asked]
        if asked is None:
            if joins:
                return [joins[0]]
            made = any(name == "construction" or str(name).startswith("model:") for name in names)
            whole = len(names) < 2 or not counts or min(counts) == len(names)
            apart = whole or made or any(answer.key for answer in answers)
            return (list(names) or [None]) if apart else [PREFIX + "majority"]
        if asked == EACH:
            return [*names, *joins]
        if asked in HOWS:
            return [joins[0] if asked == "card" and joins else PREFIX + asked]
        known = [*names, *joins]
        name = asked if asked in known else PREFIX + asked
        if name not in known:
            raise StatisticsError(
                f"no rater is called {asked!r}", field="rater",
                mend=f"one of {', '.join(str(n) for n in known)}, {EACH}, {', '.join(h for h in HOWS if h != 'card')}",
            )  # fmt: skip
        return [name]

    def _who(self, answers: Sequence[Answer], construct: str) -> tuple[list[str | None], list[str], list[int]]:
        names: dict[str | None, None] = {}
        joins: dict[str, None] = {}
        counts = []
        for answer in answers:
            mine = [label for label in answer.labels if label.construct == construct]
            people = persons([label for label in mine if not is_join(label)])
            names |= dict.fromkeys(label.rater for label in mine if not is_join(label))
            joins |= {str(label.rater): None for label in mine if is_join(label)}
            if people:
                counts.append(len(people))
        return list(names), list(joins), counts

    def labels(self, answers: Sequence[Answer], construct: str, rater: str | None) -> dict[str, Label | None]:
        """One label an answer: a rater's own, or a join; a join of one rater is that rater's label.

        Raises StatisticsError for ``mean`` where no card says which mean is complete, for ``worst`` over unequal numbers of raters.
        """
        if rater is None or not is_join(rater):
            return {
                a.id: next((x for x in a.labels if x.construct == construct and x.rater == rater), None)
                for a in answers
            }
        how = rater.removeprefix(PREFIX)
        stored = {
            a.id: next((x for x in a.labels if x.construct == construct and x.rater == rater), None) for a in answers
        }
        if any(stored.values()) or how == "mean":
            single = {}
            for answer in answers:
                people = persons(raters_of(answer, construct))  # type: ignore[arg-type]
                if stored[answer.id] is None and len(people) == 1:
                    single[answer.id] = people[0]
                elif stored[answer.id] is None and how == "mean" and people:
                    raise StatisticsError(
                        "no card says which mean of the raters' scores is complete", field="rater",
                        mend="write `join: mean` and `complete_when` into the card and judge again, or choose majority or worst",
                    )  # fmt: skip
            return stored | single
        return dict(joined_set(answers, construct, how))  # type: ignore[arg-type]

    # ---- cells -------------------------------------------------------------------------------------------------------

    def cells(self) -> list[Cell]:
        """One cell a data set, rubric, judge, rater and stratum, with every guard's remark.

        Raises StatisticsError where there is no judgement, or a way to join raters is refused.
        """
        out: list[Cell] = []
        if not self.judged:
            raise StatisticsError(
                f"the {self.kind} holds no judgement", mend="judgekit judge DATA --rubric R --model M --out RUN"
            )
        for judged in self.judged:
            if judged.said and all(one.raw is None and one.why is None for one in judged.said.values()):
                self.left_out.append(f"left out: {judged.rubric} by {judged.judge} gives no score")
                continue
            answers = self.of(judged)
            for rater in self.wanted_raters(answers, judged.construct):
                out += self._strata(self._cell(judged, answers, rater), answers)
        return out

    def _cell(self, judged: Judged, answers: Sequence[Answer], rater: str | None) -> Cell:
        import numpy as np

        names, joins, _ = self._who(answers, judged.construct)
        labels = self.labels(answers, judged.construct, rater)
        shown = None if rater is None else rater.removeprefix(PREFIX)
        joined = rater is None or is_join(rater)
        mine = [judged.said[answer.id] for answer in answers]
        said = [labels[answer.id] for answer in answers]
        raw = np.array([np.nan if s.raw is None else s.raw for s in mine], dtype=np.float64)
        label = np.array([-1 if x is None or x.complete is None else int(not x.complete) for x in said], dtype=np.int8)
        when = self.option("complete_when") or judged.complete_when
        notes = [*_notes(judged, mine, answers, said, label)]
        others = sorted({x.construct for answer in answers for x in answer.labels} - {judged.construct})
        if others and not any(labels.values()):
            notes.append(f"the labels are of {', '.join(others)}; this judge was asked about {judged.construct}")
        persons_of = np.array([len(persons(raters_of(a, judged.construct))) for a in answers], dtype=np.int64)  # type: ignore[arg-type]
        if joined and len(names) > 1:
            tally = ", ".join(f"{n} by {k}" for k, n in sorted(Counter(persons_of[persons_of > 0].tolist()).items()))
            each = "" if self.kind == "table" else "; --rater each shows them apart"
            notes.append(f"{len(names)} raters joined: {shown} (answers by number of raters: {tally}){each}")
        elif joined and joins:
            notes.append(f"raters joined: {shown}")
        by_rule = complete_by_rule(raw, when)
        if by_rule is None and any(s.complete is not None for s in mine):
            by_rule = np.array([-1 if s.complete is None else int(not s.complete) for s in mine], dtype=np.int8)
        clusters = [answer.cluster for answer in answers]
        severities = [_severity(a, x) for a, x in zip(answers, said, strict=True)]
        return Cell(
            dataset=judged.dataset, rubric=judged.rubric, judge=judged.judge, rater=shown, ids=tuple(a.id for a in answers),
            score=raw, label=label, fingerprint=judged.fingerprint,
            cluster=None if any(one is None for one in clusters) else tuple(map(str, clusters)),
            hashes=tuple(str(a.hash) for a in answers), rule=np.array([s.rule for s in mine], dtype=bool), fixed=by_rule,
            severity=tuple(severities) if any(one is not None for one in severities) or self.option("severity") else None,
            unscored=counted([s.why or "no score" for s, y in zip(mine, label, strict=True) if s.raw is None and y >= 0]),
            raters=tuple(str(n) for n in names if n) if joined else (str(rater),), notes=tuple(notes),
            higher_is_worse=True if judged.complete_when is not None and judged.complete_when.lstrip().startswith("<") else None,
            weight=self._weights(answers), keys=tuple(str(a.key) for a in answers) if any(a.key for a in answers) else None,
            named=not any(a.key for a in answers), n_raters=persons_of if joined and len(names) > 1 else None,
            members=judged.members,
        )  # fmt: skip

    def _weights(self, answers: Sequence[Answer]) -> Any:
        import numpy as np

        name = self.option("sampling_probability")
        if name is None:
            return None
        weights = []
        for answer in answers:
            text = str(answer.meta.get(name, answer.meta.get(name.removeprefix("meta."), "")))
            try:
                value = float(text)
            except ValueError:
                value = 0.0
            if not 0 < value <= 1:
                raise self.fail(
                    answer,
                    name,
                    f"{text!r} is no sampling probability in (0, 1]",
                    "a number: how likely this answer was to be labelled",
                )
            weights.append(1 / value)
        return np.array(weights)

    def _strata(self, cell: Cell, answers: Sequence[Answer]) -> list[Cell]:
        import numpy as np

        by = self.option("by")
        if by is None:
            return [cell]
        groups: dict[str, list[int]] = defaultdict(list)
        for place, answer in enumerate(answers):
            name = by.removeprefix("meta.")
            value = answer.meta.get(name, answer.inputs.get(name.removeprefix("inputs.")))
            groups["(none)" if value is None else str(value)].append(place)
        if set(groups) == {"(none)"}:
            raise StatisticsError(
                f"no record has the field {by!r}", field="by", mend="name a key of meta, such as category or model"
            )
        return [
            cell.take(np.isin(np.arange(len(answers)), places), stratum=(by, name))
            for name, places in sorted(groups.items())
        ]


def _severity(answer: Answer, label: Label | None) -> str | None:
    if label is None:
        return None
    if label.severity is not None or not is_join(label):
        return label.severity
    named = [x.severity for x in raters_of(answer, label.construct) if x.severity is not None]  # type: ignore[arg-type]
    return named[0] if len(set(named)) == 1 else None


def _notes(
    judged: Judged, mine: Sequence[Said], answers: Sequence[Answer], said: Sequence[Label | None], label: Any
) -> Iterable[str]:
    most = max((s.samples for s in mine), default=1)
    if most > 1:
        lost = sum(s.unscored for s in mine if s.raw is not None)
        yield f"raw scores are means over up to {most} samples of a record" + (
            f"; {lost} samples had no score" if lost else ""
        )
    off = sum(s.off_scale for s in mine)
    if off:
        yield f"{off} recorded scores lie off the rubric's scale and are used as they stand"
    rated = [tuple(x.criteria) if x is not None and x.criteria else () for x in said]
    if guards.oracle_criteria([s.asked for s in mine], rated):
        yield "oracle criteria: the checklist holds the criteria that the label was made from, which new answers will not have"
    if any(rated):
        few = guards.few_criteria([_counting(a) for a, ids in zip(answers, rated, strict=True) if ids])
        if few:
            yield few
    tuned = sum(s.tuned for s in mine)
    if tuned:
        yield guards.tuned_note(tuned, sum(s.samples - s.unscored for s in mine))
    own = guards.own_answers(judged.judge, [a.meta.get("model") for a in answers], judged.members)
    if own:
        yield f"{own} of {len(answers)} answers were written by the judge's own model"
    if any(x is not None and x.rater == "construction" for x in said):
        yield "labels by construction: they follow from how the answers were written, no clinician rated them"
    unsure = Counter(x.rationale or "no verdict" for x, y in zip(said, label, strict=True) if x is not None and y < 0)
    for why, n in unsure.most_common(3):
        yield f"{n} labels without a verdict: {why}"


def _counting(answer: Answer) -> int:
    positive = [c for c in answer.criteria if (c.get("points") or 1) > 0]
    musts = [c for c in positive if c.get("kind") == "must_have"]
    return len(musts or positive)


# ---- runs ------------------------------------------------------------------------------------------------------------


class RunSource(Source):
    """A run: its latest judgements, what its records say of themselves, its labels."""

    kind = "run"

    def __init__(self, run: Any, options: Any) -> None:
        super().__init__(options)
        self.run = run
        self.read: dict[Any, Any] = {}  # what was read already, by what decides it; shared by `again`
        self.file = str(run.path)
        panel = self.option("panel")
        self.name = f"run:{Path(run.path).name}" + (f",panel:{panel}" if panel else "")

    def again(self, options: Any) -> Source:
        other = RunSource(self.run, options)
        other.read = self.read
        return other

    def _kept(self, what: str, names: Sequence[str], make: Callable[[], Any]) -> Any:
        """What `make` gives, and what it leaves out, made once for the options that decide it."""
        key = (what, *(repr(self.option(name)) for name in names))
        if key not in self.read:
            before, self.left_out = self.left_out, []
            self.read[key] = (make(), self.left_out)
            self.left_out = before
        found, left = self.read[key]
        self.left_out += left
        return found

    @cached_property
    def latest(self) -> pandas.DataFrame:
        """The judgements that count: the version of each rubric in use, of what was asked for, no texts of writers, no judge that never
        gave a verdict. What that leaves out is in `left_out`."""
        found: pandas.DataFrame = self._kept("latest", SELECTED, self._latest)
        return found

    @cached_property
    def answers(self) -> dict[tuple[str, str], Answer]:
        found: dict[tuple[str, str], Answer] = self._kept("answers", ("complete_value",), self._answers)
        return found

    def _latest(self) -> pandas.DataFrame:
        frame = self.run.latest()
        for item in frame.attrs.get("left_out", []):
            self.left_out.append(
                f"left out: {item['n']} judgements of {item['rubric']} by {item['judge']} under an earlier version"
            )
        writers = {row.name for row in rows_of(self.run.rubrics) if (row.resolved or {}).get("output") == "text"}
        texts = frame["rubric"].isin(writers)
        if texts.any():
            frame = frame[~texts]
        for column in ("dataset", "rubric", "judge"):
            wanted = self.option(column, ())
            wanted = (wanted,) if isinstance(wanted, str) else tuple(wanted)
            if wanted:
                there = set(frame[column]) | (set(self.run.records["dataset"]) if column == "dataset" else set())
                choose(there, wanted, "data set" if column == "dataset" else column, InputError)
                frame = frame[frame[column].isin(wanted)]
        spoke = set(frame.loc[frame["status"].isin(SCORED), "judge"])
        silent = [name for name in dict.fromkeys(frame["judge"]) if name not in spoke]
        if spoke and silent:
            for name in silent:
                mine = frame[frame["judge"] == name]
                why = ", ".join(f"{n} {status}" for status, n in counted(mine["status"].tolist()).items())
                self.left_out.append(
                    f"left out: the judge {name}, which never gave a verdict ({why}); judgekit runs drop removes it"
                )
            frame = frame[frame["judge"].isin(spoke)]
        kept: pandas.DataFrame = frame.reset_index(drop=True)
        return kept

    def _answers(self) -> dict[tuple[str, str], Answer]:
        labels: dict[tuple[str, str], list[Label]] = defaultdict(list)
        words = self.option("complete_value", ())
        for row in rows_of(self.run.labels):
            complete = row.complete
            if complete is None and words and row.value is not None:
                complete = str(row.value) in words
            labels[row.dataset, row.record_id].append(
                Label(
                    construct=row.construct, rater=row.rater, complete=complete, score=row.score, severity=row.severity, value=row.value,
                    criteria=row.criteria, rationale=row.rationale,
                )
            )  # fmt: skip
        return {
            (row.dataset, row.record_id): Answer(
                row.dataset, row.record_id, row.cluster, tuple(labels[row.dataset, row.record_id]), row.meta or {}, row.inputs or {},
                row.criteria or (), row.hash,
            )
            for row in rows_of(self.run.records)
        }  # fmt: skip

    @cached_property
    def judged(self) -> list[Judged]:
        judges = self._kept("judges", (*SELECTED, "construct", "panel"), self._judges)
        return [*judges, *self._measured()]

    def _judges(self) -> list[Judged]:
        rules = {(row.name, row.ask, row.score_fp): row for row in rows_of(self.run.rubrics)}
        totals = Counter(dataset for dataset, _ in self.answers)
        found: list[Judged] = []
        for key, part in self.latest.groupby(["dataset", "rubric", "judge"], sort=False):
            dataset, rubric, judge = (str(name) for name in key)
            samples: dict[str, list[Any]] = defaultdict(list)
            for row in rows_of(part):  # walked once: a frame a record costs minutes at thousands of records
                samples[str(row.record_id)].append(row)
            first = part.iloc[0]
            rule = rules.get((rubric, first["ask"], first["score_fp"]))
            when = (rule.complete_when if rule is not None else None) or default_complete_when(rubric)
            construct = self.option("construct") or (rule.construct if rule is not None else None) or "completeness"
            said = {i: join_samples(rows, when) for i, rows in samples.items()}
            if totals[dataset] > len(said):
                self.left_out.append(
                    f"left out: {totals[dataset] - len(said)} of {totals[dataset]} records of {dataset} that {judge} has not judged by {rubric}"
                )
            found.append(Judged(dataset, rubric, judge, said, str(first["ask"]), construct, when))
        if self.option("panel") is not None:
            made, notes = panels(found, self.option("panel"))
            found += made
            self.left_out += notes
        return found

    def _measured(self) -> list[Judged]:
        wanted = self.option("metric", ())
        if not wanted:
            return []
        every = tuple(wanted) == ("all",)
        datasets = self.option("dataset", ())
        found: dict[tuple[str, str, str], dict[str, Said]] = defaultdict(dict)
        for row in rows_of(self.run.measurements):
            if (every or {row.metric, row.metric.split("(")[0]} & set(wanted)) and (
                not datasets or row.dataset in datasets
            ):
                value = None if row.value is None else float(row.value)
                why = None if value is not None else row.reason or "no reason was kept"
                found[row.dataset, row.metric, row.signature][row.record_id] = Said(
                    value, why=why, unscored=int(value is None)
                )
        seen = {word for _, metric, _ in found for word in (metric, metric.split("(")[0])}
        missing = [] if every else [name for name in wanted if name not in seen]
        if missing:
            raise StatisticsError(
                f"the run has no values of {missing[0]!r}",
                field="metric",
                mend="judgekit measure DATA --metric M --out RUN",
            )
        construct = self.option("construct") or "completeness"
        return [Judged(d, None, metric, said, signature, construct) for (d, metric, signature), said in found.items()]

    def frame(self) -> pandas.DataFrame:
        from judgekit.analysis.frames import measured_frame, run_frame

        metric = self.option("metric", ())
        if metric:
            frame, notations = measured_frame(self.run, () if tuple(metric) == ("all",) else metric)
            if not len(frame):
                raise InputError("the run holds no measurements", mend="judgekit measure DATA --metric M --out RUN")
            frame.attrs["notations"] = notations
            return frame
        if not len(self.latest):
            raise InputError("the run holds no judgements", mend="judgekit judge DATA --rubric R --model M --out RUN")
        return run_frame(self.latest, self.run.records)


def join_samples(rows: Sequence[Any], when: str | None) -> Said:
    """A judge's samples of one answer as one: the exact mean of the scored ones, and the verdict of that."""

    from judgekit.judging.engine.evidence import TUNED

    raws, scores, whys, rules, verdicts, off, tuned = [], [], [], [], [], 0, 0
    asked: tuple[str, ...] = ()
    met: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row.criteria:
            asked = tuple(str(item["id"]) for item in row.criteria)
        if row.status not in SCORED:
            whys.append(str(row.status))
            continue
        if row.complete is not None:
            verdicts.append(bool(row.complete))
        criteria = (row.verdict or {}).get("criteria") if isinstance(row.verdict, dict) else None
        for key, word in criteria.items() if isinstance(criteria, dict) else ():
            if isinstance(word, dict) and isinstance(word.get("met"), bool):
                met[key].append(float(word["met"]))
        if row.raw is None:
            if row.reason:
                whys.append(str(row.reason))
            continue
        raws.append(float(row.raw))
        if row.score is not None:
            scores.append(float(row.score))
        off += any(str(flag).startswith("off_scale") for flag in row.flags or ())
        tuned += TUNED in (row.flags or ())
        rules.append(row.status == "rule")
    shares = {key: _mean(values) for key, values in met.items()}
    majority = None if 2 * sum(verdicts) == len(verdicts) else 2 * sum(verdicts) > len(verdicts)
    tied = bool(verdicts) and majority is None
    if not raws:
        return Said(
            None,
            None,
            majority,
            whys[0] if whys else None,
            len(rows),
            len(rows) - len(verdicts),
            False,
            asked,
            met=shares,
            tied=tied,
        )
    raw = _mean(raws)
    complete = majority if when is None else meets_rule(raw, when)
    score = _mean(scores) if len(scores) == len(raws) else None
    return Said(
        raw,
        score,
        complete,
        None,
        len(rows),
        len(rows) - len(raws),
        all(rules),
        asked,
        tuned,
        off,
        shares,
        tied=tied and when is None,
    )


def _mean(values: Sequence[float]) -> float:
    return values[0] if len(values) == 1 else float(exact_mean(values))


# ---- records ---------------------------------------------------------------------------------------------------------


class RecordsSource(Source):
    """Labelled records; what judges said of them stands in fields of their `meta`."""

    kind = "records"

    def __init__(self, source: Any, options: Any) -> None:
        super().__init__(options)
        from judgekit.data import load_records

        self.records: Sequence[Record]
        if isinstance(source, str | Path):
            self.file = str(source)
            self.records = load_records(source, card=self.option("card"))
        else:
            self.records = source
            if any(not isinstance(one, Record) for one in source):
                raise InputError(
                    "this is no run, no table and no records", mend="give a path, a DataFrame, or Record objects"
                )
        self.name = str(getattr(self.records, "name", None) or "records")

    def again(self, options: Any) -> Source:
        return RecordsSource(self.records, options)

    @cached_property
    def answers(self) -> dict[tuple[str, str], Answer]:
        plain = [(one, one.to_dict()) for one in self.records]
        return {
            (self.name, one.id): Answer(
                self.name, one.id, one.cluster_id, one.labels, one.meta, one.inputs, body.get("criteria") or (), one.fingerprint()
            )
            for one, body in plain
        }  # fmt: skip

    @cached_property
    def judged(self) -> list[Judged]:
        from judgekit.analysis.frames import said_number

        names = tuple(self.option("judge", ())) or tuple(self.option("score", ()))
        found = []
        for name in names:
            values = {a.id: a.meta.get(name) for a in self.answers.values()}
            if all(value is None for value in values.values()):
                have = sorted({key for a in self.answers.values() for key in a.meta})
                raise InputError(
                    f"the records' meta holds no {name!r}", field="judge", mend=f"it has {', '.join(have) or 'nothing'}"
                )
            said = {}
            for key, value in values.items():
                try:
                    number = said_number(value)
                except (TypeError, ValueError):
                    number = None
                said[key] = Said(
                    number, why=None if number is not None else "empty", value=value, unscored=int(number is None)
                )
            found.append(
                Judged(
                    self.name,
                    None,
                    name,
                    said,
                    None,
                    self.option("construct") or "completeness",
                    self.option("complete_when"),
                )
            )
        return found

    def frame(self) -> pandas.DataFrame:
        import pandas as pd

        rows = []
        for one in self.records:
            rows.append(
                {
                    **one.meta,
                    "id": one.id,
                    "unit": one.cluster_id,
                    "question": one.question_text,
                    "response": one.response,
                }
            )
        return pd.DataFrame(rows, dtype=object)


# ---- tables ----------------------------------------------------------------------------------------------------------

IDS = ("id", "record_id")
PROBABILITIES = ("sampling_probability", "sampling_prob", "inclusion_probability", "sample_probability", "p_sampled")
STATUSES = (
    "invalid",
    "refused",
    "truncated",
    "filtered",
    "error",
    "skipped",
    "unscored",
    "inf",
    "+inf",
    "-inf",
    "infinity",
    "-infinity",
)


class TableSource(Source):
    """A table: one row an answer (and judge, and rater, where columns say so). Text stays text until it is needed."""

    kind = "table"

    def __init__(self, source: Any, options: Any) -> None:
        super().__init__(options)
        from judgekit.data.table import read_table

        self.table = read_table(source)
        self.file = self.table.file
        self.name = f"{self.table.name}@{self.table.digest[:12]}"

    def again(self, options: Any) -> Source:
        other = object.__new__(TableSource)
        Source.__init__(other, options)
        other.table, other.file, other.name = self.table, self.file, self.name
        return other

    @property
    def holds_records(self) -> bool:
        """Whether the rows are records with labels of their own, not cells."""
        rows = self.table.rows
        return (
            bool(rows) and "labels" in self.table.columns and all(isinstance(row.get("labels"), list) for row in rows)
        )

    def fail(self, answer: Answer, column: str, message: str, mend: str) -> JudgekitError:
        return self.table.fail(answer.row or 0, column, message, mend)

    def frame(self) -> pandas.DataFrame:
        from judgekit.analysis.frames import table_frame

        return table_frame(self.table)

    @cached_property
    def answers(self) -> dict[tuple[str, str], Answer]:
        return self._read[0]

    @property
    def judged(self) -> list[Judged]:
        return self._read[1]

    @cached_property
    def _read(self) -> tuple[dict[tuple[str, str], Answer], list[Judged]]:
        raters = self.option("raters", ())
        self._check(raters)
        places = range(len(self.table.rows))
        ids, keys = self._ids()
        clusters = self._clusters()
        self._guard_probabilities()
        labels: dict[tuple[str, str], dict[str | None, tuple[Label, int]]] = defaultdict(dict)
        first: dict[tuple[str, str], int] = {}
        said: dict[tuple[str, str | None, str | None], dict[str, tuple[Said, int]]] = defaultdict(dict)
        label_is = self._label_sense() if not raters else "incomplete"
        for row in places:
            dataset = self._text(row, self._named("dataset")) or self.table.name
            key = (dataset, ids[row])
            self._same(row, first.setdefault(key, row), ids[row], clusters)
            for label in self._labels(row, raters, label_is):
                known = labels[key].get(label.rater)
                if known is not None and known[0] != label:
                    raise self.table.fail(
                        row, self.option("label"), f"the answer {ids[row]!r} has another label on {self._line(known[1])}",
                        "give every row of an answer and rater the same label",
                    )  # fmt: skip
                labels[key].setdefault(label.rater, (label, row))
            rubric, judge = self._text(row, self._named("rubric")), self._text(row, self._named("judge"))
            for column in self._scores(raters):
                name = column if judge is None else judge if len(self._scores(raters)) == 1 else f"{judge} {column}"
                one = self._said(row, column, words=bool(raters))
                known_score = said[dataset, rubric, name].get(ids[row])
                if known_score is not None and (known_score[0].raw, known_score[0].value) != (one.raw, one.value):
                    raise self.table.fail(
                        row, column, f"the answer {ids[row]!r} has two scores (the other on {self._line(known_score[1])})",
                        "give every row of an answer the same score",
                    )  # fmt: skip
                said[dataset, rubric, name].setdefault(ids[row], (one, row))
        answers = {
            key: Answer(
                key[0], key[1], clusters[row], tuple(label for label, _ in labels[key].values()), self.table.rows[row], {}, (),
                self._hash(row, ids[row]), None if keys is None else keys[row], row,
            )
            for key, row in first.items()
        }  # fmt: skip
        judged = [
            Judged(
                d,
                rubric,
                judge,
                {key: one for key, (one, _) in found.items()},
                None,
                "completeness",
                self._rule(rubric),
            )
            for (d, rubric, judge), found in said.items()
        ]
        return answers, judged

    def _same(self, row: int, first: int, name: str, clusters: Sequence[str | None]) -> None:
        """Raise where two rows of one answer (of two judges or raters) do not say the same of the answer itself."""
        probability = self.option("sampling_probability")
        for column, here, there in (
            (self.option("cluster"), clusters[row], clusters[first]),
            (probability, self._text(row, probability), self._text(first, probability)),
        ):
            if here != there:
                raise self.table.fail(
                    row, str(column), f"the answer {name!r} has another {column} on {self._line(first)}",
                    "give every row of an answer the same, or every answer its own id",
                )  # fmt: skip

    def _rule(self, rubric: str | None) -> str | None:
        return default_complete_when(rubric)

    def _scores(self, raters: Sequence[str]) -> tuple[str, ...]:
        return tuple(self.option("judge", ())) if raters else tuple(self.option("score", ()))

    def _named(self, name: str) -> str | None:
        taken = {
            self.option("label"),
            *self._scores(()),
            self.option("rater"),
            self.option("by"),
            self.option("cluster"),
        }
        return name if name in self.table.columns and name not in taken and not self.option("raters", ()) else None

    def _text(self, row: int, column: str | None) -> str | None:
        return None if column is None else text_of(self.table.rows[row].get(column))

    def _line(self, row: int) -> str:
        return f"row {row + 1}" if self.table.lines is None else f"line {self.table.lines[row]}"

    def _check(self, raters: Sequence[str]) -> None:
        said = [
            name
            for name in (self.option(key) for key in ("rater", "id", "sampling_probability", "severity", "by"))
            if name
        ]
        wanted = (
            [*raters, *self._scores(raters)]
            if raters
            else [one for one in (self.option("label"), *self._scores(())) if one]
        )
        cluster = self.option("cluster")
        for name in [*wanted, *said, *([cluster] if cluster not in (None, "none") else [])]:
            if name not in self.table.columns:
                if not self.table.columns or not self.table.rows:
                    break
                raise DataError(
                    f"there is no column {name!r}", file=self.file, field=name, line=1 if self.table.lines is not None else None,
                    mend=f"there are {', '.join(self.table.columns[:20])}",
                )  # fmt: skip
        twice = [name for name in self._scores(raters) if name in raters]
        if twice or len({*raters}) < len(raters):
            raise InputError(f"{(twice or raters)[0]!r} is named twice", file=self.file, field="raters")
        if not raters and self.option("label") is not None and self.option("label") in self._scores(()):
            raise UsageError(
                f"the column {self.option('label')!r} is the label: a label measured by itself says nothing", field="score",
                mend="name the judge's score with --score",
            )  # fmt: skip
        if not self.table.rows:
            raise DataError("the table has no rows", file=self.file, mend="write one row an answer under the header")

    def _label_sense(self) -> str:
        column, sense = self.option("label", ""), self.option("label_is")
        name = column.strip().lower().replace("-", "_").removeprefix("is_")
        if sense is None and name in ("complete", "completeness"):
            raise DataError(
                f"does 1 in the column {column!r} mean complete?", file=self.file, field=column,
                mend="say --label-is complete or --label-is incomplete",
            )  # fmt: skip
        return str(sense or "incomplete")

    def _labels(self, row: int, raters: Sequence[str], label_is: str) -> list[Label]:
        if raters:
            return [Label(construct="ratings", rater=name, value=self.table.rows[row].get(name)) for name in raters]
        from judgekit.data.table import is_missing, truth

        column = self.option("label")
        if column is None:
            return []  # this analysis asks for no label
        value = self.table.rows[row].get(column)
        rater = self._text(row, self.option("rater")) if self.option("rater") else None
        if self.option("rater") and is_missing(rater):
            raise self.table.fail(row, self.option("rater"), "no rater", "say who rated it, or leave the row out")
        text = (text_of(value) or "").lower()
        severity = self._text(row, self.option("severity"))
        if text == "":
            return []  # nobody rated it
        if text in ("incomplete", "complete"):  # these say what they mean, whatever the column is called
            return [Label(rater=rater, complete=text == "complete", severity=severity)]
        try:
            said = truth(value)
        except ValueError:
            said = None
        if said is None:
            raise self.table.fail(
                row, column, f"{value!r} is no label",
                "write 1, 0, true, false, yes, no, incomplete or complete, or leave it empty if nobody labelled it",
            )  # fmt: skip
        return [Label(rater=rater, complete=said == (label_is == "complete"), severity=severity)]

    def _said(self, row: int, column: str, words: bool) -> Said:
        from judgekit.analysis.frames import NUMBER
        from judgekit.data.table import is_missing

        value = self.table.rows[row].get(column)
        text = text_of(value) or ""
        if words:
            return Said(None, why="word", value=value)
        if isinstance(value, bool):
            return Said(float(value))
        if is_missing(value) or text.lower() in STATUSES or text in self.option("missing", ()):
            return Said(None, why=text.lower() or "empty", unscored=1)
        whole = text.lstrip("+-").isdecimal() and int(float(text)) != int(text) if len(text) < 300 else False
        if whole:
            raise self.table.fail(
                row,
                column,
                f"{text} has more digits than can be told apart",
                "subtract or divide all scores by the same number",
            )
        if NUMBER.fullmatch(text) and abs(float(text)) < float("inf"):
            return Said(float(text), complete=None)
        raise self.table.fail(
            row,
            column,
            f"{value!r} is no number",
            "write a number with a point, or leave it empty if there is no score",
        )

    def _id_column(self) -> str | None:
        return self.option("id") or next((c for c in self.table.columns if c.strip().lower() in IDS), None)

    def _ids(self) -> tuple[list[str], list[str] | None]:
        """An id a row, and where ids are row numbers a key to hash that does not depend on the order of rows.

        An id column that names the question may repeat: were its values taken as ids, scores of one answer would be set against another's
        of the same question, so the row's number is added.
        """
        name, cluster, by, rater = self._id_column(), self.option("cluster"), self.option("by"), self.option("rater")
        places = range(len(self.table.rows))
        if self.option("raters", ()):
            return [str(row) for row in places], None
        if name is None:
            return [str(row + 1) for row in places], self._content_keys([""] * len(places))
        texts = [self._text(row, name) or "" for row in places]
        split = [
            name_ for name_ in (self._named("dataset"), self._named("rubric"), self._named("judge"), by, rater) if name_
        ]
        seen: dict[tuple[str | None, ...], int] = {}
        repeated = False
        for row in places:
            part = (texts[row], *(self._text(row, one) for one in split))
            if part in seen and cluster != name:
                raise self.table.fail(
                    row, name, f"the id {texts[row]!r} was there before, on {self._line(seen[part])}",
                    f"give every answer its own id, or say --cluster {name} if it names the question (--rater COL if raters repeat it)",
                )  # fmt: skip
            repeated |= part in seen
            seen[part] = row
        if repeated:
            return [f"{text} (row {row + 1})" for row, text in zip(places, texts, strict=True)], self._content_keys(
                texts
            )
        if by is not None:
            strata: dict[str, set[str | None]] = {}
            for row in places:
                strata.setdefault(texts[row], set()).add(self._text(row, by))
            if any(len(one) > 1 for one in strata.values()):
                return [f"{text} ({self._text(row, by)})" for row, text in zip(places, texts, strict=True)], None
        return texts, None

    def _content_keys(self, texts: Sequence[str]) -> list[str]:
        columns = (
            *self.option("score", ()),
            self.option("label"),
            self.option("cluster"),
            self.option("rater"),
            self.option("severity"),
        )
        seen: Counter[tuple[str, ...]] = Counter()
        keys = []
        for row, text in enumerate(texts):
            content = (text, *(self._text(row, c) or "" for c in columns if c))
            seen[content] += 1
            keys.append("\x1f".join((*content, str(seen[content]))))
        return keys

    def _hash(self, row: int, name: str) -> str:
        import hashlib

        columns = (*self.option("score", ()), self.option("cluster"))
        text = f"id {name}" if self._id_column() else "\x1f".join(self._text(row, c) or "" for c in columns if c)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def _clusters(self) -> list[str | None]:
        from judgekit.data.table import QUESTION_COLUMNS, is_missing

        named = self.option("cluster")
        places = range(len(self.table.rows))
        if named == "none":
            return [None for _ in places]
        if named is not None:
            values = [self._text(row, named) for row in places]
            for row, value in enumerate(values):
                if is_missing(value):
                    raise self.table.fail(row, named, "no cluster", "say which question this answer belongs to")
            return list(values)
        raters = self.option("raters", ())
        split = [
            one
            for one in (
                self._named("dataset"),
                self._named("rubric"),
                self._named("judge"),
                self.option("by"),
                self.option("rater"),
            )
            if one
        ]
        for name in self.table.columns:
            if name.strip().lower() not in QUESTION_COLUMNS or name in (
                *raters,
                *self._scores(raters),
                self.option("label"),
                self._id_column(),
            ):
                continue
            parts = Counter((self._text(row, name), *(self._text(row, one) for one in split)) for row in places)
            repeats = sum(n - 1 for (text, *_), n in parts.items() if not is_missing(text) and n > 1)
            if repeats:
                raise StatisticsError(
                    f"{repeats} rows repeat a {name}, so that rows are not independent", file=self.file, field="cluster",
                    mend=f"--cluster {name} (or another column that names the question); or --cluster none when they truly are",
                )  # fmt: skip
        return [None for _ in places]

    def _guard_probabilities(self) -> None:
        if self.option("sampling_probability") is not None or self.option("raters", ()):
            return
        named = next((c for c in self.table.columns if c.strip().lower() in PROBABILITIES), None)
        if named is not None and len({self._text(row, named) for row in range(len(self.table.rows))}) > 1:
            raise StatisticsError(
                f"the column {named!r} says that answers were labelled with unequal probabilities", file=self.file, field=named,
                mend=f"say --sampling-probability {named}, or rename the column if it means something else",
            )  # fmt: skip


def text_of(value: Any) -> str | None:
    """A cell's text without outer spaces; None for nothing."""
    if value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType"):
        return None
    return str(value).strip()


Fold = Callable[[Any], Any]


def fold_levels(values: Iterable[Any], declared: Sequence[Any] | None, what: str) -> tuple[Fold, list[str]]:
    """One spelling for words that differ only in case or in outer spaces, and for the words of yes and no; with a note that counts them.

    A declared level keeps its spelling; else the spelling that is most frequent, the first of equals.
    """
    from judgekit.analysis.frames import yes_or_no

    texts = Counter(value for value in values if isinstance(value, str))
    groups: dict[str, list[str]] = defaultdict(list)
    for text in texts:
        groups[text.strip().casefold()].append(text)
    spoken = {text: text for text in texts}
    shown: dict[str, str] = {str(one).strip().casefold(): str(one) for one in declared or ()}
    notes = []
    words = set(groups)
    truths: dict[str, bool | None] = {}
    for key in words:
        try:
            truths[key] = yes_or_no(key)
        except ValueError:
            truths[key] = None
        if truths[key] is None:
            truths = {}
            break
    if truths and declared is None and len({truths[key] for key in words}) < len(words):
        for key, texts_ in groups.items():
            for text in texts_:
                spoken[text] = "yes" if truths[key] else "no"
        told = ", ".join(f"{text!r} {n}" for text, n in texts.most_common())
        return (lambda value: spoken.get(value, value) if isinstance(value, str) else value), [
            f"{what}: words for yes and no are read alike ({told})"
        ]
    for key, texts_ in groups.items():
        best = (
            shown.get(key)
            or max(texts_, key=lambda text: (texts[text], text == text.strip(), -texts_.index(text))).strip()
        )
        for text in texts_:
            spoken[text] = best
        if len(texts_) > 1 or (texts_[0] != best and texts_[0].strip() != best):
            told = ", ".join(f"{text!r} {texts[text]}" for text in texts_)
            notes.append(f"{what}: levels that differ only in case or outer spaces are read as {best!r} ({told})")
    return (lambda value: spoken.get(value, value) if isinstance(value, str) else value), notes


def with_options(source: Source, **changes: Any) -> Source:
    """The same source for the same analysis with some options changed."""
    return source.again(source.options.model_copy(update=changes))
