#!/usr/bin/env python3
"""A real cluster on loopback under a request log: what its caches answered for one another, against caches that
would know all of each other at once, with deltas that get lost and with a node that is restarted in the middle.

    tests/bench/live_cluster.py build/release/hearsay --trace access.log [--nodes 8] [--rate 500]
                                [--drop 0.01] [--restart 60] [--memory 512MiB] [--cluster JSON] [--json]

--drop P     each delta is dropped with this chance before it is sent: a relay stands in each link, which knows the
             cluster key and numbers and tags the frames behind a dropped one anew, so that only the delta is missing
--restart T  node 1 is killed T seconds after the first request and started again at once, empty

The ideal: unlimited caches, every copy known to all at once, and with --restart (for tab-separated logs, and a --rate)
the copies of node 1 gone at that moment. Linux, addresses 127.0.28.x only.
"""
import argparse
import asyncio
import gzip
import hashlib
import hmac
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

KEY = b"a live cluster on one machine, 40 bytes.."
NET = "127.0.28"
PROOF, DELTA, HELLO_TYPES = 3, 21, 16


def hkdf(secret, salt, info, length):
    """RFC 5869 with SHA-256."""
    root, block, out = hmac.digest(salt, secret, "sha256"), b"", b""
    while len(out) < length:
        block = hmac.digest(root, block + info + bytes([len(out) // 32 + 1]), "sha256")
        out += block
    return out[:length]


class Relay:
    """Stands between publisher and subscriber; see protocol/FORMAT.md, "Frames"."""

    def __init__(self, chance, seed):
        self.chance, self.random = chance, random.Random(seed)
        self.deltas = self.dropped = self.links = 0

    async def serve(self, port, target):
        async def link(reader, writer):
            self.links += 1
            try:
                onward = await asyncio.open_connection(*target)
            except OSError:
                writer.close()
                return
            keys = {}
            await asyncio.gather(self.forward(reader, onward[1], keys), self.copy(onward[0], writer))
        await asyncio.start_server(link, f"{NET}.200", port)

    @staticmethod
    async def copy(reader, writer):
        try:
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        writer.close()

    async def forward(self, reader, writer, keys):
        sequence = 0
        try:
            while True:
                head = await reader.readexactly(4)
                frame = await reader.readexactly(int.from_bytes(head, "big"))
                kind = frame[1]
                if kind < HELLO_TYPES:
                    if kind == PROOF:
                        keys["publisher"] = hkdf(KEY, frame[2:34], b"hearsay 3 link", 32)
                    writer.write(head + frame)
                    continue
                if kind == DELTA:
                    self.deltas += 1
                    if self.random.random() < self.chance:
                        self.dropped += 1
                        continue
                said = frame[:2] + sequence.to_bytes(8, "big") + frame[10:-16]
                sequence += 1
                writer.write(head + said + hmac.digest(keys["publisher"], said, "sha256")[:16])
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        writer.close()


def relay_port(nodes, publisher, subscriber):
    return 20000 + publisher * nodes + subscriber


def run_relay(relay, nodes):
    async def main():
        for i in range(nodes):
            for j in range(nodes):
                if i != j:
                    await relay.serve(relay_port(nodes, i, j), (f"{NET}.{j + 1}", 3129))
        await asyncio.Event().wait()
    asyncio.run(main())


def splitmix64(value):
    mask = (1 << 64) - 1
    value = (value + 0x9E3779B97F4A7C15) & mask
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & mask
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & mask
    return value ^ (value >> 31)


def hits_of(args, restart_at):
    """Hits of unlimited caches that know all of each other; node 0 is emptied at that request."""
    holders, hits, count = {}, 0, 0
    opened = gzip.open(args.trace, "rt") if args.trace.endswith(".gz") else open(args.trace)
    with opened as lines:
        for line in lines:
            _, client, method, url, status, *_ = line.rstrip("\n").split("\t")
            if method != "GET" or int(status) not in (200, 203, 300, 301, 304, 410):
                continue
            if count == restart_at:
                holders = {known: rest for known, held in holders.items() if (rest := held - {0})}
            if args.limit and count == args.limit:
                break
            count += 1
            held = holders.setdefault(url, set())
            hits += bool(held)
            held.add(splitmix64(int(client)) % args.nodes)
    return hits


class Cluster:
    def __init__(self, args):
        self.args, self.processes = args, {}
        self.folder = tempfile.mkdtemp(prefix="hearsay-live-")

    def write_configs(self):
        args = self.args
        for i in range(args.nodes):
            peers = []
            for j in range(args.nodes):
                link = f"{NET}.{j + 1}:3129"
                if args.drop > 0 and i != j:
                    link = f"{NET}.200:{relay_port(args.nodes, i, j)}"
                peers.append({"node": f"n{j}", "http": f"{NET}.{j + 1}:3128", "link": link})
            cluster = {"key": KEY.decode(), "listen": f"{NET}.{i + 1}:3129", "peers": peers,
                       "encrypt": args.drop == 0}  # the relay drops frames that it can read
            cluster.update(json.loads(args.cluster))
            config = {"node": f"n{i}", "listen": f"{NET}.{i + 1}:3128", "workers": 1,
                      "admin": {"listen": f"{NET}.{i + 1}:9128"},
                      "origins": [{"host": "*", "url": f"http://{NET}.100:8000"}],
                      "cache": {"memory": args.memory}, "cluster": cluster,
                      "summary": json.loads(args.summary), "log": {"access": "off"}}
            with open(f"{self.folder}/{i}.json", "w") as file:
                json.dump(config, file)

    def start(self, i):
        with open(f"{self.folder}/{i}.log", "a") as log:
            self.processes[i] = subprocess.Popen([self.args.program, "run", "--config", f"{self.folder}/{i}.json"],
                                                 stdout=log, stderr=log, start_new_session=True)

    def check_started(self):
        """Their addresses may be another cluster's, which would be measured in their place."""
        for i, process in self.processes.items():
            if process.poll() is not None:
                with open(f"{self.folder}/{i}.log") as log:
                    sys.exit(f"node {i} has ended: {log.read().strip()}")

    def stop(self):
        for process in self.processes.values():
            process.kill()
            process.wait()
        if not self.args.keep:
            for name in os.listdir(self.folder):
                os.unlink(f"{self.folder}/{name}")
            os.rmdir(self.folder)

    def replay(self):
        args = self.args
        command = [args.program, "replay", "--trace", args.trace, "--json", "--quiet", "--origin-listen",
                   f"{NET}.100:8000", "--wait", "30"]
        if args.rate > 0:
            command += ["--rate", str(args.rate)]
        if args.limit:
            command += ["--limit", str(args.limit)]
        if args.restart:
            command += ["--failover"]
        for i in range(args.nodes):
            command += ["--proxy", f"http://{NET}.{i + 1}:3128", "--admin", f"http://{NET}.{i + 1}:9128"]
        with tempfile.TemporaryFile("w+") as out:
            running = subprocess.Popen(command, stdout=out)
            try:
                if args.restart:
                    time.sleep(args.restart)
                    self.processes[0].kill()
                    self.processes[0].wait()
                    self.start(0)
                running.wait()
            finally:
                running.kill()
            out.seek(0)
            return json.load(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--trace", required=True)
    parser.add_argument("--nodes", type=int, default=8)
    parser.add_argument("--rate", type=float, default=500, help="requests per second; 0: as fast as answered")
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--drop", type=float, default=0)
    parser.add_argument("--restart", type=float, default=0)
    parser.add_argument("--memory", default="512MiB")
    parser.add_argument("--cluster", default="{}", help="settings of the section `cluster`, as JSON")
    parser.add_argument("--summary", default="{}", help="the section `summary`, as JSON")
    parser.add_argument("--json", action="store_true", help="print the replay's report as well")
    parser.add_argument("--keep", action="store_true", help="keep configurations and logs")
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    relay = Relay(args.drop, seed=1)
    if args.drop > 0:
        threading.Thread(target=run_relay, args=(relay, args.nodes), daemon=True).start()
    cluster = Cluster(args)
    try:
        cluster.write_configs()
        for i in range(args.nodes):
            cluster.start(i)
        time.sleep(2)
        cluster.check_started()
        report = cluster.replay()
    finally:
        cluster.stop()
    if args.json:
        json.dump(report, sys.stdout, indent=1)
        print()
    ideal, requests = report["ideal"]["shared_hits"], report["ideal"]["requests"]
    if args.restart:
        at = int(args.restart * args.rate)
        ideal -= hits_of(args, restart_at=-1) - hits_of(args, restart_at=at)
    # Of a node that was restarted the replay takes what clients saw.
    seen = report["all"]
    hits = seen["local_hits"] + seen["peer_hits"]
    print(f"{hits} of {ideal} hits = {hits / ideal:.4f} of the ideal ({requests} requests, {seen['errors']} errors, "
          f"{seen['false_hits']} false hits, {report['elapsed_seconds']:.0f} s)")
    if args.drop > 0:
        print(f"{relay.dropped} of {relay.deltas} deltas dropped = {relay.dropped / max(relay.deltas, 1):.4f}; "
              f"{relay.links} connections for {args.nodes * (args.nodes - 1)} links")

if __name__ == "__main__":
    main()
