#!/usr/bin/python3
"""The dashboard of a live cluster of three nodes, whose numbers the test knows.

cluster_test.py PROGRAM [IMAGES]. With IMAGES the cluster is put under load, one node is killed, and the
screenshots of the documentation are written to that folder. Exit code 77: skipped.
"""
import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from browser import Browser
from selenium.webdriver.common.keys import Keys

TOKEN = "the-token-of-three-nodes"
KEY = "the cluster key of a test, of at least 32 bytes"
SITE = "shop.example"
OBJECTS = 20
EVIL = "/<img%20src=x%20onerror=alert(1)><script>alert(2)</script>"
PROGRAM = IMAGES = ""


def address(number):
    """A loopback address that this process alone uses."""
    return f"127.{130 + (os.getpid() >> 8) % 60}.{os.getpid() & 255}.{number}"


class Cluster:
    """An origin and the nodes a, b, c."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="hearsay-dashboard-")
        self.names = ("a", "b", "c")
        self.processes = {"origin": self.start("origin", "origin", "--listen", f"{address(9)}:8000", "--workers", "1")}
        try:
            self.form()
        except AssertionError:
            for name in self.processes:
                with open(f"{self.folder}/{name}.log") as log:
                    print(name, log.read()[-2000:])
            self.close()
            raise

    def form(self):
        for name in self.names:
            self.start_node(name)
        for name in self.names:
            self.until(lambda: all(peer["state"] == "in_step" for peer in self.status(name)["cluster"]["peers"]), f"{name} in step")

    def start(self, log, *words):
        with open(f"{self.folder}/{log}.log", "ab") as out:
            return subprocess.Popen([PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def start_node(self, name):
        number = self.names.index(name) + 1
        place = lambda each: {"node": each, "http": f"{address(self.names.index(each) + 1)}:3128",
                              "link": f"{address(self.names.index(each) + 1)}:3129"}
        disk = f"{self.folder}/disk-{name}"
        os.makedirs(disk, exist_ok=True)
        with open(f"{self.folder}/{name}.json", "w") as file:
            json.dump({"node": name, "workers": 1, "listen": f"{address(number)}:3128",
                       "admin": {"listen": f"{address(number)}:9128", "token": TOKEN},
                       "cache": {"memory": "64MiB", "disk": {"path": disk, "size": "256MiB"}},
                       "origins": [{"host": "*", "url": f"http://{address(9)}:8000"}],
                       "cluster": {"key": KEY, "listen": f"{address(number)}:3129",
                                   "peers": [place(each) for each in self.names if each != name]}}, file)
        self.processes[name] = self.start(name, "run", f"{self.folder}/{name}.json")
        self.until(lambda: self.admin(name, "/readyz")[0] == 200, f"{name} ready")

    def until(self, holds, what):
        end = time.monotonic() + 60
        while not holds():
            if time.monotonic() > end:
                raise AssertionError(f"not within a minute: {what}")
            time.sleep(0.05)

    def ask(self, host, port, path, **headers):
        connection = http.client.HTTPConnection(host, port, timeout=10)
        try:
            connection.putrequest("GET", path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.endheaders()
            answer = connection.getresponse()
            return answer.status, answer.read()
        except OSError:
            return 0, b""
        finally:
            connection.close()

    def get(self, name, path):
        return self.ask(address(self.names.index(name) + 1), 3128, path, Host=SITE)[0]

    def admin(self, name, path):
        return self.ask(address(self.names.index(name) + 1), 9128, path, Host="localhost", Authorization=f"Bearer {TOKEN}")

    def status(self, name):
        return json.loads(self.admin(name, "/api/v1/status")[1])

    def page(self, name):
        return f"http://{address(self.names.index(name) + 1)}:9128/"

    def kill(self, name):
        process = self.processes.pop(name)
        process.kill()
        process.wait()

    def close(self):
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Load:
    """Requests at a steady rate, from a thread of their own, until stop()."""

    def __init__(self, cluster, nodes):
        self.cluster, self.nodes, self.ends = cluster, nodes, threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        number = 1
        while not self.ends.wait(0.004):
            number = number * 16807 % 2147483647
            self.cluster.get(self.nodes[number % len(self.nodes)], f"/pool/{(number >> 8) % (1 + (number >> 20) % 600)}")

    def stop(self):
        self.ends.set()
        self.thread.join()


class Live(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="hearsay-dashboard-")
        self.addCleanup(self.folder.cleanup)
        self.cluster = Cluster()
        self.addCleanup(self.cluster.close)
        self.browser = Browser(self.folder.name)
        self.addCleanup(self.browser.close)

    def test_a_page_of_one_node_shows_all_three_and_carries_out_orders(self):
        c, b = self.cluster, self.browser
        for _ in range(2):
            for i in range(OBJECTS):
                self.assertEqual(c.get("a", f"/{i}"), 200)
        c.until(lambda: next(peer for peer in c.status("b")["cluster"]["peers"] if peer["node"] == "a")["objects"] >= OBJECTS,
                "b knows the objects of a")
        for i in range(OBJECTS):
            self.assertEqual(c.get("b", f"/{i}"), 200)
        hits = c.status("b")["requests"]["peer_hit"]
        self.assertGreaterEqual(hits, OBJECTS - 2, "nearly all are peer hits")

        with self.subTest("cluster, seen from c, which got no request"):
            b.open(c.page("c"))
            b.until(lambda: (b.row("#nodes", "a") or {}).get("requests") == str(2 * OBJECTS))
            b.until(lambda: (b.row("#nodes", "b") or {}).get("requests") == str(OBJECTS))
            self.assertEqual(b.row("#nodes", "a")["local"], "50.0 %")
            self.assertEqual(b.row("#nodes", "a")["origin"], "50.0 %")
            self.assertEqual(b.row("#nodes", "b")["peers"], f"{100 * hits / OBJECTS:.1f} %")
            self.assertEqual(b.row("#nodes", "c")["requests"], "0")
            self.assertEqual(b.text(".matrix tbody tr:nth-child(2) td:nth-child(2)"), str(hits), "b got them from a")
            b.shows("#problems", "No problem is known")
            b.shows("#cluster-now", "Requests per second", "p99 ")

        with self.subTest("the traffic of another node"):
            b.panel("traffic")
            b.script("const s = document.getElementById('traffic-node'); s.value = 'b'; s.dispatchEvent(new Event('change'))")
            b.shows("#charts", "all requests p50")

        with self.subTest("traffic"):
            b.open(c.page("a"), "traffic")
            b.until(lambda: str(2 * OBJECTS) in b.text("#traffic-totals"))
            b.shows("#traffic-totals", "50.0 % local")

        with self.subTest("a refused token, then the right one"):
            b.panel("log")
            b.shows("#errors", "needs the token")
            b.give_token("wrong", refused=True)
            b.give_token(TOKEN)
            b.until(lambda: "needs the token" not in b.text("#errors"))

        with self.subTest("disks and settings"):
            b.panel("capacity")
            b.shows("#capacity", "of 64 MiB", f"{c.folder}/disk-a", "store")
            b.panel("settings")
            b.shows("#setting-list", "cache.memory", "64MiB", "file")

        with self.subTest("one object, and its purge"):
            b.panel("objects")
            url = f"http://{SITE}/3"
            b.type("#explain-url", url + Keys.ENTER)
            b.shows("#explanation", "stored and fresh", "yes, fresh")
            b.type("#purge-value", url + Keys.ENTER)
            b.confirm()
            b.shows("#purge-result", "dropped 1 object", "Confirmed by b, c")
            b.click("#explain-form button")
            b.shows("#explanation", "not stored")

        with self.subTest("a URL that is a script"):
            for _ in range(200):
                c.get("a", EVIL)
            b.panel("traffic")
            b.shows("#top", f"http://{SITE}{EVIL}")
            self.assertEqual(b.script("return document.querySelectorAll('main img, main script').length"), 0)

        with self.subTest("a dead peer"):
            c.kill("c")
            b.panel("cluster")
            b.shows("#problems", "Fault", "Node c: ", "What to do")
            b.shows("#cluster-now", "2 of 3")

        with self.subTest("a reload, and the drain of the node"):
            b.panel("settings")
            b.click("[data-act=reload]")
            b.confirm()
            b.shows("#order-result", "Reloaded: nothing has changed")
            b.click("[data-act=drain]")
            b.confirm()
            b.shows("#order-result", "Node a drains")
            self.assertEqual(c.processes["a"].wait(60), 0)
            b.shows("#alarm", "has not answered since")
        self.assertEqual([line for line in b.complaints() if "ERR_" not in line], [], "the policy had nothing to stop")

    @unittest.skipUnless(len(sys.argv) > 2, "no folder for images")
    def test_makes_the_pictures_of_the_documentation(self):
        c, b = self.cluster, self.browser
        load = Load(c, ["a", "a", "b", "b", "c"])
        self.addCleanup(load.stop)
        b.open(c.page("a"))
        b.give_token(TOKEN)
        time.sleep(75)  # fifteen intervals of history for the charts
        load.nodes = ["a", "b"]
        c.kill("c")
        b.shows("#problems", "Fault")
        b.until(lambda: b.row("#nodes", "c")["state"].startswith(("down", "silent")))
        b.until(lambda: "for 0 s" not in b.text("#nodes"))
        pictures = {"dashboard-cluster": (1440, 1320, "light", "cluster"), "dashboard-cluster-dark": (1440, 1320, "dark", "cluster"),
                    "dashboard-traffic": (1440, 900, "light", "traffic"), "dashboard-traffic-dark": (1440, 900, "dark", "traffic"),
                    "dashboard-phone": (390, 844, "light", "cluster"), "dashboard-phone-dark": (390, 844, "dark", "cluster")}
        for name, (wide, high, scheme, panel) in pictures.items():
            b.size(wide, high)
            b.prefer(prefers_color_scheme=scheme)
            b.panel(panel)
            if panel == "traffic":
                b.until(lambda: b.script("return document.querySelectorAll('#charts .plot').length") == 4)
            b.until(lambda: "up to date" in b.text("#freshness"))
            b.script("window.scrollTo(0, 0); document.activeElement.blur()")
            file = os.path.join(IMAGES, name + ".png")
            b.picture(file)
            if shutil.which("pngquant"):
                subprocess.run(["pngquant", "--force", "--strip", "--output", file, "64", file], check=True)
            self.assertLess(os.path.getsize(file), 120 * 1024, name)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: cluster_test.py PROGRAM [IMAGES]")
    PROGRAM = os.path.abspath(sys.argv[1])
    IMAGES = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else ""
    if IMAGES:
        os.makedirs(IMAGES, exist_ok=True)
    unittest.main(argv=[sys.argv[0]], verbosity=2)
