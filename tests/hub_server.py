"""A small hub on this machine, as the client of the real one expects it, that fails on request."""

import hashlib
import json
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import unquote, urlsplit

from data_server import Quiet

LARGE = 1000  # bytes from which the hub lists a file's SHA-256


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass
class Hub:
    """One repository and what was asked of it.

    `revisions` are the names of its one commit; `refusal` is the status and error code of every
    answer.
    """

    repository: str
    files: dict[str, bytes]
    url: str = ""
    commit: str = "c" * 40
    revisions: tuple[str, ...] = ("main", "v1")
    refusal: tuple[int, str] | None = None
    asked: list[tuple[str, str]] = field(default_factory=list)

    def describe_file(self, name: str) -> dict:
        """What the hub says of a file of the repository."""
        content = self.files[name]
        entry = {"type": "file", "path": name, "size": len(content), "oid": sha(content)[:40]}
        if len(content) >= LARGE:
            entry["lfs"] = {"oid": sha(content), "size": len(content), "pointerSize": 130}
        return entry

    def describe(self) -> dict:
        """What the hub says of the repository."""
        siblings = [
            {"rfilename": name, "size": found["size"], "blobId": found["oid"]}
            for name, found in ((name, self.describe_file(name)) for name in self.files)
        ]
        facts = {"id": self.repository, "modelId": self.repository, "sha": self.commit}
        return {**facts, "siblings": siblings, "private": False, "tags": []}


class Handler(Quiet, BaseHTTPRequestHandler):
    """Answers for a `Hub`."""

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, body: bool) -> None:
        hub, path = self.server.served, unquote(urlsplit(self.path).path)
        hub.asked.append((self.command, path))
        api, resolve = f"/api/models/{hub.repository}", f"/{hub.repository}/resolve/"
        known = {*hub.revisions, hub.commit}
        if hub.refusal:
            self.refuse(*hub.refusal)
        elif path == api or path in {f"{api}/revision/{name}" for name in known}:
            self.send(json.dumps(hub.describe()).encode(), body)
        elif path.startswith(f"{api}/revision/"):
            self.refuse(404, "RevisionNotFound")
        elif path == f"{api}/tree/{hub.commit}":
            self.send(json.dumps([*map(hub.describe_file, hub.files)]).encode(), body)
        elif path.startswith(resolve):
            revision, _, name = path.removeprefix(resolve).partition("/")
            if name in hub.files and revision in known:
                self.send_file(name, body)
            else:
                self.refuse(404, "EntryNotFound")
        else:
            self.refuse(401, "RepoNotFound")

    def refuse(self, status: int, code: str) -> None:
        self.send_response(status)
        self.send_header("X-Error-Code", code)
        self.send_header("X-Error-Message", "refused")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def send_file(self, name: str, body: bool) -> None:
        hub = self.server.served
        found = hub.describe_file(name)
        tag, size = found.get("lfs", found)["oid"], str(found["size"])
        headers = {"ETag": f'"{tag}"', "X-Linked-Size": size, "X-Repo-Commit": hub.commit}
        self.send(hub.files[name], body, headers)

    def send(self, content: bytes, body: bool, headers: dict[str, str] | None = None) -> None:
        self.send_response(200)
        for name, value in ({"Content-Type": "application/json"} | (headers or {})).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if body:
            self.wfile.write(content)
