"""A panel: several judges on one rubric become one more judge, by the mean of their scores or the majority of their verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judgekit.analysis.cells import complete_by_rule, default_complete_when
from judgekit.analysis.result import Column, Table, number, share
from judgekit.errors import StatisticsError, UsageError
from judgekit.runs.model import SCORED

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["HOWS", "PanelRun", "panel_name"]

HOWS = ("mean", "majority")
TIED, LACKING = "panel tied", "panel incomplete"
RULES = {
    "mean": "the mean of all members' raw scores; a record that a member left unscored has none",
    "majority": "what more than half of all members say, an unscored member saying neither; a tie has no verdict",
}


def panel_name(members: Sequence[str], how: str) -> str:
    """The derived judge's notation: ``panel(a + b + c, mean)``."""
    return f"panel({' + '.join(members)}, {how})"


@dataclass(frozen=True)
class _Word:
    """What one member said of one record: the mean of its scored samples, the verdict of that, and which status it had otherwise."""

    raw: float | None = None
    score: float | None = None
    complete: bool | None = None
    status: str = "not judged"


class PanelRun:
    """A run whose `latest` also holds a panel's judgements, for every rubric that two of the members or more judged by.

    Parameters
    ----------
    run : an open run.
    how : ``mean``: raw and score are the members' means, under the rubric's own `complete_when`; a record that any member left
        unscored is ``panel incomplete``. ``majority``: raw is 1 (complete) or 0, what more than half of *all* members say; without
        one, a record is ``panel tied`` where all members gave a verdict, else ``panel incomplete``. A tie is never broken.
    judges, rubrics, datasets : who is on the panel, and where; all by default.

    A member's samples are averaged first. Nothing is dropped: `table` counts the records that the panel could not score, and
    which members were at fault.

    Raises
    ------
    UsageError : another `how`. StatisticsError : fewer than two judges under every rubric; members were asked by different
        wordings; a majority of a rubric that has no verdict.
    """

    def __init__(
        self,
        run: Any,
        how: str,
        *,
        judges: Sequence[str] = (),
        rubrics: Sequence[str] = (),
        datasets: Sequence[str] = (),
    ) -> None:
        if how not in HOWS:
            raise UsageError(f"a panel cannot be joined by {how!r}", field="panel", mend=f"one of {', '.join(HOWS)}")
        self.run, self.how, self.path = run, how, run.path
        self.names: list[str] = []
        self.rows: list[dict[str, Any]] = []
        self._made: list[dict[str, Any]] = []
        self._rules: list[dict[str, Any]] = []
        frame = run.latest()
        left_out = frame.attrs.get("left_out", [])
        for column, wanted in (("judge", judges), ("rubric", rubrics), ("dataset", datasets)):
            have = list(dict.fromkeys(frame[column]))
            for name in wanted:
                if name not in have:
                    mend = f"it has {', '.join(map(str, have)) or 'none'}"
                    raise StatisticsError(f"the run has no {column} {name!r}", field=column, mend=mend)
            if wanted:
                frame = frame[frame[column].isin(list(wanted))]
        self._frame = frame
        self._frame.attrs["left_out"] = left_out
        known = {(row["name"], row["ask"], row["score_fp"]): row for row in run.rubrics.to_dict("records")}
        for (dataset, rubric), part in frame.groupby(["dataset", "rubric"], sort=False):
            members = list(dict.fromkeys(part["judge"]))
            if len(members) > 1 and part["raw"].notna().any():
                self._panel(str(dataset), str(rubric), members, part, known)
        if not self._made:
            raise StatisticsError(
                "a panel needs two judges or more on one rubric", field="panel",
                mend="judge with further models: judgekit judge DATA --rubric R --model M1 --model M2",
            )  # fmt: skip

    @property
    def records(self) -> pd.DataFrame:
        """The run's own."""
        return self.run.records  # type: ignore[no-any-return]

    @property
    def labels(self) -> pd.DataFrame:
        """The run's own."""
        return self.run.labels  # type: ignore[no-any-return]

    @property
    def measurements(self) -> pd.DataFrame:
        """The run's own."""
        return self.run.measurements  # type: ignore[no-any-return]

    @property
    def judgements(self) -> pd.DataFrame:
        """The run's own, without the panel's."""
        return self.run.judgements  # type: ignore[no-any-return]

    @property
    def rubrics(self) -> pd.DataFrame:
        """The run's, and one row a panel: the rule that turns its raw scores into verdicts."""
        return _joined(self.run.rubrics, self._rules)

    def latest(self) -> pd.DataFrame:
        """The members' judgements and, after them, the panel's."""
        found = _joined(self._frame, self._made)
        found.attrs["left_out"] = self._frame.attrs["left_out"]
        return found

    def members_only(self) -> pd.DataFrame:
        """The members' judgements alone."""
        found: pd.DataFrame = self._frame
        return found

    def notes(self) -> list[str]:
        """The rule, and what each panel could not score."""
        out = [f"panel: {RULES[self.how]}"]
        for row in self.rows:
            lost = row["tied"] + row["incomplete"]
            if lost:
                at_fault = "; ".join(f"{name}: {n}" for name, n in row["unscored_members"].items())
                out.append(
                    f"{row['rubric']}: the panel has no word on {lost} of {row['records']} records ({row['tied']} tied, "
                    f"{row['incomplete']} incomplete{'; unscored by ' + at_fault if at_fault else ''})"
                )
        return out

    def table(self, *, replicates: int = 2000, seed: int = 0, level: float = 0.95) -> Table:
        """The panel's members with each other: how often all say the same, alpha of their verdicts, and what was not scored."""
        import numpy as np

        from judgekit.stats.agreement import krippendorff_alpha

        rows = []
        for row in self.rows:
            codes = np.array(row["_verdicts"], dtype=np.int64)
            found = krippendorff_alpha(
                codes, n_levels=2, clusters=row["_clusters"], replicates=replicates, seed=seed, level=level
            )
            said = (codes >= 0).all(axis=1)
            alike = int((codes[said] == codes[said][:, :1]).all(axis=1).sum())
            rows.append(
                {key: value for key, value in row.items() if not key.startswith("_")}
                | {
                    "all_said": int(said.sum()), "unanimous": alike / int(said.sum()) if said.any() else None,
                    "alpha": found.value, "alpha_low": found.low, "alpha_high": found.high, "reason": found.reason,
                }
            )  # fmt: skip
        columns = [
            Column("rubric"), Column("panel"), Column("records"), Column("scored"), Column("tied"), Column("incomplete"),
            Column("all_said", "all gave a verdict"), Column("unanimous", "of these alike", share),
            Column("alpha", "alpha", number()),
        ]  # fmt: skip
        return Table("panel", "The panel's members with each other", rows, columns, self.notes())

    def _panel(self, dataset: str, rubric: str, members: list[str], part: pd.DataFrame, known: dict[Any, Any]) -> None:
        asks = list(dict.fromkeys(part["ask"]))
        if len(asks) > 1:
            raise StatisticsError(
                f"the judges of {rubric} were asked by {len(asks)} different wordings, so they are no panel",
                field="panel", mend="judge with all of them by the same version of the rubric, or name some with --judge",
            )  # fmt: skip
        first = part.iloc[0]
        stored = known.get((rubric, first["ask"], first["score_fp"]))
        when = (stored or {}).get("complete_when") or default_complete_when(rubric)
        words: dict[str, dict[str, _Word]] = {}
        clusters: dict[str, Any] = {}
        for (record, judge), group in part.groupby(["record_id", "judge"], sort=False):
            words.setdefault(str(record), {})[str(judge)] = _word(_rows(group), when)
            clusters[str(record)] = group.iloc[0]["cluster"]
        if self.how == "majority" and all(w.complete is None for said in words.values() for w in said.values()):
            raise StatisticsError(
                f"{rubric} gives no verdict of complete or not, so there is no majority", field="panel",
                mend="--panel mean, or a rubric with `complete_when`",
            )  # fmt: skip
        name = panel_name(members, self.how)
        self.names.append(name)
        rule = f"panel:{self.how}"
        self._rules.append(
            {**(stored or {"name": rubric, "ask": first["ask"], "construct": None}), "score_fp": rule}
            | {"complete_when": when if self.how == "mean" else ">= 1"}
        )
        tally: Counter[str] = Counter()
        at_fault: Counter[str] = Counter()
        for record, said in words.items():
            heard = [said.get(member, _Word()) for member in members]
            lacks = [
                f"{member} ({word.status})"
                for member, word in zip(members, heard, strict=True)
                if (word.raw if self.how == "mean" else word.complete) is None
            ]
            at_fault.update(lacks)
            raw, score, complete, status = self._join(heard, when)
            tally[status] += 1
            voted = sum(word.complete is True for word in heard), sum(word.complete is False for word in heard)
            reason = {TIED: f"{voted[0]} to {voted[1]}", LACKING: f"no word of {', '.join(lacks)}"}.get(status)
            self._made.append(
                dict.fromkeys(part.columns)
                | {
                    "dataset": dataset, "record_id": record, "cluster": clusters[record], "rubric": rubric, "judge": name,
                    "sample": 0, "ask": first["ask"], "score_fp": rule, "status": status, "reason": reason, "raw": raw,
                    "score": score, "complete": complete, "flags": [], "calls": [],
                }
            )  # fmt: skip
        self.rows.append(
            {
                "dataset": dataset, "rubric": rubric, "panel": name, "members": members, "records": len(words),
                "scored": tally["ok"], "tied": tally[TIED], "incomplete": tally[LACKING], "unscored_members": dict(at_fault),
                "_clusters": [str(clusters[record]) for record in words],
                "_verdicts": [
                    [-1 if (word := said.get(member, _Word()).complete) is None else int(word) for member in members]
                    for said in words.values()
                ],
            }
        )  # fmt: skip

    def _join(self, heard: list[_Word], when: str | None) -> tuple[float | None, float | None, bool | None, str]:
        if self.how == "mean":
            raws = [word.raw for word in heard if word.raw is not None]
            if len(raws) < len(heard):
                return None, None, None, LACKING
            raw = sum(raws) / len(raws)
            scores = [word.score for word in heard if word.score is not None]
            return raw, sum(scores) / len(scores) if len(scores) == len(heard) else None, _complete(raw, when), "ok"
        yes, no = sum(word.complete is True for word in heard), sum(word.complete is False for word in heard)
        if 2 * max(yes, no) > len(heard):
            return float(yes > no), float(yes > no), yes > no, "ok"
        return None, None, None, TIED if yes + no == len(heard) else LACKING


