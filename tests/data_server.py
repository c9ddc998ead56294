"""An HTTP server on this machine that serves bytes and misbehaves on request."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@dataclass
class Server:
    """What is served, how it fails, and what was asked for.

    `cut` holds, per path, after how many bytes of the next answers the connection breaks;
    `status` overrides the answer's status; `ranges` and `etag` say what the server can do.
    """

    url: str = ""
    content: dict[str, bytes] = field(default_factory=dict)
    cut: dict[str, list[int]] = field(default_factory=dict)
    status: dict[str, list[int]] = field(default_factory=dict)
    ranges: bool = True
    etag: str | None = '"one"'
    asked: list[tuple[str, str | None]] = field(default_factory=list)


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            server.asked.append((self.path, wanted))
            forced = server.status.get(self.path)
            if self.path not in server.content or forced:
                self.send_error(forced.pop(0) if forced else 404)
                return
            body, start = server.content[self.path], 0
            if wanted and server.ranges and self.headers.get("If-Range") == server.etag:
                start = int(wanted.removeprefix("bytes=").rstrip("-"))
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
            self.send_header("Content-Length", str(len(body) - start))
            self.end_headers()
            cuts = server.cut.get(self.path)
            if cuts:
                self.wfile.write(body[start : start + cuts.pop(0)])
                self.close_connection = True
            else:
                self.wfile.write(body[start:])

        def log_message(self, *arguments: object) -> None:
            pass

    return Handler


@contextmanager
def serve() -> Iterator[Server]:
    """Run a server until the block ends."""
    server = Server()
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(server)) as listener:
        server.url = f"http://127.0.0.1:{listener.server_address[1]}"
        listener.handle_error = lambda *arguments: None  # a client that hung up is no news
        Thread(target=listener.serve_forever, args=[0.01], daemon=True).start()
        yield server
        listener.shutdown()
