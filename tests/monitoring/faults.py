"""A healthy cluster, and then one fault for each alert.

a, b, c     a cluster of three
e           refuses k (another key), r (other rules), n (no encryption) and u (not on its list)
p           asks q, whose announcements are an hour late, for content that q has evicted
m           a memory of 1 MiB, an expiring certificate, groups with dead servers
d           a disk that is removed, a request limit, a log on a full device, a broken configuration
f           few descriptors, and more connections than an address may have
"""
import shutil
import signal
import socket
import subprocess
import time

from cluster import DEAD, NET, ORIGIN, SILENT, Failure, Node, eventually

TRIO = [("a", 1), ("b", 2), ("c", 3)]
# Each alert that needs something that cannot be had here. promtool tests them by their thresholds.
BY_THRESHOLDS_ONLY = {
    "HearsayVersionsDiffer": "needs another version of the program",
    "HearsayNodeRestarts": "three restarts show nothing that the series do not",
    "HearsayInternalErrors": "needs a defect",
    "HearsayCertificateExpired": "HearsayCertificateExpires fires by the same metric",
    "HearsayKeyRotationUnfinished": "HearsayClusterKeysDiffer fires by the same metric",
    "HearsayTraceSpansLost": "needs a collector that refuses for minutes",
    "HearsayClocksDiffer": "needs a node with another clock",
    "HearsaySummaryLate": "needs a network that loses part of a summary",
    "HearsaySummaryResyncs": "needs a relay that drops frames",
    "HearsayNoPeerHits": "the healthy cluster has them",
    "HearsayMostRequestsRefused": "no node of the test refuses most of its requests",
    "HearsayMemoryNoRoom": "needs minutes of slow clients",
    "HearsayBodyWindowsFull": "needs minutes of slow clients",
    "HearsayDiskFull": "needs 256 MiB of writes and more",
    "HearsayDiskPaused": "needs a full file system",
    "HearsayDiskSlow": "needs a slow device",
    "HearsayDiskErrors": "needs a damaged device",
}


class Healthy:
    """Three nodes that share, and load for them."""

    def __init__(self, program, folder):
        self.nodes = {name: Node(program, folder, name, at, [each for each in TRIO if each[0] != name],
                                 cluster={"gone_after": "50s"}) for name, at in TRIO}
        self.a, self.b, self.c = self.nodes.values()
        self.turn = 0  # the number of objects that a has

    def wait(self):
        for node in self.nodes.values():
            node.wait_until_ready()

    def load(self):
        """Ten new objects at a, which b and c then ask for twice, and ten that only b has."""
        paths = [f"/healthy/{self.turn + i}" for i in range(10)]
        self.turn += len(paths)
        for path in paths:
            if self.a.get(path) != 200:
                raise Failure(f"a does not serve {path}: {self.a.log()}")
            self.b.get("/only-b" + path)
        eventually("b and c have the summary of a", lambda: all(
            node.peers()["a"]["objects"] >= self.turn for node in (self.b, self.c)))
        for path in paths:
            for node in (self.b, self.c, self.b, self.c, self.a):
                node.get(path)


def certificate(folder):
    """Paths of a certificate that is valid for five days, and of its key."""
    paths = f"{folder}/five-days.pem", f"{folder}/five-days.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "5", "-subj", "/CN=www.example", "-addext", "subjectAltName=DNS:www.example",
                    "-out", paths[0], "-keyout", paths[1]], check=True, capture_output=True)
    return paths


