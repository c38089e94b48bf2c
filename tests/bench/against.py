#!/usr/bin/env python3
"""Compares hearsay with other servers on this machine: CPU of the server for a request, and requests per second.

    ./dev bench --against nginx,haproxy                        # installs them and the load generators, builds, measures
    ./dev bench --against all --publish                        # all servers; writes table and picture of the documentation
    tests/bench/against.py build/release/hearsay --against squid --rows hit miss --rounds 3 --json results.json

hit, hit10k, hit100k, hit1m   hits in memory of 1 KiB, 10 KiB, 100 KiB and 1 MiB, kept-alive connections
connection                    a 1 KiB hit on a connection that the client opens for the request
miss                          1 KiB from the origin, stored; each request has a new URL
h2                            a 1 KiB hit over HTTP/2 and TLS

Each server has one worker, which runs on the first core; load (wrk, h2load) and origin (`hearsay origin`) have the others.
The servers take turns in each round, so that a ratio compares neighbours in time. The origin is stopped during hits: an
answer can only come from the cache, and a server that does not answer alone is not measured. The CPU time is that of the
server and its children in /proc, so it counts on a busy machine as well, but not quite: other programs take the caches
of the processor. The result says how much of the core they took.

Exit code 1: a server or the load failed where it should not have. Linux, addresses from --net only.
"""
import argparse
import contextlib
import datetime
import json
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from others import chart, load, process, report, servers

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE, PICTURE = ROOT / "docs/measurements/other-servers.md", ROOT / "docs/images/other-servers.svg"
TOOLS = ["wrk", "nghttp2-client", "openssl"]
STORE_BYTES = 2 * servers.CACHE_MIB << 20  # of nginx and of Traffic Server


def say(words):
    print(words, file=sys.stderr, flush=True)


