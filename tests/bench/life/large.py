"""One very large file at two nodes: see tests/bench/disk_life.py."""
import shutil
import sys
import threading
import time

from life.parts import MIB, size_of, refused, pieces, Broken, Origin, Client, Node, verdict


class Watch:
    """Memory of nodes through time."""

    def __init__(self, nodes):
        self.nodes, self.rows, self.stopping = nodes, [], False
        self.begun = time.monotonic()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while not self.stopping:
            try:
                self.rows.append((time.monotonic() - self.begun, *(node.rss_mib() for node in self.nodes)))
            except (OSError, StopIteration):
                pass
            time.sleep(0.5)

    def show(self):
        step = max(len(self.rows) // 12, 1)
        for i, node in enumerate(self.nodes):
            print(f"rss of {node.name}, MiB: " + ", ".join(f"{row[0]:.0f} s {row[i + 1]:.0f}" for row in self.rows[::step])
                  + f"; at most {max(row[i + 1] for row in self.rows):.0f}")


def read_range(args, node, begin, end, whole=False):
    """Compares every byte; how many were wrong or missing, and Cache-Status."""
    client, at, bad = Client(node.port), begin, 0
    fields = "" if whole else f"Range: bytes={begin}-{end - 1}\r\n"
    status, head = client.ask("GET", "/large", fields)
    if status != (200 if whole else 206):
        sys.exit(f"{status} {head} for {fields}{client.read()[:200]}")
    started = time.monotonic()
    try:
        for data in client.parts():
            if data != b"".join(pieces(head["x-body"], at, at + len(data))):
                bad += len(data)
            at += len(data)
            if args.pace:
                time.sleep(max(started + (at - begin) / MIB / args.pace - time.monotonic(), 0))
    except Broken:
        print(f"  BROKEN OFF at {at} of {begin} .. {end} of node {node.name}")
    client.close()
    return bad + end - at, head["cache-status"]


def start(args, size):
    """Two nodes that are peers, in step."""
    room = size + size // 4 + (2 << 30)
    free, wanted = shutil.disk_usage(args.folder).free, 2 * room + (2 << 30)
    if free < wanted:
        sys.exit(f"{free >> 30} GiB are free in {args.folder}, {wanted >> 30} are wanted: try --large or --folder")
    ports = {"a": args.port + 1, "b": args.port + 4}
    peers = [{"node": name, "http": f"127.0.0.1:{port}", "link": f"127.0.0.1:{port + 2}"} for name, port in ports.items()]
    nodes = [Node(args, name, port, args.port,
                  {"memory": "256MiB", "object_max": size + MIB, "disk": {"path": f"{args.folder}/{name}", "size": room}},
                  cluster={"key": "two nodes on one machine, for a file..", "listen": f"127.0.0.1:{port + 2}",
                           "peers": peers})
             for name, port in ports.items()]
    for node in nodes:
        node.start()
    for node in nodes:
        node.wait()
    print(f"{size >> 20} MiB in blocks of 4 MiB; each node has 256 MiB of memory and {room >> 20} MiB of disk")
    return nodes


class Steps:
    """What is read, one after another, and what it cost."""

    def __init__(self, args, nodes, origin):
        self.args, self.nodes, self.origin, self.wrong = args, nodes, origin, 0

    def books(self):
        return (self.origin.bytes, self.origin.requests, sum(node.status()["bytes"]["from_peers"] for node in self.nodes),
                *(node.cpu() for node in self.nodes))

    def read(self, text, node, ranges, whole=False):
        """Bytes that came from the origin, and from a peer."""
        before, begun = self.books(), time.monotonic()
        for begin, end in ranges:
            bad, said = read_range(self.args, node, begin, end, whole)
            self.wrong += bad
        took, size = time.monotonic() - begun, sum(end - begin for begin, end in ranges)
        time.sleep(1)  # what was read ahead
        fetched, requests, shared, *cpu = (now - was for now, was in zip(self.books(), before))
        print(f"{text}: {size / MIB:.0f} MiB in {took:.1f} s ({size / MIB / took:.0f} MiB/s); {fetched / MIB:.0f} MiB from the "
              f"origin in {requests} requests, {shared / MIB:.0f} from the peer; CPU of a and b {cpu[0]:.1f} and {cpu[1]:.1f} s; "
              f"last answer: {said}", flush=True)
        return fetched, shared


def large(args):
    size = size_of(args.large)
    origin = Origin(args.port, lambda path: ("large", size, "t"), delay=args.delay / 1000)
    a, b = nodes = start(args, size)
    watch, steps = Watch(nodes), Steps(args, nodes, origin)
    middle, part = size // 2, 64 * MIB
    gap = int(size * args.gap / 2) // (4 * MIB) * (4 * MIB)
    at = middle - gap - 32 * MIB + 1000
    one, _ = steps.read("1 MiB before the middle, at a", a, [(at, at + MIB)])
    steps.read("the first half, less the gap, at a", a, [(i, min(i + part, middle - gap)) for i in range(0, middle - gap, part)])
    steps.read("the second half, less the gap, at b", b, [(i, min(i + part, size)) for i in range(middle + gap, size, part)])
    whole = steps.read("all of it at a", a, [(0, size)], whole=True)
    again = steps.read("all of it at a again", a, [(0, size)], whole=True)
    watch.stopping = True
    watch.show()
    for node in nodes:
        status = node.status()
        disk, upstream = status["cache"]["disk"][0], status["upstream"]
        print(f"{node.name}: asked its peer {upstream['peer_requests']} times and the origin {upstream['origin_requests']} times "
              f"({upstream['origin_hedges']} beside the peer, {upstream['peers_too_far']} as it is not near enough); "
              f"{disk['written']} blocks and heads written, {refused(disk)} refused, {disk['bytes'] / MIB:.0f} MiB of files")
    most = max(max(row[1:]) for row in watch.rows)
    good = verdict(steps.wrong == 0, f"{steps.wrong} bytes wrong or missing")
    good &= verdict(one <= 8 * MIB, f"a range of 1 MiB cost {one / MIB:.0f} MiB at the origin")
    good &= verdict(origin.bytes <= 1.05 * size,
                    f"the origin gave {origin.bytes / size:.3f} of the file in all; of who read it whole {whole[0] / size:.3f} "
                    f"(the gap is {2 * gap / size:.3f}) and the peer {whole[1] / size:.3f}, the second time "
                    f"{again[0] / size:.3f} and {again[1] / size:.3f}")
    return good & verdict(most < 256 * 1.25, f"memory at most {most:.0f} MiB of a node, of which 256 are cache.memory")
