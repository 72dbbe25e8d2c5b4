"""`stability audit`: a blinded sheet for the clinician, two rounds, and what came back (001, 3.3.2).

A sheet shows an item number, the original and the variant, in an order that its recorded seed decides; no verdict, no kind, no
probability. Round 1 offers everything that passed the entailment models; round 2 only what the judges did not accept.
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from judgekit.errors import DataError, InputError, UsageError
from judgekit.limits import json_value, open_text, read_file
from judgekit.records import content_hash
from judgekit.stability.make import export_final
from judgekit.stability.study import NAME, Study, load_study, save, write_text
from judgekit.stats.agreement import cohen_kappa, encode, percent_agreement

__all__ = ["LABEL_CONFIG", "agreement", "import_sheet", "make_sheet", "write_sheet"]

COLUMNS: Final = ("item", "original", "variant", "preserved", "comment")
YES: Final = frozenset({"yes", "y", "true", "1", "preserved"})
NO: Final = frozenset({"no", "n", "false", "0", "changed"})
LABEL_CONFIG: Final = """<View>
  <Header value="Original"/><Text name="original" value="$original"/>
  <Header value="Reworded"/><Text name="variant" value="$variant"/>
  <Header value="Do both lead to the same clinical picture and ask the same?"/>
  <Choices name="preserved" toName="variant" choice="single" required="true"><Choice value="yes"/><Choice value="no"/></Choices>
  <TextArea name="comment" toName="variant" placeholder="What differs, if anything?"/>
