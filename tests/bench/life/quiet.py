"""Hits in memory beside a busy disk: see tests/bench/disk_life.py."""
import itertools
import mmap
import os
import random
import signal
import statistics
import threading
import time

from life.parts import MIB, refused, start_origin, Client, Node


def probe(port, seconds, rate=1000):
    """Microseconds of hits, one after another, and how many were no hits in memory."""
    client, times, others = Client(port), [], 0
    due = time.perf_counter()
    end = due + seconds
    while due < end:
        due += 1 / rate
        wait = due - time.perf_counter()
        if wait > 0:
            time.sleep(wait)
        begun = time.perf_counter()
        _, head = client.ask("GET", "/hot")
        client.read()
        times.append((time.perf_counter() - begun) * 1e6)
        cache = head["cache-status"]
        others += "; hit" not in cache or "detail=disk" in cache
    client.close()
    return times, others


def in_process(work):
    """Runs work() in a process of its own; the number to kill."""
    pid = os.fork()
    if pid:
        return pid
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        work()
    finally:
        os._exit(0)


def load(port, args, number, old):
    """Half of the threads store what is new, half read what is old, all at their share of the rate."""
    def run(thread):
        client, rng = Client(port), random.Random(number * 100 + thread)
        pause, due = 8 * args.bytes / MIB / (2 * args.load), time.monotonic()
        for i in itertools.count():
            due = max(due + pause, time.monotonic() - 1)
            time.sleep(max(due - time.monotonic(), 0))
            url = f"/new/{number}/{thread}/{i}" if thread % 2 else f"/old/{rng.randrange(old)}"
            client.ask("GET", url, f"Hearsay-Bytes: {args.bytes}\r\n")
            for _ in client.parts():
                pass
    for thread in range(8):
        threading.Thread(target=run, args=(thread,), daemon=True).start()
    time.sleep(3600)


def drop_pages(node):
    while True:
        for path in node.segments():
            try:
                file = os.open(path, os.O_RDONLY)
            except FileNotFoundError:
                continue
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(file)
        time.sleep(0.2)


def write_directly(path, seconds):
    """Keeps the device busy past the page cache."""
    block = mmap.mmap(-1, 4 * MIB)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_DIRECT, 0o600)
    end, written = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        written += os.pwrite(file, block, written % (256 * MIB))
    os.close(file)


def device(folder):
    """Of the device under `folder`: milliseconds busy and MiB written, since the machine's start."""
    number = os.stat(folder).st_dev
    with open("/proc/diskstats") as lines:
        for line in lines:
            fields = line.split()
            if (int(fields[0]), int(fields[1])) == (os.major(number), os.minor(number)):
                return int(fields[12]), int(fields[9]) * 512 / MIB
    return 0, 0


def start(args):
    """The node with a disk, the one without."""
    start_origin(args)
    cache = {"memory": "128MiB", "disk_admission": "always"}
    nodes = (Node(args, "a", args.port + 1, args.port, {**cache, "disk": {"path": f"{args.folder}/a", "size": args.size}}),
             Node(args, "m", args.port + 3, args.port, cache))
    for node in nodes:
        node.start(["chrt", "--rr", "1"] if args.realtime else [])
        node.wait()
        probe(node.port, 0.01)
    if args.realtime:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    return nodes


def fill(args, port, count):
    client = Client(port)
    for i in range(count):
        client.ask("GET", f"/old/{i}", f"Hearsay-Bytes: {args.bytes}\r\n")
        for _ in client.parts():
            pass
        if i % 64 == 63:
            time.sleep(0.05)  # as the queue is bounded


def run_phase(args, phase, node, jobs):
    """Prints a line; (p50, p99, p99.9) in microseconds."""
    running = [in_process(job) for job in jobs]
    args.children += running
    if running:
        time.sleep(1)
    busy, before, cpu, begun = device(args.folder), node.status(), node.cpu(), time.monotonic()
    times, others = probe(node.port, args.seconds)
    took, after = time.monotonic() - begun, node.status()
    busy = [now - was for now, was in zip(device(args.folder), busy)]
    share = (node.cpu() - cpu) / took
    for pid in running:
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
        args.children.remove(pid)
    times.sort()
    row = [times[len(times) * part // 1000] for part in (500, 990, 999)]
    given = after["bytes"]["to_clients"] - before["bytes"]["to_clients"]
    print(f"{phase:17} p50 {row[0]:5.0f} p99 {row[1]:6.0f} p99.9 {row[2]:6.0f} us, {len(times)} hits ({others} not of "
          f"memory); the node takes {100 * share:.0f} % of a core and gives {given / took / MIB:.0f} MiB/s, the device is busy "
          f"{busy[0] / took / 10:.0f} % and takes {busy[1] / took:.0f} MiB/s", end="")
    if jobs and after["cache"]["disk"]:
        was, now = before["cache"]["disk"][0], after["cache"]["disk"][0]
        by = {key: now[key] - was[key] for key in now if isinstance(now[key], int)}
        print(f", {by['written_bytes'] / took / MIB:.0f} of them the node's ({refused(by)} writes refused); read by "
              f"threads {by['read_by_threads']}, at once {by['read_at_once']}", end="")
    print(flush=True)
    return row


def quiet(args):
    with_disk, without = start(args)
    old = 512 * MIB // args.bytes  # far more than memory
    fill(args, with_disk.port, old)
    results, numbers = {"at rest": [], "load without disk": [], "load with disk": []}, itertools.count()
    for _ in range(args.rounds):
        for phase, rows in results.items():
            node, number = without if "without" in phase else with_disk, next(numbers)
            jobs = [] if phase == "at rest" else [
                lambda: load(node.port, args, number, old), lambda: drop_pages(with_disk),
                lambda: write_directly(f"{args.folder}/direct", args.seconds + 2)]
            rows.append(run_phase(args, phase, node, jobs))
    for part, name in enumerate(("p50", "p99", "p99.9")):
        rest, control, disk = ([row[part] for row in rows] for rows in results.values())
        ratios = sorted(d / c for d, c in zip(disk, control))
        print(f"{name}: medians {statistics.median(rest):.0f} us at rest, {statistics.median(control):.0f} under load without "
              f"a disk, {statistics.median(disk):.0f} with ({statistics.median(disk) / statistics.median(control):.2f} of "
              f"that; in each round {ratios[0]:.2f} to {ratios[-1]:.2f}, median {statistics.median(ratios):.2f})")
    return True
