"""A disk that is written full many times over: see tests/bench/disk_life.py."""
import contextlib
import json
import mmap
import os
import random
import signal
import subprocess
import time

from life.parts import MIB, size_of, refused, start_origin, Node, verdict


class Reuse:
    """Requests: new objects, most of them asked for again after a while, some many times."""

    def __init__(self, args):
        self.rng, self.again, self.number, self.at = random.Random(args.seed), {}, 0, 0
        self.distance = size_of(args.size) // (16 << 10) / 2  # of requests, in the median

    def next(self):
        self.at += 1
        url, size = self.again.pop(self.at, (None, 0))
        if not url:
            self.number += 1
            # Log-normal, 16 KiB in the mean.
            url, size = f"http://churn/{self.number}", min(int(self.rng.lognormvariate(9.204, 1)), 4 * MIB) + 1
        if self.rng.random() < 0.62:
            when = self.at + 1 + int(self.distance * self.rng.lognormvariate(0, 1.5))
            while when in self.again:
                when += 1
            self.again[when] = url, size
        return f"{self.at}\t{self.at % 61}\tGET\t{url}\t200\t{size}\n"


def overhead(node):
    """What of the full segments is URI, head and body, and what else (proxy/disk/FORMAT.md)."""
    sums = dict.fromkeys(("files", "records", "useful", "records_bytes", "footers", "bytes"), 0)
    for path in node.segments()[:-1]:  # the last was sealed as the node ended
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if data[-512:-508] != b"HsRF":
                continue
            trailer = data[-512:-472]
            at, length = (int.from_bytes(trailer[i:i + 8], "little") for i in (8, 16))
            sums["files"] += 1
            sums["bytes"] += len(data)
            sums["footers"] += length
            end = at + length
            while at + 52 <= end and int.from_bytes(data[at:at + 4], "little"):
                sector, sectors = (int.from_bytes(data[at + i:at + i + 4], "little") for i in (0, 4))
                record = data[sector * 512:sector * 512 + 64]
                uri, _, head, body = (int.from_bytes(record[i:i + 4], "little") for i in (32, 36, 40, 44))
                sums["records"] += 1
                sums["useful"] += uri + head + body
                sums["records_bytes"] += sectors * 512
                at += 52 + 16 * int.from_bytes(data[at + 44:at + 46], "little") \
                    + int.from_bytes(data[at + 40:at + 44], "little")
    return sums


class Replays:
    """One `hearsay replay` after another, each of --step requests, until told to end."""

    def __init__(self, args, node):
        self.args, self.node, self.reuse, self.running = args, node, Reuse(args), None
        self.requests = self.wrong = 0

    def turn(self, go_on):
        """Starts the next when the last has ended; False when it has and there is to be none."""
        if self.running and self.running.poll() is None:
            return True
        if self.running:
            report = json.loads(self.running.stdout.read())["all"]
            self.requests += report["requests"]
            self.wrong += report["errors"] + (self.running.returncode != 0)
        if not go_on:
            return False
        trace = f"{self.args.folder}/trace"
        with open(trace, "w") as file:
            file.writelines(self.reuse.next() for _ in range(self.args.step))
        self.running = subprocess.Popen(
            [self.args.program, "replay", "--trace", trace, "--json", "--quiet", "--verify", "--reverse",
             "--proxy", f"http://127.0.0.1:{self.node.port}", "--concurrency", "16"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.args.processes.append(self.running)
        return True


class Samples:
    """What is looked at meanwhile."""

    def __init__(self, node, cap):
        self.node, self.cap, self.begun, self.shown = node, cap, time.monotonic(), 0
        self.early, self.most = None, 0  # rss after twice the cap; bytes of files

    def take(self):
        status = self.node.status()
        self.disk, self.rss = status["cache"]["disk"][0], self.node.rss_mib()
        blocks = 0
        for path in self.node.segments():
            with contextlib.suppress(FileNotFoundError):
                blocks += os.stat(path).st_blocks * 512
        self.most = max(self.most, self.disk["bytes"], blocks)
        self.written, self.admitted = self.disk["written_bytes"], max(self.disk["written_bytes"] -
                                                                     self.disk["readmitted_bytes"], 1)
        if self.early is None and self.written >= 2 * self.cap:
            self.early = self.rss
        if time.monotonic() - self.begun >= self.shown:
            self.shown += 10
            self.show(status, blocks)

    def show(self, status, blocks):
        cache, disk, requests = status["cache"], self.disk, status["requests"]
        print(f"{time.monotonic() - self.begun:5.0f} s: {self.written / self.cap:5.2f} x cap written, "
              f"{self.written / self.admitted:.3f} for each byte admitted; rss {self.rss:.1f} MiB, index "
              f"{cache['disk_index_bytes'] / MIB:.2f} MiB for {cache['disk_objects']} objects; {disk['segments']} files with "
              f"{blocks / MIB:.0f} of {self.cap / MIB:.0f} MiB, {disk['reclaimed']} given back; {refused(disk)} writes "
              f"refused; hits {requests['local_hit']} of {requests['total']}, {cache['disk_hits']} of disk", flush=True)


def churn(args):
    cap = size_of(args.size)
    start_origin(args)
    node = Node(args, "a", args.port + 1, args.port,
                {"memory": args.memory, "disk_admission": args.admission,
                 "disk": {"path": f"{args.folder}/a", "size": args.size}})
    node.start()
    node.wait()
    replays, samples = Replays(args, node), Samples(node, cap)
    samples.take()
    while replays.turn(samples.written < args.times * cap):
        time.sleep(0.25)
        samples.take()
    samples.take()
    took, by_process = time.monotonic() - samples.begun, node.proc("io", "write_bytes")
    node.kill(signal.SIGTERM)
    return judge(samples, replays, took, by_process, overhead(node))


def judge(samples, replays, took, by_process, sums):
    disk, written, admitted, early, rss = samples.disk, samples.written, samples.admitted, samples.early, samples.rss
    print(f"{replays.requests} requests proved in {took:.0f} s; {written / MIB:.0f} MiB written by the node's count, "
          f"{by_process / MIB:.0f} by the system's; {disk['reclaimed']} files given back, {refused(disk)} of "
          f"{refused(disk) + disk['written']} writes refused")
    beyond, records = sums["bytes"] / sums["useful"] - 1, sums["records_bytes"] / sums["useful"] - 1
    print(f"{sums['records']} records of {sums['useful'] / sums['records'] / 1024:.1f} KiB in {sums['files']} full files: "
          f"beyond URI, head and body {100 * beyond:.2f} % ({100 * records:.2f} in the records, "
          f"{100 * sums['footers'] / sums['useful']:.2f} in the footers, the rest at the files' ends)")
    good = verdict(replays.wrong == 0, f"{replays.wrong} requests wrong or failed")
    if early is None:
        return verdict(False, "less than twice the cap was written: nothing to compare memory with")
    good &= verdict(rss < early * 1.05 + 2,
                    f"rss {early:.1f} MiB after 2 x the cap, {rss:.1f} at the end ({rss / early:.3f})")
    good &= verdict(samples.most <= samples.cap + (32 << 20),
                    f"files took {samples.most / MIB:.0f} MiB at most of {samples.cap / MIB:.0f}")
    good &= verdict(written <= 1.2 * admitted, f"{written / admitted:.3f} bytes written for each that was admitted, "
                    f"{by_process / admitted:.3f} by the system's count (goal 1.20)")
    return good & verdict(beyond <= 0.04, f"{100 * beyond:.2f} % beyond URI, head and body (goal 4 %)")