def _complete(raw: float, when: str | None) -> bool | None:
    import numpy as np

    found = complete_by_rule(np.array([raw], dtype=np.float64), when)
    return None if found is None or found[0] < 0 else not bool(found[0])


def _word(samples: list[dict[str, Any]], when: str | None) -> _Word:
    scored = [row for row in samples if row["status"] in SCORED and row["raw"] is not None]
    if not scored:
        return _Word(status=str(samples[0]["status"]) if samples[0]["status"] not in SCORED else "no score")
    raw = sum(float(row["raw"]) for row in scored) / len(scored)
    scores = [float(row["score"]) for row in scored if row["score"] is not None]
    complete = _complete(raw, when)
    if when is None:  # no rule to apply to a mean: the samples' own verdicts, where most agree
        votes = [bool(row["complete"]) for row in scored if row["complete"] is not None]
        complete = None if 2 * sum(votes) == len(votes) else 2 * sum(votes) > len(votes)
    return _Word(
        raw, sum(scores) / len(scores) if scores else None, complete, "no verdict" if complete is None else "ok"
    )


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def _joined(frame: pd.DataFrame, rows: list[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    more = [{name: row.get(name) for name in frame.columns} for row in rows]
    values: list[dict[str, Any]] = [*_rows(frame), *more]
    columns = {name: pd.Series([row[name] for row in values], dtype=object, name=name) for name in frame.columns}
    return pd.DataFrame(columns, columns=list(frame.columns))
