"""The servers of a public service on one address: a handler for each host, https and http, and a book of all requests.

A handler is a function of a Request that returns an Answer. `mode` is "up", "down" (the connection is reset) or a status that every
request gets.
"""
import collections
import email.utils
import hashlib
import http.server
import socket
import socketserver
import ssl
import struct
import threading
import time
import urllib.parse

Entry = collections.namedtuple("Entry", "method url status body_bytes")
# A day ago, so that content has an age.
LAST_MODIFIED = email.utils.formatdate(time.time() - 86400 * 30, usegmt=True)


class Answer:
    def __init__(self, status, fields=None, body=b""):
        self.status, self.fields, self.body = status, dict(fields or {}), body


class Request:
    """`fields` are case-insensitive; `path` is decoded and without the query, `query` a dict of first values."""

    def __init__(self, handler, scheme):
        self.method, self.fields, self.scheme = handler.command, handler.headers, scheme
        self.host = (handler.headers.get("Host") or "").partition(":")[0]
        self.target = handler.path
        path, _, query = handler.path.partition("?")
        self.path, self.raw_query = urllib.parse.unquote(path), query
        self.query = dict(urllib.parse.parse_qsl(query))
        self.body = read_body(handler)


def read_body(handler):
    if handler.headers.get("Transfer-Encoding", "").lower() == "chunked":
        body = b""
        while size := int(handler.rfile.readline().split(b";")[0], 16):
            body += handler.rfile.read(size)
            handler.rfile.readline()
        while handler.rfile.readline().strip():
            pass
        return body
    return handler.rfile.read(int(handler.headers.get("Content-Length") or 0))


def content(request, body, fields=None, etag=None):
    """Answers a GET or HEAD of `body` as a file server does: conditions, one range, validators."""
    etag = etag or f'"{hashlib.md5(body).hexdigest()}"'
    fields = {"ETag": etag, "Last-Modified": LAST_MODIFIED, "Accept-Ranges": "bytes", **(fields or {})}
    tags = [tag.strip().removeprefix("W/") for tag in request.fields.get("If-None-Match", "").split(",")]
    if etag.removeprefix("W/") in tags:
        return Answer(304, fields)
    if "If-None-Match" not in request.fields and request.fields.get("If-Modified-Since") == LAST_MODIFIED:
        return Answer(304, fields)
    wanted = request.fields.get("Range", "")
    if wanted.startswith("bytes=") and "," not in wanted and request.fields.get("If-Range", etag) in (etag, LAST_MODIFIED):
        first, _, last = wanted[6:].partition("-")
        begin = int(first) if first else max(0, len(body) - int(last))
        end = min(int(last) if first and last else len(body) - 1, len(body) - 1)
        if begin > end:
            return Answer(416, {"Content-Range": f"bytes */{len(body)}"})
        return Answer(206, {**fields, "Content-Range": f"bytes {begin}-{end}/{len(body)}"}, body[begin:end + 1])
    return Answer(200, fields, body)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads, request_queue_size = True, 128

    def handle_error(self, request, client_address):
        pass  # a client that left


class Origin:
    def __init__(self, address, certificate):
        self.mode, self.sites, self.book, self.lock = "up", {}, [], threading.Lock()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        self.servers = [Server((address, port), self.handler_class(scheme)) for port, scheme in ((443, "https"), (80, "http"))]
        self.servers[0].socket = context.wrap_socket(self.servers[0].socket, server_side=True, do_handshake_on_connect=False)
        for server in self.servers:
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()

    def since(self, mark):
        with self.lock:
            return self.book[mark:]

    def mark(self):
        with self.lock:
            return len(self.book)

    def answer(self, request):
        if self.mode != "up":
            return Answer(self.mode, {"Content-Type": "text/plain", "Retry-After": "1"}, b"the test says so\n")
        site = self.sites.get(request.host)
        return site(request) if site else Answer(421, body=b"no such host\n")

    def stop(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()

    def handler_class(origin, scheme):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def serve(self):
                if origin.mode == "down":
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.close_connection = True
                    return
                request = Request(self, scheme)
                answer = origin.answer(request)
                body = b"" if self.command == "HEAD" or answer.status in (204, 304) else answer.body
                with origin.lock:
                    origin.book.append(Entry(self.command, f"{scheme}://{request.host}{self.path}", answer.status, len(body)))
                self.send_response(answer.status)
                for name, value in answer.fields.items():
                    self.send_header(name, value)
                if answer.status not in (204, 304):
                    self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = serve

            def log_message(self, *_):
                pass

        return Handler
