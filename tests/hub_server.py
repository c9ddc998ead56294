"""A small hub on this machine, as the client of the real one expects it, that fails on request."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import unquote, urlsplit

LARGE = 1000  # bytes from which a file is stored apart, and its address redirected


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass
class Hub:
    """One repository and what was asked of it.

    `revisions` are the names of its one commit; `cut` holds after how many bytes the next answers
    with a large file break off; `refusal` is the status and error code of every answer.
    """

    repository: str
    files: dict[str, bytes]
    url: str = ""
    commit: str = "c" * 40
    revisions: tuple[str, ...] = ("main", "v1")
    license: str | None = "cc-by-nc-4.0"
    cut: list[int] = field(default_factory=list)
    refusal: tuple[int, str] | None = None
    listed: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)

    @property
    def port(self) -> int | None:
        return urlsplit(self.url).port

    def listing(self) -> bytes:
        """What the hub says of the repository."""
        siblings = []
        for name, content in self.files.items():
            size = self.sizes.get(name, len(content))
            entry = {"rfilename": name, "size": size, "blobId": sha(content)[:40]}
            if len(content) >= LARGE:
                digest = self.listed.get(name, sha(content))
                entry["lfs"] = {"sha256": digest, "size": len(content), "pointerSize": 130}
            siblings.append(entry)
        facts = {"id": self.repository, "modelId": self.repository, "sha": self.commit,
                 "siblings": siblings, "private": False, "downloads": 0, "likes": 0,
                 "tags": []}  # fmt: skip
        if self.license:
            facts["cardData"] = {"license": self.license}
        return json.dumps(facts).encode()

    def tree(self) -> bytes:
        """What the hub says of every file of the repository."""
        entries = [
            {"type": "file", "path": entry["rfilename"], "size": entry["size"],
             "oid": entry["blobId"]}
            | ({"lfs": {**entry["lfs"], "oid": entry["lfs"]["sha256"]}} if "lfs" in entry else {})
            for entry in json.loads(self.listing())["siblings"]
        ]  # fmt: skip
        return json.dumps(entries).encode()


class Handler(BaseHTTPRequestHandler):
    """Answers for the hub that the server holds."""

    protocol_version = "HTTP/1.1"

    @property
    def hub(self) -> Hub:
        return self.server.hub

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, body: bool) -> None:
        path = unquote(urlsplit(self.path).path)
        self.hub.asked.append((self.command, path, self.headers.get("Range")))
        api, resolve = f"/api/models/{self.hub.repository}", f"/{self.hub.repository}/resolve/"
        if self.hub.refusal:
            self.refuse(*self.hub.refusal)
        elif path == api:
            self.send(self.hub.listing(), body)
        elif path.startswith(f"{api}/revision/"):
            revision = path.removeprefix(f"{api}/revision/")
            if revision in (*self.hub.revisions, self.hub.commit):
                self.send(self.hub.listing(), body)
            else:
                self.refuse(404, "RevisionNotFound")
        elif path == f"{api}/tree/{self.hub.commit}":
            self.send(self.hub.tree(), body)
        elif path.startswith(resolve):
            revision, _, name = path.removeprefix(resolve).partition("/")
            if name not in self.hub.files or revision not in (*self.hub.revisions, self.hub.commit):
                self.refuse(404, "EntryNotFound")
            else:
                self.resolve(name, body)
        elif path.startswith("/stored/"):
            digest = path.removeprefix("/stored/")
            self.stored(next(c for c in self.hub.files.values() if sha(c) == digest), body)
        else:
            self.refuse(401, "RepoNotFound")

    def refuse(self, status: int, code: str) -> None:
        self.send_response(status)
        self.send_header("X-Error-Code", code)
        self.send_header("X-Error-Message", "refused")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def send(self, content: bytes, body: bool, **headers: str) -> None:
        self.send_response(200)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if body:
            self.wfile.write(content)

    def resolve(self, name: str, body: bool) -> None:
        content = self.hub.files[name]
        digest = sha(content)
        if len(content) < LARGE:
            self.send(content, body, ETag=f'"{digest[:40]}"', X_Repo_Commit=self.hub.commit)
            return
        self.send_response(302)
        # On another host, as the real one does: the client asks that host without a login.
        self.send_header("Location", f"http://localhost:{self.hub.port}/stored/{digest}")
        self.send_header("X-Repo-Commit", self.hub.commit)
        self.send_header("X-Linked-Etag", f'"{digest}"')
        self.send_header("X-Linked-Size", str(self.hub.sizes.get(name, len(content))))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def stored(self, content: bytes, body: bool) -> None:
        start = int((self.headers.get("Range") or "bytes=0-")[6:].partition("-")[0])
        self.send_response(206 if start else 200)
        if start:
            end = f"bytes {start}-{len(content) - 1}/{len(content)}"
            self.send_header("Content-Range", end)
        self.send_header("ETag", f'"{sha(content)}"')
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        if body and self.hub.cut:
            self.wfile.write(content[start : start + self.hub.cut.pop(0)])
            self.close_connection = True
        elif body:
            self.wfile.write(content[start:])

    def log_message(self, *arguments: object) -> None:
        pass


@contextmanager
def serve(hub: Hub) -> Iterator[Hub]:
    """Run a hub until the block ends."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listener:
        listener.hub = hub
        hub.url = f"http://127.0.0.1:{listener.server_address[1]}"
        listener.handle_error = lambda *arguments: None  # a client that hung up is no news
        Thread(target=listener.serve_forever, args=[0.01], daemon=True).start()
        yield hub
        listener.shutdown()
