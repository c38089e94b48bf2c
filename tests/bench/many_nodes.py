#!/usr/bin/env python3
"""Many real nodes on one machine: how long until all are in step, what they cost at rest, and how soon a
change is known to all of them. Linux, loopback addresses only.

    tests/bench/many_nodes.py build/release/hearsay [--nodes 64] [--net 127.0.24] [--rest 20]
                              [--rate 1000] [--seconds 20] [--skip-spread]

What it says:
  in step     from the first start until every node has every other's summary
  at rest     CPU of all nodes over --rest seconds in which nothing happens, and their memory
  one change  one object is stored at node 1; 1.5 s later every other node is asked for it at once:
              how many knew where it was (a peer hit), over 5 rounds
  under load  --rate objects a second are stored at node 1; each 10th is asked of another node 100 ms
              after it was stored: how many knew
A node that does not know asks the origin, so each answer shows what the node believed at that moment.
"""
import argparse
import collections
import http.client
import json
import os
import resource
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time


def address(net, index):
    """127.0.24.1 .. 127.0.24.250, then 127.0.25.1 and so on."""
    first, second, third = net.split(".")
    return f"{first}.{second}.{int(third) + index // 250}.{index % 250 + 1}"


class Cluster:
    def __init__(self, args):
        self.args = args
        self.hosts = [address(args.net, i) for i in range(args.nodes)]
        self.folder = tempfile.mkdtemp(prefix="hearsay-many-")
        self.processes = []

    def write_configs(self, origin):
        peers = [{"node": f"n{i}", "http": f"{host}:3128", "link": f"{host}:3129"}
                 for i, host in enumerate(self.hosts)]
        for i, host in enumerate(self.hosts):
            cluster = {"key": "many nodes on one machine, forty bytes..", "listen": f"{host}:3129", "peers": peers}
            cluster.update(json.loads(self.args.cluster))
            config = {"node": f"n{i}", "listen": f"{host}:3128", "workers": 1,
                      "admin": {"listen": f"{host}:9128"},
                      "origins": [{"host": "*", "url": f"http://{origin}"}],
                      "cache": {"memory": "64MiB"}, "cluster": cluster, "log": {"access": "off"}}
            with open(f"{self.folder}/{i}.json", "w") as file:
                json.dump(config, file)

    def run(self, name, *arguments):
        with open(f"{self.folder}/{name}.log", "w") as log:
            self.processes.append(subprocess.Popen([self.args.program, *arguments], stdout=log, stderr=log,
                                                   start_new_session=True))

    def stop(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()
        if not self.args.keep:
            for name in os.listdir(self.folder):
                os.unlink(f"{self.folder}/{name}")
            os.rmdir(self.folder)

    def in_step(self, index):
        """Peers that node has the summary of; None while it does not answer."""
        connection = http.client.HTTPConnection(self.hosts[index], 9128, timeout=20)
        try:
            connection.request("GET", "/api/v1/status")
            peers = json.load(connection.getresponse())["cluster"]["peers"]
        except OSError:
            return None
        finally:
            connection.close()
        return sum(peer["state"] == "in_step" for peer in peers)

    def nodes(self):
        return self.processes[-len(self.hosts):]

    def cpu_seconds(self):
        total = 0
        for process in self.nodes():
            with open(f"/proc/{process.pid}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            total += int(fields[11]) + int(fields[12])
        return total / os.sysconf("SC_CLK_TCK")

    def memory_mib(self, field):
        total = 0
        for process in self.nodes():
            with open(f"/proc/{process.pid}/status") as file:
                total += next(int(line.split()[1]) for line in file if line.startswith(field + ":"))
        return total / 1024 / len(self.hosts)


class Asker:
    """Requests at many nodes at the same time, one connection for each; answers by callback."""

    def __init__(self):
        self.selector = selectors.DefaultSelector()
        self.waiting = {}  # socket -> (callbacks, bytes)
        self.sockets = {}

    def ask(self, host, url, done, lane=0):
        key = (host, lane)
        if key not in self.sockets:
            self.sockets[key] = socket.create_connection((host, 3128))
            self.sockets[key].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.selector.register(self.sockets[key], selectors.EVENT_READ)
            self.waiting[self.sockets[key]] = [collections.deque(), bytearray()]
        connection = self.sockets[key]
        self.waiting[connection][0].append(done)
        connection.sendall(f"GET {url} HTTP/1.1\r\nHost: many\r\nHearsay-Bytes: 100\r\n\r\n".encode())

    def turn(self, seconds):
        for key, _ in self.selector.select(max(seconds, 0)):
            connection = key.fileobj
            data = connection.recv(1 << 16)
            if not data:
                raise RuntimeError("a node closed a connection")
            callbacks, held = self.waiting[connection]
            held += data
            while True:
                end = held.find(b"\r\n\r\n")
                if end < 0:
                    break
                head = bytes(held[:end]).decode().lower()
                length = int(head.split("content-length:", 1)[1].split("\r\n", 1)[0])
                if len(held) < end + 4 + length:
                    break
                del held[:end + 4 + length]
                callbacks.popleft()(head)

    def pending(self):
        return sum(len(callbacks) for callbacks, _ in self.waiting.values())


def from_peer(head):
    """The answer came from a peer that the node believed to have it."""
    return "detail=peer_" in head


def one_change(cluster, asker):
    knew = asked = 0
    for number in range(5):
        time.sleep(3)  # what came before has been told
        url = f"http://many/idle/{os.getpid()}/{number}"
        asker.ask(cluster.hosts[0], url, lambda head: None)
        while asker.pending():
            asker.turn(1)
        stored = time.monotonic()
        while time.monotonic() < stored + 1.5:
            time.sleep(0.01)
        heads = []
        for host in cluster.hosts[1:]:
            asker.ask(host, url, heads.append)
        while asker.pending():
            asker.turn(1)
        knew += sum(from_peer(head) for head in heads)
        asked += len(heads)
    print(f"one change: 1.5 s after it was stored {knew} of {asked} askings found it at a peer")


def under_load(cluster, asker, rate, seconds, after):
    results, late, latest = [], [], 0.0
    due = collections.deque()  # (when, url, host)
    stored = []
    begun = time.monotonic()
    number = 0
    others = cluster.hosts[1:]

    def store(url, number):
        def done(head):
            stored.append(number)
            if number % 10 == 0:
                due.append((time.monotonic() + after, url, others[number // 10 % len(others)]))
        asker.ask(cluster.hosts[0], url, done, lane=number % 16)

    while True:
        now = time.monotonic()
        while number < rate * seconds and begun + number / rate <= now:
            store(f"http://many/load/{os.getpid()}/{number}", number)
            number += 1
        while due and due[0][0] <= now:
            when, url, host = due.popleft()
            latest = max(latest, now - when)
            asker.ask(host, url, lambda head: results.append(from_peer(head)), lane=1)
        if number >= rate * seconds and not due and not asker.pending():
            break
        soonest = begun + number / rate if number < rate * seconds else now + 0.05
        if due:
            soonest = min(soonest, due[0][0])
        asker.turn(soonest - now)
    took = time.monotonic() - begun
    print(f"under load: {len(stored) / took:.0f} objects a second stored at node 1; "
          f"{after * 1000:.0f} ms later {sum(results)} of {len(results)} askings "
          f"({100 * sum(results) / max(len(results), 1):.2f} %) found them at a peer "
          f"(asked at most {latest * 1000:.0f} ms late)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--nodes", type=int, default=64)
    parser.add_argument("--net", default="127.0.24")
    parser.add_argument("--rest", type=float, default=20)
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--after", type=float, default=0.1, help="seconds from stored to asked, under load")
    parser.add_argument("--cluster", default="{}", help="settings of the section `cluster`, as JSON")
    parser.add_argument("--skip-spread", action="store_true")
    parser.add_argument("--keep", action="store_true", help="keep configurations and logs")
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    cluster = Cluster(args)
    try:
        origin = f"{address(args.net, args.nodes)}:8000"
        cluster.write_configs(origin)
        cluster.run("origin", "origin", "--listen", origin)
        begun = time.monotonic()
        for i in range(args.nodes):
            cluster.run(str(i), "run", "--config", f"{cluster.folder}/{i}.json")
        started = time.monotonic() - begun
        for i in range(args.nodes):
            while cluster.in_step(i) != args.nodes - 1:
                if time.monotonic() - begun > 120:
                    sys.exit(f"node {i} has {cluster.in_step(i)} peers in step after 120 s")
                time.sleep(0.2)
        print(f"in step: {args.nodes} nodes, {args.nodes * (args.nodes - 1)} links: all started after {started:.1f} s, "
              f"in step after {time.monotonic() - begun:.1f} s; CPU until then {cluster.cpu_seconds():.1f} s in all")
        time.sleep(3)
        before, begun = cluster.cpu_seconds(), time.monotonic()
        time.sleep(args.rest)
        share = (cluster.cpu_seconds() - before) / (time.monotonic() - begun) / args.nodes
        print(f"at rest: {100 * share:.2f} % of a core per node; memory {cluster.memory_mib('VmRSS'):.1f} MiB per node, "
              f"{cluster.memory_mib('RssAnon'):.1f} of it its own")
        if not args.skip_spread:
            asker = Asker()
            one_change(cluster, asker)
            under_load(cluster, asker, args.rate, args.seconds, args.after)
        sys.stdout.flush()
    finally:
        cluster.stop()


if __name__ == "__main__":
    main()
