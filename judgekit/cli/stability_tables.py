"""The tables that `judgekit stability` prints."""

from __future__ import annotations

from typing import Any

from judgekit.analysis.result import Column, Result, Table, interval, number, pvalue, share, signature

__all__ = ["asked", "audited", "judged", "made", "scored", "verified"]


def _funnel(study: Any) -> Table:
    rows = [
        {**row, "why": "; ".join(f"{n} {why}" for why, n in row["reasons"].items()) or None} for row in study.funnel()
    ]
    columns = [
        Column("stage"),
        Column("entered"),
        Column("kept"),
        Column("dropped"),
        Column("held", "back later", lambda n: str(n) if n else "-", optional=True),
        Column("why", "dropped because"),
    ]
    return Table("funnel", "From wanted rewordings to verified ones", rows, columns)


def _sign(study: Any) -> str:
    make, verify = study.make, study.verify or {}
    return signature(
        study=make["dataset"], questions=len(make["questions"]), kinds=len(make["kinds"]), writer=make["writer"], temperature=make["temperature"],
        rubric=f"{make['rubric']}@{make['ask'][:8]}", alike=f"{make['alike']:g}", tries=make["tries"], ner=make["ner"] or "none", rules="drop" if study.rules_drop else "flag",
        nli=verify.get("versions"), k=verify.get("k"), entail=verify.get("entail"), contradict=verify.get("contradict"),
        judges=verify.get("judges"), seeds=[f"round{n}:{sheet['seed']}" for n, sheet in study.sheets.items()],
    )  # fmt: skip


def made(study: Any) -> Result:
    """What `make` left: the funnel so far, kinds, and every broken rule."""
    kinds = []
    for kind in study.make["kinds"]:
        mine = [row for row in study.variants if row["kind"] == kind]
        counts = {
            status: sum(row["status"] == status for row in mine)
            for status in ("unchanged", "alike", "failed", "pending")
        }
        fine = sum(row["status"] == "distinct" and not (study.rules_drop and row["violations"]) for row in mine)
        broken = sum(bool(row["violations"]) for row in mine)
        kinds.append(
            {
                "kind": kind,
                "wanted": len(mine),
                "kept": fine,
                "broken": broken,
                **counts,
                "tries": sum(row["tries"] for row in mine),
            }
        )
    rules = [{"id": row["id"], "violation": item["says"]} for row in study.variants for item in row["violations"]]
    names = ["kind", "wanted", "kept", "unchanged", "alike", "failed", "broken", "pending", "tries"]
    return Result(
        [
            Table(
                "kinds",
                "Rewordings by kind",
                kinds,
                [Column(name, "rule broken" if name == "broken" else None) for name in names],
            ),
            Table("violations", "Broken rules", rules, [Column("id", "variant"), Column("violation")], shown=30),
            _funnel(study),
        ],
        _sign(study),
        list(study.make["notes"]),
    )


def verified(study: Any) -> Result:
    """What `verify` left: the sweep and the funnel."""
    from judgekit.stability.verify import sweep

    rows = [row for row in sweep(study) if row["current"] or row["best"] or round(row["threshold"] * 100) % 5 == 0]
    for row in rows:
        row["mark"] = (
            ", ".join(word for word, flag in (("in use", row["current"]), ("best agreement", row["best"])) if flag)
            or None
        )
    columns = [
        Column("threshold", "entailment >=", number(2)), Column("accepted"), Column("yes", "judges YES"), Column("no", "judges NO"),
        Column("undecided", optional=True), Column("kept_yes", "of all YES", share, optional=True), Column("precision", "YES of decided", share, optional=True),
        Column("agreement", "agreement", share, optional=True), Column("mark", ""),
    ]  # fmt: skip
    notes = list(study.verify["notes"])
    table = Table("sweep", "What each entailment threshold accepts, and what the judges say of it", rows, columns)
    if not study.judges:
        table.notes.append(
            "no judge has read the pairs, so that no threshold can be told from another: --model M --model M2"
        )
    return Result([table, _funnel(study)], _sign(study), [*notes, *study.missing_stages()])


def audited(study: Any) -> Result:
    """The funnel, and how experts and judges agree."""
    from judgekit.stability.audit import agreement, differing

    tables = [_funnel(study)]
    columns = [
        Column("first"),
        Column("second"),
        Column("n"),
        Column("percent", "agreement", share),
        Column("kappa", "kappa [95 %]", interval("kappa"), whole=True),
    ]
    notes = study.missing_stages()
    for stage in (1, 2):
        rows = agreement(study, stage)
        if rows:
            tables.append(Table(f"agreement_{stage}", f"Agreement in round {stage}", rows, columns))
        different = differing(study, stage)
        if different:
            notes.append(
                f"round {stage}: experts differ on {len(different)} variants, which count as changed: {', '.join(different[:10])}"
            )
    return Result(tables, _sign(study), notes)