class Broken:
    """The nodes that break, and the requests that show it."""

    def __init__(self, program, folder, healthy):
        self.program, self.folder, self.healthy = program, folder, healthy
        self.turn, self.open, self.nodes = 0, [], []
        self.silent = socket.create_server((SILENT.split(":")[0], 8000))
        self.start_refused()
        self.start_limited()
        self.start_small()
        self.start_late()

    def node(self, *args, **settings):
        self.nodes.append(Node(self.program, self.folder, *args, **settings))
        return self.nodes[-1]

    def targets(self):
        return [node.admin for node in self.nodes]

    def start_refused(self):
        e = [("e", 4)]
        self.e = self.node("e", 4, [("k", 7), ("r", 8), ("n", 9)])
        self.node("k", 7, e, key="another key, which is as long as the first one")
        self.node("r", 8, e, rules=[{"name": "q", "match": {"hosts": ["*"]}, "query": "ignore"}])
        self.node("n", 9, e, cluster={"encrypt": False})
        self.unlisted = self.node("u", 10, e)

    def start_limited(self):
        self.disk = f"{self.folder}/disk"
        self.d = self.node("d", 6, cache={"disk": {"path": self.disk, "size": "256MiB"}},
                           clients={"limits": {"per_address": {"requests": 5}}}, log={"access": "/dev/full"})
        self.f = self.node("f", 13, descriptors=128, limits={"connections_per_address": 45},
                           timeouts={"origin_head": "5m"})

    def start_small(self):
        pem, key = certificate(self.folder)
        dead = {"url": f"http://{DEAD}"}
        self.m = self.node("m", 5, cache={"memory": "1MiB"}, tls={
            "listen": f"{NET}.5:3443", "certificate": pem, "key": key}, origins=[
                {"host": "half.example", "upstreams": [{"url": f"http://{ORIGIN}"}, dead]},
                {"host": "none.example", "upstreams": [dead]}, {"host": "*", "url": f"http://{ORIGIN}"}])

    def start_late(self):
        """q announces nothing after p has its summary, so p does not learn of evictions."""
        self.q = self.node("q", 12, [("p", 11)], cache={"memory": "1MiB"},
                           summary={"announce": {"changed": 1.0, "delay": "1h"}})
        self.q.wait(lambda: self.q.answer("/healthz"), "answers")
        for i in range(150):
            self.q.get(f"/evicted/{i}", size=4000)
        self.p = self.node("p", 11, [("q", 12)])
        self.p.wait(lambda: self.p.peers()["q"]["state"] == "in_step", "is in step with q")
        for i in range(400):
            self.q.get(f"/later/{i}", size=4000)
        self.evicted, self.next_evicted = 0, time.monotonic()

    def break_all(self):
        self.healthy.c.kill()
        self.healthy.a.get("/healthy/1", method="PURGE")  # c cannot confirm it
        self.healthy.b.send(signal.SIGSTOP)
        for i in range(3):
            self.open.append(self.healthy.a.begin(f"/{i}", host="silent.example"))
        self.f.wait_until_ready()
        for i in range(45):  # each holds a connection of a client, and one to the origin
            self.open.append(self.f.begin(f"/slow/{i}", delay=300000))
        self.d.wait_until_ready()
        with open(self.d.config_path, "w") as file:
            file.write("{")
        self.d.send(signal.SIGHUP)
        shutil.rmtree(self.disk, ignore_errors=True)

    def load(self):
        """A round of requests that meet the faults."""
        self.turn += 1
        a, turn = self.healthy.a, self.turn
        for i in range(4):
            a.get(f"/cold/{turn}/{i}")  # the hit rate falls
        a.get(f"/x{turn}", host="dead.example")
        if turn < self.healthy.turn:
            a.get(f"/only-b/healthy/{turn}")
        for i in range(6):
            self.m.get(f"/full/{turn}/{i}", size=200000)
        self.m.get(f"/{turn}", host="half.example")
        self.m.get(f"/{turn}", host="none.example")
        if time.monotonic() >= self.next_evicted:  # slowly, so that they last for several windows of the rules
            self.p.get(f"/evicted/{self.evicted % 150}", size=4000)
            self.evicted, self.next_evicted = self.evicted + 1, time.monotonic() + 0.3
        for i in range(20):
            self.d.get(f"/{turn}/{i}")
        self.f.begin("/refused").close()

    def drain(self):
        self.unlisted.send(signal.SIGTERM)
