from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECRET = "sk-this-must-never-be-printed"


def doctor(*words: str, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    """The real command in a process of its own, with none of this machine's keys and proxies."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().endswith(("_API_KEY", "_TOKEN", "_PROXY")) and not name.startswith(("AWS_", "JUDGEKIT_"))
    }
    path = os.pathsep.join(filter(None, [env.pop("PYTHONPATH", ""), str(ROOT)]))
    return subprocess.run(
        [sys.executable, "-m", "judgekit", "doctor", *words],
        cwd=cwd or ROOT,
        env=clean | {"PYTHONPATH": path} | env,
        capture_output=True,
        text=True,
        check=False,
    )


def found(*words: str, code: int = 0, **more: Any) -> dict[str, Any]:
    done = doctor("--json", *words, **more)
    assert done.returncode == code, done.stdout + done.stderr
    return dict(json.loads(done.stdout))


def plant(site: Path, name: str, version: str) -> None:
    """An installed distribution, as the metadata of a real one would say it."""
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def messages(result: dict[str, Any]) -> str:
    return "\n".join(f"{row['level']}: {row['message']}" for row in result["findings"])


def test_a_sound_machine_is_well(tmp_path: Path) -> None:
    result = found(cwd=tmp_path, JUDGEKIT_CACHE=str(tmp_path / "cache"))
    assert result["ok"] is True
    assert result["python"]["version"] == sys.version.split()[0]
    assert result["packages"]["litellm"]["ok"] is True
    assert set(result["extras"]) == {"local", "report", "language", "metrics", "scispacy", "ray", "dev"}
    assert result["cache"] == {**result["cache"], "path": str(tmp_path / "cache"), "exists": False, "writable": True}
    assert 0 < result["cores"]["usable"] <= result["cores"]["present"]
    assert result["memory"]["total"] > 0
    assert list(tmp_path.iterdir()) == []  # it looks, and leaves nothing


def test_what_an_extra_lacks_is_named_with_the_words_that_install_it(tmp_path: Path) -> None:
    result = found()
    for name, extra in result["extras"].items():
        assert extra["complete"] == all(row["ok"] for row in extra["packages"].values()), name
        assert name in extra["install"] or "make scispacy" in extra["install"]
    page = doctor().stdout
    for name, extra in result["extras"].items():
        for package, row in extra["packages"].items():
            assert row["ok"] or package in page.split(f"[{name}]")[1].split("\n")[0]


def test_keys_are_named_and_never_shown() -> None:
    keys = {"OPENAI_API_KEY": SECRET, "ANTHROPIC_API_KEY": f" {SECRET}\n", "MISTRAL_API_KEY": "", "HF_TOKEN": SECRET}
    done = doctor("--json", **keys)
    result = json.loads(done.stdout)
    assert result["keys"] == ["ANTHROPIC_API_KEY", "HF_TOKEN", "MISTRAL_API_KEY", "OPENAI_API_KEY"]
    text = messages(result)
    assert "MISTRAL_API_KEY is set and empty" in text
    assert "ANTHROPIC_API_KEY has a quote or white space around it" in text
    page = doctor(**keys)
    for output in (done.stdout, done.stderr, page.stdout, page.stderr):
        assert SECRET not in output
        assert SECRET[:8] not in output


def test_a_proxy_that_would_catch_the_local_judge_is_a_warning() -> None:
    proxy = "http://user:hunter2@proxy.invalid:3128"
    done = doctor("--json", HTTPS_PROXY=proxy)
    result = json.loads(done.stdout)
    assert result["proxies"] == ["HTTPS_PROXY"]
    assert "hunter2" not in done.stdout
    assert "proxy" in messages(result)
    assert "proxy" not in messages(found(HTTPS_PROXY=proxy, NO_PROXY="localhost,127.0.0.1"))


@pytest.mark.parametrize("version", ["1.82.7", "1.82.8"])
def test_a_poisoned_release_is_an_error(tmp_path: Path, version: str) -> None:
    plant(tmp_path, "litellm", version)
    result = found(code=1, PYTHONPATH=str(tmp_path))
    assert result["ok"] is False
    assert f"error: litellm {version} is a poisoned release" in messages(result)


def test_a_model_that_is_another_package_under_its_name_is_a_warning(tmp_path: Path) -> None:
    plant(tmp_path / "squat", "en-core-sci-md", "999.9.9")
    squat = found(PYTHONPATH=str(tmp_path / "squat"))
    assert "warning: en-core-sci-md 999.9.9 is not scispaCy's model" in messages(squat)
    assert squat["ok"] is True
    plant(tmp_path / "real", "en_core_sci_md", "0.5.4")
    assert "en-core-sci-md" not in messages(found(PYTHONPATH=str(tmp_path / "real")))


def test_a_core_package_that_is_too_old_is_an_error(tmp_path: Path) -> None:
    plant(tmp_path, "pandas", "1.5.3")
    result = found(code=1, PYTHONPATH=str(tmp_path))
    assert "error: pandas is 1.5.3, judgekit needs pandas>=2.2" in messages(result)
    page = doctor(PYTHONPATH=str(tmp_path))
    assert page.returncode == 1
    assert page.stdout.rstrip().endswith("judgekit cannot work here.")


def test_folders_that_cannot_be_written_to_are_warnings(tmp_path: Path) -> None:
    # A file in the way, since root may write into folders of any mode.
    (tmp_path / "runs").write_text("")
    (tmp_path / "cache").write_text("")
    result = found(cwd=tmp_path, JUDGEKIT_CACHE=str(tmp_path / "cache" / "judgekit"))
    assert (result["runs"]["writable"], result["cache"]["writable"]) == (False, False)
    text = messages(result)
    assert f"the runs folder {tmp_path / 'runs'} cannot be written to" in text
    assert f"the cache folder {tmp_path / 'cache' / 'judgekit'} cannot be written to" in text


def test_the_local_judges_weights_are_found_or_the_words_that_fetch_them(tmp_path: Path) -> None:
    model = found(JUDGEKIT_CACHE=str(tmp_path))["models"]["local/smollm2-135m"]
    place = tmp_path / "models" / "smollm2-135m-b179c9523d0e.gguf"
    assert model == {"present": False, "path": str(place), "fetch": "judgekit models fetch smollm2-135m"}
    assert "not fetched: judgekit models fetch smollm2-135m" in doctor(JUDGEKIT_CACHE=str(tmp_path)).stdout
    place.parent.mkdir()
    place.write_bytes(b"GGUF")  # a download that was cut off is not the model
    assert found(JUDGEKIT_CACHE=str(tmp_path))["models"]["local/smollm2-135m"]["present"] is False


def test_a_gpu_is_read_from_the_driver(tmp_path: Path) -> None:
    smi = tmp_path / "nvidia-smi"
    smi.write_text("#!/bin/sh\necho 'NVIDIA H200, 143771, 580.95.05'\n")
    smi.chmod(0o755)
    result = found(PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert result["gpus"] == [{"name": "NVIDIA H200", "memory": 143771 * 1024**2, "driver": "580.95.05"}]
    smi.write_text("#!/bin/sh\nexit 9\n")
    broken = found(PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert broken["gpus"] == []
    assert "nvidia-smi is here and fails" in messages(broken)