def asked(answers: list[Any]) -> Result:
    """How many questions each model answered, and with a probability."""
    rows = []
    for one in answers:
        reasons: dict[str, int] = {}
        for key, why in one.reasons.items():
            if one.answer[key] is None:
                reasons[why] = reasons.get(why, 0) + 1
        n = len(one.answer)
        done = sum(value is not None for value in one.answer.values())
        sure = sum(value is not None for value in one.confidence.values())
        doubts = [why for key, why in one.reasons.items() if one.answer[key] is not None]
        rows.append(
            {"model": one.model, "way": one.entry["way"], "asked": n, "answered": done, "with_probability": sure,
             "why": "; ".join(f"{count} {why}" for why, count in reasons.items()) or None, "reason": doubts[0] if doubts and not sure else None}
        )  # fmt: skip
    names = [
        Column("model"),
        Column("way"),
        Column("asked"),
        Column("answered"),
        Column("with_probability", "with a probability"),
        Column("why", "not answered because"),
    ]
    return Result(
        [Table("models", "Answers to questions and their rewordings", rows, names)],
        signature(models=[one.model for one in answers]),
    )


def scored(found: Any, by_question: bool) -> Result:
    """Scores of models, kinds, pairs, confidence and, where asked, questions."""
    draw = found.draw
    models = [
        Column("model"), Column("scored", "questions"), Column("variants"), Column("unanswered"),
        Column("mvs", "MVS [95 %]", interval("mvs"), whole=True), Column("confidence_change", "confidence change [95 %]", interval("confidence_change"), whole=True),
        Column("wci", "WCI [95 %]", interval("wci"), whole=True), Column("wci_rarefied", f"WCI of {draw} variants [95 %]", interval("wci_rarefied"), whole=True),
        Column("right_to_wrong", "right to wrong"), Column("wrong_to_right", "wrong to right"), Column("accuracy", "accuracy as asked [95 %]", interval("accuracy"), whole=True),
    ]  # fmt: skip
    kinds = [
        Column("model"),
        Column("kind"),
        Column("mvs_n", "questions"),
        Column("mvs", "MVS [95 %]", interval("mvs"), whole=True),
        Column("confidence_change", "confidence change", number()),
    ]
    pairs = [
        Column("first"), Column("second"), Column("measure"), Column("quantisation", "same weights", lambda flag: "yes" if flag else "-", optional=True),
        Column("difference_n", "questions"), Column("difference", "second - first [95 %]", interval("difference", signed=True), whole=True),
        Column("effect", "d", number(2, signed=True)), Column("p", "p", pvalue), Column("p_holm", "p Holm", pvalue), Column("p_bonferroni", "p Bonferroni", pvalue),
    ]  # fmt: skip
    confidence = [
        Column("model"), Column("variants"), Column("confidence", "mean confidence", number()), Column("accuracy", "accuracy", number()),
        Column("over_confidence", "over-confidence [95 %]", interval("over_confidence", signed=True), whole=True), Column("pearson", "Pearson", number()), Column("spearman", "Spearman", number()),
    ]  # fmt: skip
    tables = [
        Table("models", "Stability by model (means over questions)", found.models, models),
        Table("kinds", "By kind of rewording", found.kinds, kinds),
        Table("comparisons", "Models in pairs, question by question", found.comparisons, pairs),
        Table("confidence", "Confidence against accuracy, on the variants", found.confidence, confidence),
    ]
    if by_question:
        columns = [
            Column("model"),
            Column("question"),
            Column("answer"),
            Column("truth"),
            Column("n"),
            Column("changed"),
            Column("mvs", "MVS", number()),
            Column("confidence_change", "confidence change", number()),
            Column("wci", "WCI"),
        ]
        tables.append(Table("questions", "By question", found.questions, columns))
    return Result(tables, found.signature, found.notes)


def judged(found: Any) -> Result:
    """A judge under rewording: every wording, and the mean over all."""

    def signed(name: str) -> Column:
        return Column(
            name,
            {
                "shift": "score shift [95 %]",
                "auc_change": "AUC change [95 %]",
                "workload_change": "workload change [95 %]",
            }[name],
            interval(name, 2 if name == "shift" else 3, signed=True),
            whole=True,
            optional=True,
        )

    columns = [
        Column("wording"), Column("scored"), Column("level_mvs", "level changes [95 %]", interval("level_mvs"), whole=True), Column("level_excess", "due to wording", number(signed=True)),
        Column("verdict_mvs", "verdict changes [95 %]", interval("verdict_mvs"), whole=True), Column("verdict_excess", "due to wording", number(signed=True)),
        signed("shift"), Column("auc", "AUC", number(), optional=True), signed("auc_change"), Column("workload", "workload", number(), optional=True), signed("workload_change"),
    ]  # fmt: skip
    overall = [
        {
            "what": kind,
            **{name: found.overall.get(f"{kind}_{name}{end}") for name in ("mvs", "noise", "excess") for end in ("",)},
            **{
                f"{name}_{end}": found.overall.get(f"{kind}_{name}_{end}")
                for name in ("mvs", "noise", "excess")
                for end in ("low", "high")
            },
            "reason": found.overall.get(f"{kind}_mvs_reason") or found.overall.get(f"{kind}_excess_reason"),
        }
        for kind in ("level", "verdict")
    ]
    heads = [
        Column("what"),
        Column("mvs", "changes [95 %]", interval("mvs"), whole=True),
        Column("noise", "at the same wording [95 %]", interval("noise"), whole=True),
        Column("excess", "due to the wording [95 %]", interval("excess", signed=True), whole=True),
    ]
    notes = [f"{way} does not apply: {why}" for way, why in found.skipped.items()] + found.notes
    title = f"{found.judge} under {found.rubric.name}: verdicts when only the words change"
    return Result(
        [
            Table("rows", title, found.rows, columns),
            Table("overall", f"Over {found.overall['wordings']} rewordings", overall, heads),
        ],
        found.signature,
        notes,
    )
