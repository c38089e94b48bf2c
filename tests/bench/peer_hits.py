#!/usr/bin/env python3
"""The CPU time of peer hits with encryption between the nodes and without. Linux, loopback addresses only.

    tests/bench/peer_hits.py build/release/hearsay [--requests 20000] [--sizes 1024 102400] [--rounds 3] [--net 127.0.26]

Node a keeps no copies, so each of its responses comes from node b. For each size the rounds alternate between a cluster
with `cluster.encrypt` and one without. The table has the CPU time of both nodes together for a request, in microseconds,
the median of the rounds, and the ratio of the medians.
"""
import argparse
import http.client
import json
import os
import socketserver
import statistics
import subprocess
import tempfile
import threading
import time

CONNECTIONS = 8
OBJECTS = 64


def serve_origin(address, size):
    """Answers every request with `size` bytes that are fresh for an hour."""
    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            body = b"x" * size
            while self.rfile.readline():
                while self.rfile.readline() not in (b"\r\n", b""):
                    pass
                self.wfile.write(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nETag: \"1\"\r\n"
                                 b"Content-Length: " + str(size).encode() + b"\r\n\r\n" + body)

    class Origin(socketserver.ThreadingTCPServer):
        allow_reuse_address = daemon_threads = True

    origin = Origin(address, Handler)
    threading.Thread(target=origin.serve_forever, daemon=True).start()
    return origin


class Pair:
    """Nodes a and b of one cluster, on addresses `net`.1 and `net`.2, with the origin at `net`.3."""

    def __init__(self, program, net, encrypt, size):
        self.hosts = {"a": f"{net}.1", "b": f"{net}.2"}
        self.folder = tempfile.TemporaryDirectory(prefix="hearsay-peer-hits-")
        self.origin = serve_origin((f"{net}.3", 8000), size)
        self.processes = []
        for name, host in self.hosts.items():
            other = "b" if name == "a" else "a"
            peer = self.hosts[other]
            config = {"node": name, "listen": f"{host}:3128", "workers": 1, "admin": {"listen": f"{host}:9128"},
                      "origins": [{"host": "*", "url": f"http://{net}.3:8000"}], "log": {"access": "off"},
                      "cluster": {"key": "peer hits with and without encryption..", "listen": f"{host}:3129",
                                  "encrypt": encrypt, "copy": "never",
                                  "peers": [{"node": other, "http": f"{peer}:3128", "link": f"{peer}:3129"}]}}
            path = f"{self.folder.name}/{name}.json"
            with open(path, "w") as file:
                json.dump(config, file)
            with open(f"{self.folder.name}/{name}.log", "w") as log:
                self.processes.append(subprocess.Popen([program, "run", "--config", path], stdout=log, stderr=log))
        for host in self.hosts.values():
            self.wait_in_step(host)

    def wait_in_step(self, host):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            try:
                connection = http.client.HTTPConnection(host, 9128, timeout=5)
                connection.request("GET", "/api/v1/status")
                if json.load(connection.getresponse())["cluster"]["peers"][0]["state"] == "in_step":
                    return
            except OSError:
                pass
            time.sleep(0.1)
        raise SystemExit(f"{host} is not in step with its peer after 20 s")

    def get(self, connection, number):
        connection.request("GET", f"http://origin.test/{number}")
        answer = connection.getresponse()
        answer.read()

    def fill(self):
        connection = http.client.HTTPConnection(self.hosts["b"], 3128)
        for number in range(OBJECTS):
            self.get(connection, number)
        time.sleep(2.5)  # the announcement

    def ask(self, requests):
        def count(lane):
            connection = http.client.HTTPConnection(self.hosts["a"], 3128)
            for i in range(requests // CONNECTIONS):
                self.get(connection, i % OBJECTS)

        threads = [threading.Thread(target=count, args=(lane,)) for lane in range(CONNECTIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def peer_hits(self):
        connection = http.client.HTTPConnection(self.hosts["a"], 9128, timeout=5)
        connection.request("GET", "/api/v1/status")
        return json.load(connection.getresponse())["requests"]["peer_hit"]

    def cpu_seconds(self):
        total = 0.0
        for process in self.processes:
            for task in os.listdir(f"/proc/{process.pid}/task"):
                with open(f"/proc/{process.pid}/task/{task}/schedstat") as file:
                    total += int(file.read().split()[0]) / 1e9
        return total

    def stop(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait()
        self.origin.shutdown()
        self.origin.server_close()
        self.folder.cleanup()


def measure(args, encrypt, size):
    """Microseconds of both nodes for a peer hit."""
    pair = Pair(args.program, args.net, encrypt, size)
    try:
        pair.fill()
        requests = max(args.requests * 1024 // max(size, 1024), 2000)
        pair.ask(requests // 10)
        before, hits = pair.cpu_seconds(), pair.peer_hits()
        pair.ask(requests)
        cpu, hits = pair.cpu_seconds() - before, pair.peer_hits() - hits
        if hits < 0.99 * (requests // CONNECTIONS * CONNECTIONS):
            raise SystemExit(f"only {hits} of {requests} requests were peer hits")
        return 1e6 * cpu / hits
    finally:
        pair.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--requests", type=int, default=20000, help="of 1 KiB; fewer of larger objects, at least 2,000")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1024, 102400])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--net", default="127.0.26")
    args = parser.parse_args()
    print(f"{'bytes':>9} {'clear':>9} {'encrypted':>9} {'ratio':>6}")
    for size in args.sizes:
        times = {False: [], True: []}
        for _ in range(args.rounds):
            for encrypt in (False, True):
                times[encrypt].append(measure(args, encrypt, size))
        clear, encrypted = statistics.median(times[False]), statistics.median(times[True])
        print(f"{size:>9} {clear:>9.1f} {encrypted:>9.1f} {encrypted / clear:>6.2f}", flush=True)


if __name__ == "__main__":
    main()
