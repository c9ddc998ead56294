"""An HTTP server on this machine that serves bytes and misbehaves on request."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@dataclass
class Server:
    """What is served, how it fails, and what was asked for.

    `cut` holds, per path, after how many bytes of the next answers the connection breaks;
    `status` overrides the answer's status; `ranges`, `etag` and the date `modified` say what the
    server can do; the rest of a file begins `shift` bytes later than asked for.
    """

    url: str = ""
    content: dict[str, bytes] = field(default_factory=dict)
    cut: dict[str, list[int]] = field(default_factory=dict)
    status: dict[str, list[int]] = field(default_factory=dict)
    ranges: bool = True
    etag: str | None = '"one"'
    modified: str | None = None
    shift: int = 0
    asked: list[tuple[str, str | None]] = field(default_factory=list)


class Quiet:
    """A part of handlers, which answer for what the server holds as `served`, without a log."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: object) -> None:
        pass


class Handler(Quiet, BaseHTTPRequestHandler):
    """Answers for a `Server`."""

    def do_GET(self) -> None:
        server, wanted = self.server.served, self.headers.get("Range")
        server.asked.append((self.path, wanted))
        forced = server.status.get(self.path)
        if self.path not in server.content or forced:
            self.send_error(forced.pop(0) if forced else 404)
            return
        body, start = server.content[self.path], 0
        known = self.headers.get("If-Range") in (server.etag, server.modified)
        if wanted and server.ranges and known:
            start = int(wanted.removeprefix("bytes=").rstrip("-")) + server.shift
        if start >= len(body) > 0:
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(body)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        if server.etag:
            self.send_header("ETag", server.etag)
        if server.modified:
            self.send_header("Last-Modified", server.modified)
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        cuts = server.cut.get(self.path)
        if cuts:
            self.wfile.write(body[start : start + cuts.pop(0)])
            self.close_connection = True
        else:
            self.wfile.write(body[start:])


@contextmanager
def serve(handler: type[BaseHTTPRequestHandler] = Handler, served: Any = None) -> Iterator[Any]:
    """Serve what handlers answer for, by default a new `Server`, until the block ends."""
    served = served or Server()
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as listener:
        listener.served = served
        served.url = f"http://127.0.0.1:{listener.server_address[1]}"
        listener.handle_error = lambda *arguments: None  # a client that hung up is no news
        Thread(target=listener.serve_forever, args=[0.01], daemon=True).start()
        yield served
        listener.shutdown()
