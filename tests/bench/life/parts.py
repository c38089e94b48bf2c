"""What all of tests/bench/disk_life.py needs: bodies, an origin, a client, a node."""
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import zlib

MIB = 1 << 20
CHUNK = MIB
PLACES = 3 * MIB + 17
POOL = random.Random(12).randbytes(PLACES + CHUNK)


def size_of(text):
    number, unit = re.fullmatch(r"(\d+)([KMGT]?)(?:iB)?", text).groups()
    return int(number) << {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}[unit]


def pieces(name, begin, end):
    """Bytes begin .. end of the body called `name`: chunks of 1 MiB, each from a place of its own."""
    seed = zlib.crc32(name.encode()) * 2654435761
    while begin < end:
        chunk, at = divmod(begin, CHUNK)
        length = min(CHUNK - at, end - begin)
        place = (seed + chunk * 1000003) % PLACES + at
        yield POOL[place:place + length]
        begin += length


def refused(disk):
    """Writes that a directory did not take, for whatever reason."""
    return sum(count for name, count in disk.items() if name.startswith("refused"))


class Broken(Exception):
    """The other side ended in the middle."""


class Origin:
    """HTTP/1.1 with ranges and validators. `page(path)`: (name of the body, its bytes, tag); `post(path)` changes it.
    Each answer begins `delay` seconds late."""

    def __init__(self, port, page, post=None, delay=0):
        self.page, self.post, self.delay = page, post, delay
        self.requests = self.bytes = 0
        self.socket = socket.create_server(("127.0.0.1", port), backlog=256)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client = self.socket.accept()[0]
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with client, client.makefile("rb") as file:
            try:
                while head := read_head(file):
                    self.answer(client, file, *head)
            except (OSError, Broken):
                pass

    def answer(self, client, file, first, fields):
        method, path, _ = first.split()
        self.requests += 1
        time.sleep(self.delay)
        file.read(int(fields.get("content-length", 0)))
        if method == "POST":
            self.post(path)
            client.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
            return
        name, length, tag = self.page(path)
        etag = f'"{name}"'
        head = (f"ETag: {etag}\r\nCache-Control: max-age=86400\r\nAccept-Ranges: bytes\r\nX-Body: {name}\r\n"
                f"X-Bytes: {length}\r\nSurrogate-Key: {tag}\r\n")
        if fields.get("if-none-match") == etag:
            client.sendall(f"HTTP/1.1 304 Not Modified\r\n{head}\r\n".encode())
            return
        begin, end, status = 0, length, "200 OK"
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", fields.get("range", ""))
        if wanted and fields.get("if-range", etag) == etag:
            begin, last = int(wanted[1]), int(wanted[2] or length)
            if begin >= length:
                client.sendall(f"HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */{length}\r\n"
                               f"Content-Length: 0\r\n\r\n".encode())
                return
            end, status = min(last + 1, length), "206 Partial Content"
            head += f"Content-Range: bytes {begin}-{end - 1}/{length}\r\n"
        client.sendall(f"HTTP/1.1 {status}\r\n{head}Content-Length: {end - begin}\r\n\r\n".encode())
        for piece in pieces(name, begin, end):
            client.sendall(piece)
            self.bytes += len(piece)


def read_head(file):
    """(first line, fields by lower-case name), or None at the end."""
    first = file.readline()
    if not first:
        return None
    fields = {}
    while (line := file.readline()) not in (b"\r\n", b""):
        name, value = line.decode("latin-1").split(":", 1)
        fields[name.lower()] = value.strip()
    if not line:
        raise Broken
    return first.decode("latin-1"), fields


class Client:
    """One kept-alive connection, made when it is needed."""

    def __init__(self, port):
        self.port, self.file = port, None

    def ask(self, method, path, fields="", body=b""):
        """(status, fields) of the answer; its body has to be taken by read() or parts()."""
        try:
            if not self.file:
                self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=60)
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.file = self.socket.makefile("rb", buffering=256 << 10)
            if body:
                fields += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            self.socket.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n".encode() + body)
            head = read_head(self.file)
            if not head:
                raise Broken
        except (OSError, Broken) as error:
            self.close()
            raise Broken(str(error)) from error
        status = int(head[0].split()[1])
        self.left = 0 if status in (204, 304) else int(head[1]["content-length"])
        self.ends = head[1].get("connection") == "close"
        return status, head[1]

    def parts(self):
        while self.left:
            try:
                data = self.file.read(min(self.left, CHUNK))
            except OSError:
                data = b""
            if not data:
                self.close()
                raise Broken
            self.left -= len(data)
            yield data
        if self.ends:
            self.close()

    def read(self):
        return b"".join(self.parts())

    def close(self):
        if self.file:
            self.file.close()
            self.socket.close()
            self.file = None


class Node:
    def __init__(self, args, name, port, origin, cache, **more):
        self.args, self.name, self.port, self.process = args, name, port, None
        args.nodes.append(self)
        self.disk = f"{args.folder}/{name}"
        self.admin = Client(port + 1)
        self.config = {"node": name, "listen": f"127.0.0.1:{port}", "workers": 1,
                       "admin": {"listen": f"127.0.0.1:{port + 1}"},
                       "origins": [{"host": "*", "url": f"http://127.0.0.1:{origin}"}],
                       "cache": cache, "log": {"access": "off"}, **more}

    def start(self, begin=()):
        with open(f"{self.disk}.json", "w") as file:
            json.dump(self.config, file)
        with open(f"{self.disk}.log", "a") as log:
            self.process = subprocess.Popen([*begin, self.args.program, "run", "--config", f"{self.disk}.json"],
                                            stdout=log, stderr=log, start_new_session=True)

    def kill(self, how=signal.SIGKILL):
        self.admin.close()
        self.process.send_signal(how)
        self.process.wait()

    def status(self):
        for _ in range(2):  # a connection that was idle for long has been closed
            try:
                self.admin.ask("GET", "/api/v1/status")
                return json.loads(self.admin.read())
            except Broken:
                pass
        return None

    def disk_status(self):
        return self.status()["cache"]["disk"][0]

    def wait(self, seconds=60):
        """Until it answers, has read its disk and is in step with its peers."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            status = self.status()
            if status and status["ready"] and all(disk["state"] != "loading" for disk in status["cache"]["disk"]) \
                    and all(peer["state"] == "in_step" for peer in status["cluster"]["peers"]):
                return status
            if self.process.poll() is not None:
                sys.exit(f"node {self.name} has ended: {open(f'{self.disk}.log').read()[-2000:]}")
            time.sleep(0.01)
        sys.exit(f"node {self.name} is not ready after {seconds} s")

    def proc(self, file, field):
        with open(f"/proc/{self.process.pid}/{file}") as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith(field + ":"))

    def rss_mib(self):
        return self.proc("status", "RssAnon") / 1024

    def cpu(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def segments(self):
        return [f"{self.disk}/{name}" for name in sorted(os.listdir(self.disk)) if name.endswith(".segment")]


def verdict(good, text):
    print(f"{'good' if good else 'BAD'}: {text}", flush=True)
    return good


def start_origin(args):
    """The built-in one, at --port."""
    args.processes.append(subprocess.Popen([args.program, "origin", "--listen", f"127.0.0.1:{args.port}"],
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
