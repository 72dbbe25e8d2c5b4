"""A panel: several judges on one rubric become one more judge, by the mean of their scores or the majority of their verdicts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from judgekit.analysis.cells import meets_rule
from judgekit.analysis.result import Column, Table, number, share
from judgekit.analysis.said import Judged, Said
from judgekit.errors import StatisticsError, UsageError
from judgekit.exact import exact_mean

__all__ = ["HOWS", "panel_name", "panel_table", "panels"]

HOWS = ("mean", "majority")
TIED, LACKING = "panel tied", "panel incomplete"
RULES = {
    "mean": "the mean of all members' raw scores; a record that a member left unscored has none",
    "majority": "what more than half of all members say, an unscored member saying neither; a tie has no verdict",
}


def panel_name(members: Sequence[str], how: str) -> str:
    """The derived judge's notation: ``panel(a + b + c, mean)``."""
    return f"panel({' + '.join(members)}, {how})"


def panels(judged: Sequence[Judged], how: str) -> tuple[list[Judged], list[str]]:
    """A panel for every data set and rubric that two of the judges or more judged by, and what it could not score.

    Parameters
    ----------
    how : ``mean``: raw and score are the members' exact means, under the rubric's own `complete_when`; a record that any member left
        unscored is ``panel incomplete``. ``majority``: raw is 1 (complete) or 0, what more than half of *all* members say; without
        one, a record is ``panel tied`` where all members gave a verdict, else ``panel incomplete``. A tie is never broken.

    Raises
    ------
    UsageError : another `how`. StatisticsError : fewer than two judges under every rubric; members were asked by different
        wordings; a majority of a rubric that has no verdict.
    """
    if how not in HOWS:
        raise UsageError(f"a panel cannot be joined by {how!r}", field="panel", mend=f"one of {', '.join(HOWS)}")
    groups: dict[tuple[str, str | None], list[Judged]] = defaultdict(list)
    for one in judged:
        groups[one.dataset, one.rubric].append(one)
    made = [
        _panel(members, how)
        for members in groups.values()
        if len(members) > 1 and any(said.raw is not None for one in members for said in one.said.values())
    ]
    if not made:
        raise StatisticsError(
            "a panel needs two judges or more on one rubric", field="panel",
            mend="judge with further models: judgekit judge DATA --rubric R --model M1 --model M2",
        )  # fmt: skip
    notes = [f"panel: {RULES[how]}"]
    for panel in made:
        lost = Counter(said.why for said in panel.said.values() if said.raw is None)
        if lost:
            at_fault = Counter(str(name) for said in panel.said.values() for name in said.asked)
            told = "; ".join(f"{name}: {n}" for name, n in at_fault.items())
            notes.append(
                f"{panel.rubric}: the panel has no word on {sum(lost.values())} of {len(panel.said)} records ({lost[TIED]} tied, "
                f"{lost[LACKING]} incomplete{'; unscored by ' + told if told else ''})"
            )
    return made, notes


def _panel(members: Sequence[Judged], how: str) -> Judged:
    first = members[0]
    asks = {one.fingerprint for one in members}
    if len(asks) > 1:
        raise StatisticsError(
            f"the judges of {first.rubric} were asked by {len(asks)} different wordings, so they are no panel", field="panel",
            mend="judge with all of them by the same version of the rubric, or name some with --judge",
        )  # fmt: skip
    if how == "majority" and all(said.complete is None for one in members for said in one.said.values()):
        raise StatisticsError(
            f"{first.rubric} gives no verdict of complete or not, so there is no majority", field="panel",
            mend="--panel mean, or a rubric with `complete_when`",
        )  # fmt: skip
    names = tuple(str(one.judge) for one in members)
    records = list(dict.fromkeys(key for one in members for key in one.said))
    said = {key: _join([one.said.get(key) for one in members], names, how, first.complete_when) for key in records}
    when = first.complete_when if how == "mean" else ">= 1"
    return Judged(
        first.dataset, first.rubric, panel_name(names, how), said, first.fingerprint, first.construct, when, names
    )


def _join(heard: Sequence[Said | None], names: Sequence[str], how: str, when: str | None) -> Said:
    words = [Said(why="not judged") if one is None else one for one in heard]
    lacks = tuple(
        f"{name} ({word.why or 'no verdict'})"
        for name, word in zip(names, words, strict=True)
        if (word.raw if how == "mean" else word.complete) is None
    )
    if how == "mean":
        raws = [word.raw for word in words if word.raw is not None]
        if len(raws) < len(words):
            return Said(why=LACKING, asked=lacks, unscored=1)
        raw = float(exact_mean(raws))
        scores = [word.score for word in words if word.score is not None]
        score = float(exact_mean(scores)) if len(scores) == len(words) else None
        return Said(raw, score, None if when is None else meets_rule(raw, when))
    yes, no = sum(word.complete is True for word in words), sum(word.complete is False for word in words)
    if 2 * max(yes, no) > len(words):
        return Said(float(yes > no), float(yes > no), yes > no)
    return Said(why=TIED if yes + no == len(words) else LACKING, asked=lacks, unscored=1, value=f"{yes} to {no}")


def panel_table(judged: Sequence[Judged], clusters: Any, notes: Sequence[str], **boot: Any) -> Table:
    """The members of each panel with each other: how often all say the same, alpha of their verdicts, and what was not scored.

    `clusters` gives the question of a data set's record.
    """
    import numpy as np

    from judgekit.stats.agreement import krippendorff_alpha

    rows = []
    for panel in (one for one in judged if one.members):
        members = [
            one
            for name in panel.members
            for one in judged
            if (one.dataset, one.rubric, one.judge) == (panel.dataset, panel.rubric, name)
        ]
        codes = np.array(
            [
                [-1 if (word := one.said.get(key, Said()).complete) is None else int(word) for one in members]
                for key in panel.said
            ],
            dtype=np.int64,
        )  # fmt: skip
        found = krippendorff_alpha(
            codes, n_levels=2, clusters=[clusters(panel.dataset, key) for key in panel.said], **boot
        )
        all_said = (codes >= 0).all(axis=1)
        alike = int((codes[all_said] == codes[all_said][:, :1]).all(axis=1).sum())
        lost = Counter(said.why for said in panel.said.values() if said.raw is None)
        rows.append(
            {
                "dataset": panel.dataset, "rubric": panel.rubric, "panel": panel.judge, "members": list(panel.members),
                "records": len(panel.said), "scored": len(panel.said) - sum(lost.values()), "tied": lost[TIED],
                "incomplete": lost[LACKING],
                "unscored_members": dict(Counter(str(name) for said in panel.said.values() for name in said.asked)),
                "all_said": int(all_said.sum()), "unanimous": alike / int(all_said.sum()) if all_said.any() else None,
                "alpha": found.value, "alpha_low": found.low, "alpha_high": found.high, "reason": found.reason,
            }
        )  # fmt: skip
    columns = [
        Column("rubric"), Column("panel"), Column("records"), Column("scored"), Column("tied"), Column("incomplete"),
        Column("all_said", "all gave a verdict"), Column("unanimous", "of these alike", share), Column("alpha", "alpha", number()),
    ]  # fmt: skip
    return Table("panel", "The panel's members with each other", rows, columns, list(notes))