</View>
"""


def make_sheet(out: str | Path, stage: int = 1, *, seed: int = 0) -> dict[str, Any]:
    """The sheet of a round: its seed and its items, ``{"item", "id", "original", "variant", "hash"}``, committed before it is shown.

    A sheet that exists with the same seed and the same texts is given again; another one is refused once an expert's verdicts on it were
    imported, since item numbers would then mean other variants. Raises InputError where there is nothing to offer.
    """
    study = load_study(out)
    offered = _offered(study, stage)
    order = sorted(offered, key=lambda row: str(row["id"]))
    random.Random(seed).shuffle(order)
    width = len(str(len(order)))
    items = [
        {
            "item": f"{stage}-{number:0{width}d}",
            "id": row["id"],
            "original": row["stem"],
            "variant": row["text"],
            "hash": _hash(row),
        }
        for number, row in enumerate(order, 1)
    ]
    sheet = {"round": stage, "seed": seed, "items": items}
    old = study.sheets.get(stage)
    if old is not None and (old["seed"], old["items"]) != (seed, items) and study.experts(stage):
        raise InputError(
            f"round {stage} has been read already ({', '.join(study.experts(stage))}), and this would be another sheet",
            file=str(out),
            mend=f"take seed {old['seed']}; when variants changed since then, begin another study",
        )
    with save(out) as store:
        store.put_study(NAME, f"sheet:{stage}", sheet)
        _index(store, sheet=stage)
    return sheet


def _offered(study: Study, stage: int) -> list[dict[str, Any]]:
    if stage not in (1, 2):
        raise UsageError(f"there is no round {stage}", field="round", mend="1 or 2")
    if study.verify is None:
        raise InputError(
            "nothing is verified yet", file=str(study.path), mend=f"judgekit stability verify {study.path}"
        )
    if stage == 2 and not study.judges:
        raise InputError(
            "round 2 offers what LLM judges rejected, and none has judged",
            file=str(study.path),
            mend=f"judgekit stability verify {study.path} --model M --model M2",
        )
    offered = study.round_one() if stage == 1 else study.round_two()
    if not offered:
        raise InputError(
            "no variant passed the entailment models" if stage == 1 else "the judges rejected nothing",
            file=str(study.path),
        )
    return offered


def _hash(row: Mapping[str, Any]) -> str:
    return content_hash([row["stem"], row["text"]])[:16]


def _index(store: Any, sheet: int | None = None, expert: tuple[int, str] | None = None) -> None:
    index = store.study(NAME, "audits") or {"sheets": [], "experts": []}
    if sheet is not None and sheet not in index["sheets"]:
        index["sheets"].append(sheet)
    if expert is not None and list(expert) not in index["experts"]:
        index["experts"].append(list(expert))
    store.put_study(NAME, "audits", index)


def write_sheet(sheet: Mapping[str, Any], path: Path) -> None:
    """Write a sheet: ``.csv`` for a spreadsheet, ``.json`` as tasks for Label Studio (with ``.config.xml`` beside it)."""
    if path.suffix.lower() == ".csv":
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\r\n")
        writer.writerow(COLUMNS)
        for item in sheet["items"]:
            writer.writerow([item["item"], item["original"], item["variant"], "", ""])
        write_text(path, "\ufeff" + stream.getvalue())
    elif path.suffix.lower() == ".json":
        tasks = [{"data": {name: item[name] for name in ("item", "original", "variant")}} for item in sheet["items"]]
        write_text(path, json.dumps(tasks, ensure_ascii=False, indent=1) + "\n")
        write_text(path.with_suffix(".config.xml"), LABEL_CONFIG)
    else:
        raise UsageError(
            f"a sheet is no {path.suffix or 'nameless'} file",
            field="out",
            mend="end in .csv, or in .json for Label Studio",
        )


def import_sheet(out: str | Path, path: Path, expert: str, stage: int = 1) -> dict[str, int]:
    """Take an expert's verdicts from a filled sheet (CSV, or Label Studio's JSON export); returns counts.

    ``preserved`` reads yes, y, true, 1 and no, n, false, 0 in any case; a blank is not read, and counted as ``blank``. Raises DataError,
    with its line, for another word, an unknown or repeated item, or a text that is not the one that was offered.
    """
    if not expert.strip():
        raise UsageError("an expert needs a name", field="expert", mend="a pseudonym will do")
    study = load_study(out)
    sheet = study.sheets.get(stage)
    if sheet is None:
        raise InputError(
            f"round {stage} has no sheet",
            file=str(out),
            mend=f"judgekit stability audit {out} --round {stage} --out FILE",
        )
    items = {item["item"]: item for item in sheet["items"]}
    rows = _read_csv(path) if path.suffix.lower() == ".csv" else _read_json(path)
    verdicts: dict[str, bool] = {}
    comments: dict[str, str] = {}
    seen: set[str] = set()
    blank = 0
    for line, row in rows:
        number = str(row.get("item") or "").strip()
        if number not in items:
            raise DataError(
                f"there is no item {number!r} in round {stage}",
                file=str(path),
                line=line,
                field="item",
                mend="keep the column as it was",
            )
        if number in seen:
            raise DataError(
                f"the item {number} comes twice", file=str(path), line=line, field="item", mend="keep one of them"
            )
        seen.add(number)
        item = items[number]
        if _flat(row.get("variant")) != _flat(item["variant"]):
            raise DataError(
                f"the variant of item {number} is not the text that was offered", file=str(path), line=line, field="variant",
                mend="import the sheet of this study, its texts untouched",
            )  # fmt: skip
        word = str(row.get("preserved") or "").strip().casefold()
        if word in YES or word in NO:
            verdicts[item["id"]] = word in YES
        elif word:
            raise DataError(
                f"{row.get('preserved')!r} is neither yes nor no",
                file=str(path),
                line=line,
                field="preserved",
                mend="yes, no, or nothing",
            )
        else:
            blank += 1
        if str(row.get("comment") or "").strip():
            comments[item["id"]] = str(row["comment"]).strip()
    with save(out) as store:
        payload = {"expert": expert, "round": stage, "seed": sheet["seed"], "verdicts": verdicts, "comments": comments}
        store.put_study(NAME, f"audit:{stage}:{expert}", payload)
        _index(store, expert=(stage, expert))
    export_final(out)
    yes = sum(verdicts.values())
    return {"offered": len(items), "yes": yes, "no": len(verdicts) - yes, "blank": blank + len(items) - len(seen)}


def _flat(value: Any) -> str:
    # Spreadsheets change line ends and outer spaces on their own.
    return " ".join(str(value or "").split())


def _read_csv(path: Path) -> list[tuple[int, dict[str, Any]]]:
    try:
        with open_text(path, DataError) as stream:
            reader = csv.DictReader(stream)
            lacking = [name for name in ("item", "variant", "preserved") if name not in (reader.fieldnames or [])]
            if lacking:
                raise DataError(
                    f"the sheet lacks the column {lacking[0]}", file=str(path), line=1, mend="keep the sheet's columns"
                )
            return [(reader.line_num, dict(row)) for row in reader]
    except UnicodeDecodeError as error:
        raise DataError("not UTF-8 text", file=str(path), mend="save the sheet as CSV UTF-8") from error


def _read_json(path: Path) -> list[tuple[int, dict[str, Any]]]:
    try:
        tasks = json_value(read_file(path, error=DataError).decode("utf-8-sig"))
    except ValueError as error:
        raise DataError("not JSON", file=str(path), mend="export the project from Label Studio as JSON") from error
    if not isinstance(tasks, list):
        raise DataError("not a list of tasks", file=str(path), mend="export the project from Label Studio as JSON")
    rows = []
    for number, task in enumerate(tasks, 1):
        row: dict[str, Any] = dict(task.get("data") or {}) if isinstance(task, dict) else {}
        done = (
            [one for one in (task.get("annotations") or []) if not one.get("was_cancelled")]
            if isinstance(task, dict)
            else []
        )
        for result in (done[-1].get("result") or []) if done else []:
            value = result.get("value") or {}
            if result.get("from_name") == "preserved":
                row["preserved"] = (value.get("choices") or [""])[0]
            elif result.get("from_name") == "comment":
                text = value.get("text") or ""
                row["comment"] = " ".join(text) if isinstance(text, list) else text
        rows.append((number, row))
    return rows


def agreement(study: Study, stage: int = 1, *, replicates: int = 2000, seed: int = 0) -> list[dict[str, Any]]:
    """Who agrees with whom in a round: every pair of experts, and each expert with the judges (round 1).

    Percent agreement and Cohen's kappa over what both decided, with intervals that resample questions; None with a reason where kappa is
    undefined, as it is when both say yes to everything.
    """
    offered = [row["id"] for row in study.round_one()] if stage == 1 else [row["id"] for row in study.round_two()]
    clusters = {row["id"]: row["cluster"] for row in study.variants}
    said: list[tuple[str, dict[str, bool | None]]] = [
        (name, dict(study.audits[stage, name])) for name in study.experts(stage)
    ]
    if stage == 1 and study.judges:
        said.append(("the judges", {one: study.judged(one) for one in offered}))
    rows = []
    for i, (first, one) in enumerate(said):
        for second, two in said[i + 1 :]:
            both = [key for key in offered if one.get(key) is not None and two.get(key) is not None]
            codes = [encode([side[key] for key in both], [False, True]) for side in (one, two)]
            groups = [clusters[key] for key in both]
            kappa = cohen_kappa(*codes, n_levels=2, clusters=groups, replicates=replicates, seed=seed)
            share = percent_agreement(*codes, n_levels=2, clusters=groups, replicates=0)
            rows.append(
                {
                    "first": first, "second": second, "n": len(both), "percent": share.value, "kappa": kappa.value,
                    "kappa_low": kappa.low, "kappa_high": kappa.high, "reason": kappa.reason or kappa.interval_reason,
                }
            )  # fmt: skip
    return rows


def differing(study: Study, stage: int = 1) -> list[str]:
    """Ids on which experts of a round differ: to be settled between them."""
    names: Sequence[str] = study.experts(stage)
    out = []
    for row in study.variants:
        said = {study.audits[stage, name][row["id"]] for name in names if row["id"] in study.audits[stage, name]}
        if len(said) > 1:
            out.append(row["id"])
    return out
