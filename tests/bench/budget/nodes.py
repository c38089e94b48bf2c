"""An origin, a peer and the measured node on loopback, and a client on one kept-alive connection.

A read costs fewer instructions when its bytes have arrived before it. So the client, the origin and a relay before the
peer send to the measured node only when that node is idle.
"""
import email.utils
import json
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.request

BODY = b"x" * 1024
FOREVER = "1m"
# A peer has half of the time that the origin takes. After a few such answers a slow machine changes no decision of a node.
SLOW, SLOW_SECONDS, SLOW_ANSWERS = "/slow/", 3, 5


class Server:
    """Accepts connections at `address` and runs a thread for each. `idle()` returns when the measured node is idle."""

    def __init__(self, address, idle):
        self.idle = idle
        self.listener = socket.create_server(address, backlog=64)
        self.connections = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        try:
            while True:
                connection, _ = self.listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.connections.append(connection)
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()
        except OSError:
            pass

    def stop(self):
        for each in [self.listener] + self.connections:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            each.close()


class Origin(Server):
    """Answers every request with 1 KiB that is fresh for an hour."""

    def serve(self, connection):
        received = b""
        try:
            while data := connection.recv(1 << 16):
                received += data
                while (end := received.find(b"\r\n\r\n")) >= 0:
                    if SLOW.encode() in received[:end]:
                        time.sleep(SLOW_SECONDS)
                    received = received[end + 4:]
                    date = email.utils.formatdate(usegmt=True).encode()
                    self.idle()
                    connection.sendall(b"HTTP/1.1 200 OK\r\nDate: " + date + b"\r\nServer: origin\r\n"
                                       b"Content-Type: text/plain\r\nContent-Length: 1024\r\n"
                                       b"Cache-Control: max-age=3600\r\nETag: \"2f4a-5e1b7c\"\r\n\r\n" + BODY)
        except OSError:
            pass


class Relay(Server):
    """Receives the peer requests and passes the peer's answers on when the measured node is idle."""

    def __init__(self, address, idle, target):
        self.target = target
        super().__init__(address, idle)

    def serve(self, connection):
        try:
            onward = socket.create_connection(self.target)
            onward.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections.append(onward)
            while data := connection.recv(1 << 16):
                onward.sendall(data)
                answer = onward.recv(1 << 16)
                while answer.startswith(b"HTTP/1.1 200 ") and len(answer) < answer.find(b"\r\n\r\n") + 4 + len(BODY):
                    answer += onward.recv(1 << 16)
                self.idle()
                connection.sendall(answer)
        except OSError:
            pass
        connection.close()


def rules(count):
    """A list as a mirror has it: hosts in full, patterns of hosts, paths. The last one is for the requests of Client."""
    kinds = [lambda i: {"hosts": [f"host{i}.example.org"], "paths": ["/packages/*", "*.whl"]},
             lambda i: {"hosts": [f"*.zone{i}.example.net"]},
             lambda i: {"paths": [f"/path{i}/*"]},
             lambda i: {"hosts": [f"registry{i}.example.org", f"cdn{i}.*"], "methods": ["GET"]}]
    matches = [kinds[i % len(kinds)](i) for i in range(count - 1)] + [{"hosts": ["*.example.com"]}] * (count > 0)
    return [{"name": f"rule{i}", "match": match} for i, match in enumerate(matches)]


class Node:
    """One `hearsay run`, under callgrind if `profile` names a file. `peer` is name, address and address for requests."""

    rule_count = 0

    def __init__(self, program, folder, name, address, peer, origin, profile=None):
        self.name, self.address, self.is_measured = name, address, profile is not None
        peers = [{"node": peer[0], "link": f"{peer[1]}:3129", "http": f"{peer[2]}:3128"}]
        config = {
            "node": name, "listen": f"{self.address}:3128", "workers": 1, "admin": {"listen": f"{self.address}:9128"},
            "origins": [{"host": "*", "url": f"http://{origin}:8000"}],
            "cache": {"memory": "512MiB"}, "rules": rules(self.rule_count),
            "cluster": {"key": "the budget of a request, 40 bytes in all", "listen": f"{self.address}:3129",
                        "peers": peers, "copy": "always", "gone_after": FOREVER,
                        "encrypt": False},  # the relay reads peer responses
            # The default would announce nearly each of these few objects alone.
            "summary": {"announce": {"changed": 0.1}},
            "log": {"access": "off"}, "timeouts": {"drain_grace": "0s"},
        }
        path = f"{folder}/{name}.json"
        with open(path, "w") as file:
            json.dump(config, file)
        command = [program, "run", "--config", path]
        if profile:
            command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}"] + command
        self.log_path = f"{folder}/{name}.log"
        with open(self.log_path, "w") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)

    def log(self):
        with open(self.log_path) as log:
            return log.read().strip()

    def resident_bytes(self):
        with open(f"/proc/{self.process.pid}/smaps_rollup") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("Anonymous:"))

    def wait_until_idle(self):
        """Returns when no thread of the node runs. Under valgrind one thread runs at a time while there is work."""
        path = f"/proc/{self.process.pid}/task"
        while self.is_measured:
            for thread in os.listdir(path):
                with open(f"{path}/{thread}/stat", "rb") as file:
                    if file.read().rpartition(b") ")[2][:1] == b"R":
                        break
            else:
                return
            time.sleep(0.0001)

    def status(self):
        with urllib.request.urlopen(f"http://{self.address}:9128/api/v1/status", timeout=60) as answer:
            return json.load(answer)

    def wait(self, ready, seconds=60):
        """Returns when `ready()` is true. An OSError means that the node does not listen yet."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f"node {self.name} has ended: {self.log()}")
            try:
                if ready():
                    return
            except OSError:
                pass
            time.sleep(0.05)
        raise RuntimeError(f"node {self.name} is not ready after {seconds} s: {self.log()}")

    def listens(self):
        socket.create_connection((self.address, 3128), timeout=5).close()
        return True

    def end(self):
        """Drains the node, so that callgrind writes its profile."""
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(60) != 0:
            raise RuntimeError(f"node {self.name} ended with {self.process.returncode}: {self.log()}")

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Client:
    """Sends GETs one after the other and checks the origin of each answer by its Cache-Status."""

    def __init__(self, node):
        self.node = node
        self.socket = None

    def connect(self):
        self.socket = socket.create_connection((self.node.address, 3128), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.node.wait_until_idle()

    def close(self):
        self.socket.close()
        self.node.wait_until_idle()

    def get(self, path, expected):
        self.socket.sendall(b"GET " + path.encode() + b" HTTP/1.1\r\nHost: www.example.com\r\n"
                            b"User-Agent: curl/8.0.1\r\nAccept: */*\r\n\r\n")
        received = b""
        while (end := received.find(b"\r\n\r\n")) < 0 or len(received) < end + 4 + len(BODY):
            data = self.socket.recv(1 << 16)
            if not data:
                raise RuntimeError(f"{path}: the node closed the connection")
            received += data
        self.node.wait_until_idle()
        head = received[:end].decode("latin-1")
        if not head.startswith("HTTP/1.1 200 ") or received[end + 4:] != BODY or expected not in head:
            raise RuntimeError(f"{path}: expected 200 with 1 KiB and \"{expected}\", the node answered\n{head}")
