"""Fetching over real HTTP: resumed, checked, kept, or explained."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from judgekit.data import load_records
from judgekit.data.cards import Card, load_card
from judgekit.data.fetch import cached, fetch, locate
from judgekit.errors import DataError

BODY = b"".join(b'{"id": "r%04d", "response": "answer number %d"}\n' % (n, n) for n in range(20_000))


class Server(ThreadingHTTPServer):
    """Serves BODY; `cut` bytes are sent of the next reply before the line drops, `ranges` says whether Range is obeyed."""

    cut: int | None = None
    ranges = True
    asked: list[str | None]

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        if self.path != "/data.jsonl":
            self.send_error(404)
            return
        wanted = self.headers.get("Range")
        self.server.asked.append(wanted)
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and self.server.ranges else 0
        if start >= len(BODY):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(BODY) - start))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(BODY) - 1}/{len(BODY)}")
        self.end_headers()
        end = len(BODY) if self.server.cut is None else start + self.server.cut
        self.server.cut = None
        self.wfile.write(BODY[start:end])


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUDGEKIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def make(folder: Path, url: str, more: str = "") -> Card:
    path = folder / "mine.yaml"
    path.write_text(
        "card: mine\ntitle: Mine\nlicence: MIT\ncitation: none\nhomepage: https://example.org/mine\n"
        f"source:\n  - url: {url}/data.jsonl\n    file: data.jsonl\n{more}native: true\n",
        encoding="utf-8",
    )
    return load_card(path)


def test_a_file_is_fetched_once_with_progress_and_kept(tmp_path: Path, server: Server, cache: Path) -> None:
    digest = hashlib.sha256(BODY).hexdigest()
    card = make(tmp_path, server.url, f"    bytes: {len(BODY)}\n    sha256: {digest}\n")
    seen: list[tuple[int, int | None]] = []
    (path,) = fetch(card, progress=lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == BODY
    assert path.is_relative_to(cache)
    assert seen[-1] == (len(BODY), len(BODY))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    fetch(card)
    assert server.asked == [None]
    fetch(card, again=True)
    assert server.asked == [None, None]
    assert locate(card) == path
    assert len(load_records(locate(card), card=card)) == 20_000


def test_a_file_that_was_cut_off_goes_on_where_it_ended(tmp_path: Path, server: Server) -> None:
    card = make(tmp_path, server.url)
    server.cut = 300_000
    with pytest.raises(DataError, match=r"300,000 of|ended|IncompleteRead|cannot be reached"):
        fetch(card)
    assert not cached(card, card.spec.source[0]).exists()
    (path,) = fetch(card)
    assert path.read_bytes() == BODY
    assert server.asked == [None, "bytes=300000-"]


def test_a_server_that_cannot_resume_begins_anew_and_nothing_is_doubled(tmp_path: Path, server: Server) -> None:
    card = make(tmp_path, server.url)
    server.cut, server.ranges = 300_000, False
    with pytest.raises(DataError):
        fetch(card)
    (path,) = fetch(card)
    assert path.read_bytes() == BODY


def test_a_leftover_longer_than_the_file_is_thrown_away(tmp_path: Path, server: Server) -> None:
    card = make(tmp_path, server.url)
    target = cached(card, card.spec.source[0])
    target.parent.mkdir(parents=True)
    target.with_name("data.jsonl.part").write_bytes(BODY + b"more")
    (path,) = fetch(card)
    assert path.read_bytes() == BODY
    assert server.asked == [f"bytes={len(BODY) + 4}-", None]


def test_a_wrong_size_or_checksum_is_thrown_away(tmp_path: Path, server: Server) -> None:
    wrong = "0" * 64
    card = make(tmp_path, server.url, f"    sha256: '{wrong}'\n")
    with pytest.raises(DataError, match="sha256"):
        fetch(card)
    card = make(tmp_path, server.url, "    bytes: 12\n")
    with pytest.raises(DataError, match="the card says 12"):
        fetch(card)
    folder = cached(card, card.spec.source[0]).parent
    assert list(folder.iterdir()) == []


def test_a_closed_network_tells_the_steps_by_hand_and_they_work(tmp_path: Path) -> None:
    card = make(tmp_path, "http://127.0.0.1:9")
    with pytest.raises(DataError, match="cannot be reached") as caught:
        fetch(card)
    for word in ("https://example.org/mine", "data.jsonl", "judgekit data fetch mine", "--from"):
        assert word in (caught.value.mend or "")
    mine = tmp_path / "by hand.jsonl"
    mine.write_bytes(BODY)
    for origin in (str(mine), mine.as_uri()):
        (path,) = fetch(card, origin=origin)
        assert path.read_bytes() == BODY
    with pytest.raises(DataError, match="no such file"):
        fetch(card, origin=tmp_path / "none")
    with pytest.raises(DataError, match="cannot fetch from ftp"):
        fetch(card, origin="ftp://127.0.0.1/x")


def test_another_url_stands_in_for_the_owners(tmp_path: Path, server: Server) -> None:
    card = make(tmp_path, "http://127.0.0.1:9")
    (path,) = fetch(card, origin=f"{server.url}/data.jsonl")
    assert path.read_bytes() == BODY
    with pytest.raises(DataError, match="404"):
        fetch(card, origin=f"{server.url}/other.jsonl")


def test_one_file_of_several_must_be_named(tmp_path: Path, server: Server) -> None:
    card = make(tmp_path, server.url, f"  - url: {server.url}/data.jsonl\n    file: second.jsonl\n")
    with pytest.raises(DataError, match="2 files"):
        fetch(card, origin=tmp_path / "x")
    (path,) = fetch(card, file="second.jsonl")
    assert path.name == "second.jsonl"
    with pytest.raises(DataError, match="no file 'third'"):
        fetch(card, file="third")


def test_a_data_set_that_is_not_here_says_how_to_get_it() -> None:
    with pytest.raises(DataError, match="not here yet") as caught:
        load_records("kqa")
    assert caught.value.mend == "judgekit data fetch kqa"
