"""Ends of the process at random moments: see tests/bench/disk_life.py."""
import bisect
import itertools
import json
import random
import signal
import subprocess
import threading
import time
import zlib

from life.parts import MIB, pieces, Broken, Origin, Client, Node, verdict


class World:
    """What the origin has: URLs in versions. `floor` is the version that the last answered purge left."""

    def __init__(self, args):
        self.count, self.kills, self.largest = args.urls, 0, args.largest
        self.version, self.floor = [0] * args.urls, [0] * args.urls
        self.weights = list(itertools.accumulate((i + 1) ** -0.8 for i in range(args.urls)))
        self.books = dict.fromkeys(("answers", "memory", "disk", "parts", "purges", "cut", "by_kill", "changed", "failed",
                                    "wrong", "back"), 0)
        self.lock, self.down, self.stopping = threading.Lock(), False, False

    def pick(self, rng):
        return bisect.bisect(self.weights, rng.random() * self.weights[-1])

    def page(self, path):
        i = int(path[2:])
        name = f"{path[1:]}-{self.version[i]}"
        length = int(200 * (5 * self.largest) ** (zlib.crc32(name.encode()) / 2 ** 32))  # 0.2 kB to the largest
        return name, length, f"t{i // 8}"

    def change(self, path):
        self.version[int(path[2:])] += 1

    def count_one(self, what, text=""):
        with self.lock:
            self.books[what] += 1
        if text:
            print(f"  {what}: {text}", flush=True)


def ask_for_one(world, client, rng, index=None):
    i = world.pick(rng) if index is None else index
    fields, begin, end = "", 0, None
    if rng.random() < 0.15:
        begin = rng.randrange(0, 100 * world.largest)
        end = begin + rng.randrange(1, 250 * world.largest)
        fields = f"Range: bytes={begin}-{end - 1}\r\n"
    floor, kills, version = world.floor[i], world.kills, world.version[i]
    try:
        status, head = client.ask("GET", f"/u{i}", fields)
        body = client.read()
    except Broken as error:
        if world.kills != kills or world.down:
            world.count_one("by_kill")
        elif floor != version or world.version[i] != version:
            # It changed meanwhile, or had and was not purged yet: what was missing of the old
            # version is nowhere any more.
            world.count_one("changed")
        else:
            world.count_one("cut", f"/u{i} {fields.strip()} {error}")
        return
    if status == 416:
        return
    if status not in (200, 206):
        world.count_one("failed", f"{status} for /u{i}: {body[:100]}")
        return
    name, length = head["x-body"], int(head["x-bytes"])
    begin, end = (0, length) if status == 200 else (begin, min(end, length))
    path, version = name.split("-")
    said = head.get("content-range") if status == 206 else None
    if path != f"u{i}" or body != b"".join(pieces(name, begin, end)) or \
            said not in (None, f"bytes {begin}-{end - 1}/{length}"):
        world.count_one("wrong", f"/u{i} {fields.strip()} gave {len(body)} bytes of {name} ({length}); {head}")
    elif int(version) < floor:
        world.count_one("back", f"/u{i} gave version {version}, {floor} was purged for; {head}")
    cache = head.get("cache-status", "")
    with world.lock:
        world.books["answers"] += 1
        world.books["parts"] += status == 206
        world.books["memory"] += "; detail=memory" in cache
        world.books["disk"] += "; detail=disk" in cache


def asking(world, port, seed):
    client, rng = Client(port), random.Random(seed)
    while not world.stopping:
        if world.down:
            time.sleep(0.005)
        ask_for_one(world, client, rng)


def changing(world, node, args):
    """One change after another; each purge is repeated until it is answered."""
    client, admin, rng = Client(node.port), Client(node.port + 1), random.Random(args.seed)
    while not world.stopping:
        time.sleep(rng.random() * 2 / args.changes)
        i, way = world.pick(rng), rng.choice(("url", "method", "tag", "post"))
        of_tag = range(i // 8 * 8, min(i // 8 * 8 + 8, world.count))
        going = of_tag if way == "tag" else [i]
        if way != "post":
            for j in going:
                world.version[j] += 1
        while not world.stopping:
            try:
                if way in ("url", "tag"):
                    order = {"tags": [f"t{i // 8}"]} if way == "tag" else {"urls": [f"http://localhost/u{i}"]}
                    status, _ = admin.ask("POST", "/api/v1/purge", body=json.dumps(order).encode())
                    admin.read()
                else:
                    status, _ = client.ask("PURGE" if way == "method" else "POST", f"/u{i}")
                    client.read()
            except Broken:
                time.sleep(0.01)
                continue
            if status in (200, 204):
                for j in going:
                    world.floor[j] = world.version[j]
                world.count_one("purges")
                break
            world.count_one("failed", f"{status} for a purge ({way}) of /u{i}")


def kill_and_start(world, node):
    """What it says of its disk before and after."""
    before = node.disk_status()
    world.kills, world.down = world.kills + 1, True
    node.kill()
    node.start()
    after = node.wait()["cache"]["disk"][0]
    world.down = False
    return before, after


def kills(args):
    world, rng = World(args), random.Random(args.seed)
    origin = Origin(args.port, world.page, world.change)
    node = Node(args, "a", args.port + 1, args.port,
                {"memory": "32MiB", "slice_from": args.largest * 500, "block": args.largest * 160,
                 "disk": {"path": f"{args.folder}/a", "size": args.size}})
    node.start()
    node.wait()
    threads = [threading.Thread(target=asking, args=(world, node.port, args.seed + i)) for i in range(args.clients)]
    threads.append(threading.Thread(target=changing, args=(world, node, args)))
    for thread in threads:
        thread.start()
    begun, books = time.monotonic(), world.books
    try:
        for number in range(1, args.kills + 1):
            time.sleep(rng.random() * 2 * args.every)
            before, after = kill_and_start(world, node)
            print(f"kill {number:2} at {time.monotonic() - begun:5.1f} s: {books['answers']} answers, {books['purges']} "
                  f"purges; since the last {before['written_bytes'] / MIB:.0f} MiB written, {before['reclaimed']} files given "
                  f"back; recovered {after['recovered']} in {after['loading_seconds'] * 1000:.0f} ms of "
                  f"{after['segments']} files; wrong {books['wrong']}, back {books['back']}", flush=True)
        time.sleep(1)
    finally:
        world.stopping = True
        for thread in threads:
            thread.join()
    client = Client(node.port)
    for i in range(args.urls):
        ask_for_one(world, client, rng, i)
    node.kill(signal.SIGTERM)
    survey = subprocess.run([args.program, "disk", "--check", "--json", node.disk], capture_output=True, text=True)
    found = json.loads(survey.stdout)
    print(f"{args.kills} kills, {books['answers']} answers compared ({books['parts']} parts; {books['memory']} from memory, "
          f"{books['disk']} from disk), {origin.requests} requests at the origin, {books['purges']} purges; {books['failed']} "
          f"failed; broken off by kills {books['by_kill']}, as the body changed {books['changed']}, else {books['cut']}")
    print(f"on disk at the end: {found['files']} files, {found['unsealed']} of them ended by kills, {found['damaged']} "
          f"with something torn, {found['responses']} responses, {found['blocks']} blocks")
    return verdict(not (books["wrong"] or books["back"] or books["failed"] or books["cut"]),
                   f"{books['wrong']} wrong bodies, {books['back']} purged objects back")