def output(*argv):
    return subprocess.run(argv, capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip()


def machine():
    """What the figures depend on: name -> text."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    system = platform.freedesktop_os_release()["PRETTY_NAME"]
    return {"processor": f"{model}, {os.cpu_count()} cores", "system": f"{system}, Linux {platform.release()}"}


def versions(program, names):
    own = output(program, "version").split("\n")[0].removeprefix("hearsay").strip()
    return {"hearsay": own, **{name: output("dpkg-query", "-W", "-f", "${Version}", name) for name in names}}


def core_seconds(core):
    """Seconds in which the core was not idle since the start of the machine."""
    fields = next(line.split()[1:9] for line in open("/proc/stat") if line.startswith(f"cpu{core} "))
    user, nice, system, _idle, _waiting, *interrupts_and_stolen = map(int, fields)
    return sum((user, nice, system, *interrupts_and_stolen)) / os.sysconf("SC_CLK_TCK")


class Bench:
    """The origin and all servers, started. `results` is what report.py reads."""

    def __init__(self, args, results):
        self.args, self.results = args, results
        cores = sorted(map(str, os.sched_getaffinity(0)), key=int)
        self.core, self.load_cores = cores[0], ",".join(cores[1:] or cores)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hearsay-against-"))
        roomy = os.path.isdir("/dev/shm") and shutil.disk_usage("/dev/shm").free > STORE_BYTES
        self.store = pathlib.Path(tempfile.mkdtemp(prefix="hearsay-against-", dir="/dev/shm")) if roomy else self.folder / "store"
        self.origin, self.servers = None, []

    def start(self):
        for folder in (self.folder, self.store):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o755)
        self.write_certificate()
        self.write_files()
        (self.folder / "load.lua").write_text(load.SCRIPT)
        origin = (f"{self.args.net}.1", 8000)
        (self.folder / "origin").mkdir()
        self.origin = process.Process([self.args.program, "origin", "--listen", "%s:%d" % origin], origin, self.load_cores,
                                      self.folder / "origin")
        for i, name in enumerate(self.results["versions"], start=2):
            place = servers.Place(f"{self.args.net}.{i}", "%s:%d" % origin, self.folder / name, self.store / name,
                                  self.folder / "tls", self.folder / "files", self.args.program)
            for folder in (place.folder, place.store):
                folder.mkdir(exist_ok=True)
            self.servers.append(servers.Server(name, place, self.core))
            say(f"{name} listens on {place.host}")

    def write_certificate(self):
        tls = self.folder / "tls"
        tls.mkdir()
        output("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
               "-subj", "/CN=bench", "-keyout", f"{tls}/key.pem", "-out", f"{tls}/cert.pem")
        (tls / "both.pem").write_text((tls / "cert.pem").read_text() + (tls / "key.pem").read_text())
        for name in ("key.pem", "both.pem"):
            (tls / name).chmod(0o644)  # for `nobody`

    def write_files(self):
        for row in load.ROWS.values():
            for path in load.paths_of(row):
                file = self.folder / "files" / path[1:]
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(b"x" * row.size)

    def measure(self, name):
        """All rounds of one row, with the servers that can do it."""
        row, able = load.ROWS[name], []
        for server in self.servers:
            why = servers.CANNOT.get((name, server.name)) or self.failure(lambda: load.warm(server, row, self.origin, self.load_cores))
            if why:
                self.leave_out(name, server, why)
            else:
                able.append(server)
        for turn in range(self.args.rounds):
            first = turn % len(able) if able else 0
            for server in able[first:] + able[:first]:
                if why := self.failure(lambda: self.sample(name, row, server, turn)):
                    able = [each for each in able if each is not server]
                    self.leave_out(name, server, why)

    def failure(self, step):
        """Returns None, or why the step failed."""
        try:
            step()
        except load.LoadFailed as failure:
            return str(failure)

    def leave_out(self, name, server, why):
        say(f"{name}: {server.name} is left out: {why}")
        self.results["samples"] = [each for each in self.results["samples"] if (each["row"], each["server"]) != (name, server.name)]
        self.results["absent"].append({"row": name, "server": server.name, "why": why})

    def sample(self, name, row, server, turn):
        with load.paused(self.origin) if row.objects else contextlib.nullcontext():
            put_load = load.plan(server, row, turn, self.folder / "load.lua", self.load_cores, self.args.seconds)
            before, core_before, began = server.cpu_seconds(), core_seconds(self.core), time.monotonic()
            requests, seconds = put_load()
        took = time.monotonic() - began
        cpu, core = server.cpu_seconds() - before, core_seconds(self.core) - core_before
        sample = {"row": name, "server": server.name, "round": turn, "cpu_us": cpu / requests * 1e6, "rate": requests / seconds,
                  "busy": cpu / took, "others": min(1, max(0, core - cpu) / took)}
        self.results["samples"].append(sample)
        say(f"{name}, round {turn + 1} of {self.args.rounds}: {server.name} {sample['cpu_us']:.1f} us, {sample['rate']:,.0f}/s, "
            f"{sample['busy']:.0%} of its core, others {sample['others']:.0%}")

    def stop(self):
        for each in [*self.servers, *([self.origin] if self.origin else [])]:
            each.stop()
        for folder in {self.folder, self.store}:
            shutil.rmtree(folder, ignore_errors=True)


def measure(args):
    """Returns the results of all rows."""
    results = {"date": datetime.date.today().isoformat(), "machine": machine(), "versions": versions(args.program, args.against),
               "rounds": args.rounds, "seconds": args.seconds, "samples": [], "absent": []}
    bench = Bench(args, results)
    try:
        bench.start()
        for name in args.rows:
            bench.measure(name)
    finally:
        bench.stop()
    return results


def failed(results):
    """Returns the absences that no property of a server explains."""
    return [f"{each['row']}: {each['server']}: {each['why']}" for each in results["absent"]
            if (each["row"], each["server"]) not in servers.CANNOT]


def write(args, results):
    print(report.page_part(results))
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(results, indent=1) + "\n")
    if args.svg:
        pathlib.Path(args.svg).write_text(chart.chart(results))
    if args.publish:
        PAGE.write_text(report.put_into(PAGE.read_text(), results))
        PICTURE.write_text(chart.chart(results))


def chosen(text, names):
    """The parser of a list with commas; `all` stands for every name."""
    asked = list(names) if text == "all" else list(dict.fromkeys(text.split(",")))
    if unknown := [each for each in asked if each not in names]:
        raise argparse.ArgumentTypeError(f"nothing is called {', '.join(unknown)}; there are: {', '.join(names)}")
    return asked


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the release program of hearsay; ./dev gives it")
    parser.add_argument("--against", type=lambda text: chosen(text, servers.OTHERS), default="all", nargs="?", const="all",
                        metavar="NAMES", help=f"servers with commas between, of {', '.join(servers.OTHERS)}; default: all")
    parser.add_argument("--rows", type=lambda text: chosen(text, load.ROWS), default="all", metavar="ROWS",
                        help=f"with commas between, of {', '.join(load.ROWS)}; default: all")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3, help="of load on a server in a round; default: 3")
    parser.add_argument("--net", default="127.0.47", help="first three numbers of the addresses; default: 127.0.47")
    parser.add_argument("--json", metavar="FILE", help="write all samples")
    parser.add_argument("--svg", metavar="FILE", help="write the picture")
    parser.add_argument("--publish", action="store_true", help=f"write {PAGE.relative_to(ROOT)} and {PICTURE.relative_to(ROOT)}")
    parser.add_argument("--packages", action="store_true", help="only print the Debian packages that this needs")
    args = parser.parse_args()
    if args.rounds < 1 or not 1 <= args.seconds <= 30:
        parser.error("--rounds is 1 or more, and --seconds is 1 to 30")
    args.program = os.path.abspath(args.program)
    return args


def main():
    args = arguments()
    if args.packages:
        print("\n".join(TOOLS + args.against))
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    os.umask(0o022)  # `nobody` reads files of root
    try:
        results = measure(args)
    except (process.ServerFailed, OSError, subprocess.CalledProcessError) as failure:
        sys.exit(str(failure))
    write(args, results)
    if failures := failed(results):
        sys.exit("left out:\n" + "\n".join(failures))


if __name__ == "__main__":
    main()
