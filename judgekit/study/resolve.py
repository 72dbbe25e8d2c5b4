"""What a study names, found: record sets, compiled rubrics, judges and metrics, grouped into the work of single commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from judgekit.analysis.options import Analysis, find
from judgekit.errors import JudgekitError, UsageError
from judgekit.judging.api import specs_for
from judgekit.judging.engine.units import Options
from judgekit.judging.provider.prices import Prices
from judgekit.judging.provider.types import JudgeSpec
from judgekit.safety import is_loopback, without_secrets
from judgekit.study.spec import Answers, StudyFile

if TYPE_CHECKING:
    from judgekit.data import RecordSet
    from judgekit.metrics.base import Metric
    from judgekit.rubric import CompiledRubric

__all__ = ["Block", "Resolved", "problems", "resolve"]

WRITTEN = ("out", "markdown", "figures", "picture")
"""Options of analyses that name what is written."""


@dataclass(frozen=True)
class Block:
    """What one ``judgekit judge`` would do: these rubrics, on these data sets, by these judges."""

    data: tuple[str, ...]
    rubrics: tuple[CompiledRubric, ...]
    judges: tuple[JudgeSpec, ...]
    samples: int


@dataclass
class Resolved:
    """A study whose names are found. `sets` holds the data sets by name; a set of `answers` joins them when it is written."""

    file: StudyFile
    out: Path
    sets: dict[str, RecordSet] = field(default_factory=dict)
    known: dict[str, set[str]] = field(default_factory=dict)
    whole: dict[str, RecordSet] = field(default_factory=dict)
    answers: list[tuple[Answers, Block]] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    metrics: list[tuple[tuple[str, ...], list[Metric]]] = field(default_factory=list)
    analyses: list[tuple[Analysis, str | None]] = field(default_factory=list)

    def options(self, samples: int) -> Options:
        """How the calls of a block are made."""
        said = self.file.study.running
        return Options(
            samples=samples,
            max_cost=said.max_cost,
            allow_unknown_price=said.allow_unknown_price,
            price_in=self._prices("price_in"),
            price_out=self._prices("price_out"),
            concurrency=said.concurrency,
            rpm=said.rpm,
            tpm=said.tpm,
            timeout_s=said.timeout,
            reasks=said.reasks,
            max_chars=said.max_chars,
            local_only=said.local_only,
        )

    def _prices(self, name: str) -> Prices:
        """What ``running`` says, under what the judges say of themselves."""
        said = getattr(self.file.study.running, name)
        own = {one.model: price for one in self.file.study.judges if (price := getattr(one, name)) is not None}
        if not own:
            return cast(Prices, said)
        others = said if isinstance(said, dict) else {} if said is None else {"": said}
        return {**own, **others} if isinstance(said, dict) else {**others, **own}


def resolve(
    file: StudyFile,
    *,
    out: str | Path | None = None,
    models: Sequence[str] = (),
    api_base: str | None = None,
    trust: bool = False,
) -> Resolved:
    """Find everything that a study names.

    Parameters
    ----------
    out : the run's folder, over the study's own.
    models, api_base : judges that stand in for all of the study's, and where they are.
    trust : the person's word that the file may name addresses of other machines, have the keys for them, and write outside the run.

    Raises
    ------
    JudgekitError, the first that `problems` lists.
    """
    found, wrong = _walk(file, out, models, api_base, trust)
    if wrong:
        raise wrong[0]
    return found


def problems(file: StudyFile, *, trust: bool = False) -> list[JudgekitError]:
    """Everything that is wrong with a study beyond its form: names that lead nowhere, options that no command has, and what only a file
    that the person trusts may do."""
    return _walk(file, None, (), None, trust)[1]


def _walk(
    file: StudyFile, out: str | Path | None, models: Sequence[str], api_base: str | None, trust: bool
) -> tuple[Resolved, list[JudgekitError]]:
    study = file.study
    found = Resolved(file, Path(out or study.out or Path("runs") / study.study))
    wrong: list[JudgekitError] = []
    walk = _Walk(file, found, wrong)
    if not trust:
        walk.stays_inside(out is None, bool(models))
    walk.data()
    judges = walk.judges(models, api_base, trust)
    walk.answers(judges, standing_in=bool(models))
    walk.rubrics(judges, standing_in=bool(models))
    walk.metrics()
    for place, one in enumerate(study.analyses):
        for name, options in one.items():
            with walk.at("analyses", place, name):
                kind = find(name)
                if "run" not in kind.reads:
                    raise UsageError(f"{name} reads no run", mend="run it as a command of its own")
                picture = options.get("picture")
                if isinstance(picture, list):
                    raise UsageError("picture takes one value", mend="name one file")
                found.analyses.append(
                    (kind.of({key: one for key, one in options.items() if key != "picture"}), picture)
                )
    return found, wrong


class _Walk:
    def __init__(self, file: StudyFile, found: Resolved, wrong: list[JudgekitError]) -> None:
        self.file, self.study, self.found, self.wrong = file, file.study, found, wrong

    def at(self, *place: str | int) -> _Place:
        return _Place(self, place)

    def fail(self, message: str, *place: str | int, mend: str | None = None) -> None:
        self.wrong.append(self.file.error(message, *place, mend=mend))

    def data(self) -> None:
        from judgekit.data import load_records

        for place, one in enumerate(self.study.data):
            with self.at("data", place):
                records = load_records(
                    self.file.beside(one.source), card=one.card and self.file.beside(one.card), dataset=one.name
                )
                if records.name in self.found.sets:
                    self.fail(f"two data sets are called {records.name!r}", "data", place, mend="give one a `name`")
                    continue
                self.found.whole[records.name] = records
                self.found.known[records.name] = {record.id for record in records}
                self.found.sets[records.name] = records[: one.limit] if one.limit else records

    def stays_inside(self, own_out: bool, standing_in: bool) -> None:
        """Refuse what a stranger's file could do with this machine: send records or keys to its author, write over files."""
        mend = "if you know who wrote the file and want this, run it with --trust"
        home, run = Path.cwd().resolve(), self.found.out.resolve()
        if (
            own_out
            and self.study.out
            and not any(run.is_relative_to(one) for one in (home, self.file.path.parent.resolve()))
        ):
            self.fail(
                f"the run would lie outside of this folder, in {self.found.out}",
                "out",
                mend=f"name it with --out, or {mend}",
            )
        for place, one in enumerate(() if standing_in else self.study.judges):
            where = one.api_base if one.api_base is not None else one.model if "://" in one.model else None
            if where is not None and not is_loopback(where) and not one.model.startswith("replay/"):
                field = "api_base" if one.api_base is not None else "model"
                self.fail(
                    f"the study would send records to an address of its own: {without_secrets(where)}",
                    "judges", place, field, mend=f"name judges yourself (--model M --api-base URL), or {mend}",
                )  # fmt: skip
        for place, analysis in enumerate(self.study.analyses):
            for name, options in analysis.items():
                for key, value in options.items():
                    for target in (value if isinstance(value, list) else [value]) if key in WRITTEN else []:
                        if target is not None and not Path(target).resolve().is_relative_to(run):
                            self.fail(
                                f"the analysis would write outside of the run: {target}",
                                "analyses", place, name, key, mend=f"write {self.found.out / Path(target).name}, or {mend}",
                            )  # fmt: skip

    def judges(self, models: Sequence[str], api_base: str | None, trust: bool) -> list[JudgeSpec]:
        specs: list[JudgeSpec] = []
        if models:
            return specs_for(models, {}, api_base, None)
        for place, one in enumerate(self.study.judges):
            model = one.model
            if model.startswith("replay/"):
                model = "replay/" + self.file.beside(model.removeprefix("replay/"))
            spec = specs_for([model], one.sampling, one.api_base, one.endpoint)[0]
            if one.api_base is not None and not trust:
                spec = replace(spec, keyless=True)
            if spec.notation in {other.notation for other in specs}:
                self.fail(f"the judge {spec.notation} is named twice", "judges", place, mend="name it once")
                continue
            specs.append(spec)
        if not specs and (self.study.rubrics or self.study.answers):
            self.fail("nobody judges", mend="name models under `judges`, or with --model")
        return specs

    def answers(self, judges: list[JudgeSpec], *, standing_in: bool) -> None:
        for place, one in enumerate(self.study.answers):
            here = ("answers", place)
            names = self.names(one.data, list(self.found.sets), (*here, "data"))
            who = tuple(judges) if standing_in else self.chosen(one.judges, judges, (*here, "judges"))
            writers = [x for i, name in enumerate(one.writers) if (x := self.rubric(name, True, (*here, "writers", i)))]
            if one.name in self.found.sets or one.name in [other.name for other, _ in self.found.answers]:
                self.fail(f"two data sets are called {one.name!r}", *here, "name", mend="give the answers another name")
            elif writers:
                self.found.answers.append((one, Block(names, tuple(writers), who, one.samples)))

    def rubrics(self, judges: list[JudgeSpec], *, standing_in: bool) -> None:
        written = [one.name for one, _ in self.found.answers]
        groups: dict[tuple[Any, ...], list[CompiledRubric]] = {}
        seen: list[str] = []
        for place, one in enumerate(self.study.rubrics):
            rubric = self.rubric(one.rubric, False, ("rubrics", place))
            if rubric is None:
                continue
            if rubric.name in seen and one.data is None:
                self.fail(f"the rubric {rubric.name} is named twice", "rubrics", place, mend="name it once")
                continue
            seen.append(rubric.name)
            names = self.names(one.data, written or list(self.found.sets), ("rubrics", place, "data"))
            who = tuple(judges) if standing_in else self.chosen(one.judges, judges, ("rubrics", place, "judges"))
            key = (names, tuple(spec.notation for spec in who), one.samples or self.study.samples)
            groups.setdefault(key, []).append(rubric)
        by_name = {spec.notation: spec for spec in judges}
        for (names, who, samples), rubrics in groups.items():
            if names and who:
                self.found.blocks.append(Block(names, tuple(rubrics), tuple(by_name[name] for name in who), samples))

    def metrics(self) -> None:
        from judgekit.metrics.base import parse_metric

        written = [one.name for one, _ in self.found.answers]
        groups: dict[tuple[str, ...], list[Metric]] = {}
        for place, one in enumerate(self.study.metrics):
            with self.at("metrics", place):
                metric = parse_metric(one.metric)
                names = self.names(one.data, written or list(self.found.sets), ("metrics", place, "data"))
                group = groups.setdefault(names, [])
                if metric.notation in {other.notation for other in group}:
                    self.fail(f"the metric {metric.notation} is named twice", "metrics", place, mend="name it once")
                    continue
                group.append(metric)
        self.found.metrics = list(groups.items())

    def rubric(self, name: str, writes: bool, place: tuple[str | int, ...]) -> CompiledRubric | None:
        from judgekit.rubric import load_rubric

        with self.at(*place):
            rubric = load_rubric(self.file.beside(name))
            if (rubric.output == "text") == writes:
                return rubric
            if writes:
                self.fail(f"{name} gives verdicts, not texts", *place, mend="name a rubric with `output: text`")
            else:
                self.fail(f"{name} writes texts and gives no verdict", *place, mend="name it under answers: writers")
        return None

    def names(self, wanted: list[str] | None, default: list[str], place: tuple[str | int, ...]) -> tuple[str, ...]:
        known = [*self.found.sets, *(one.name for one, _ in self.found.answers)]
        for i, name in enumerate(wanted or ()):
            if name not in known and len(self.found.sets) == len(self.study.data):
                self.fail(f"the study has no data set {name!r}", *place, i, mend=f"it has {', '.join(known)}")
        return tuple(name for name in wanted if name in known) if wanted else tuple(default)

    def chosen(
        self, wanted: list[str] | None, judges: list[JudgeSpec], place: tuple[str | int, ...]
    ) -> tuple[JudgeSpec, ...]:
        for i, name in enumerate(wanted or ()):
            if name not in {word for spec in judges for word in (spec.model, spec.notation)}:
                have = ", ".join(spec.notation for spec in judges) or "none"
                self.fail(f"the study has no judge {name!r}", *place, i, mend=f"it has {have}")
        return tuple(spec for spec in judges if wanted is None or {spec.model, spec.notation} & set(wanted))


class _Place:
    """Collects a JudgekitError; one that names no file of its own is given its place in the study."""

    def __init__(self, walk: _Walk, place: tuple[str | int, ...]) -> None:
        self.walk, self.place = walk, place

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        if not isinstance(error, JudgekitError):
            return False
        file = self.walk.file
        if error.file is None:
            error.file, error.line = file.shown, file.line(*self.place)
            error.field = ".".join(map(str, self.place))
        else:
            error.message += f" (named in {file.shown}:{file.line(*self.place)})"
            error.args = (error.message,)
        self.walk.wrong.append(error)
        return True
