"""The steps that every recipe goes through, once for each way by which its clients can come to a node.

| step | what has to hold |
|---|---|
| without hearsay | The client works with this origin. |
| first node | The client works through node a. |
| second node | Node b gets all content from its peer: the origin sends no byte of a body. |
| another signature | The same, after the origin has changed every signature and token. |
| origin down, 429, 503 | The stored indexes are stale. The client works, or fails, as the recipe says. |
| no rights | A client without rights gets nothing, though the content is stored. |

A step uses a new machine, so a client has nothing of an earlier one.
"""
import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from harness import access
from harness.certificates import Authority
from harness.nodes import Cluster, port_of
from harness.origin import Origin
from harness.sandbox import SKIPPED, Failure, Machine, Names, Skip, enter

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
Row = collections.namedtuple("Row", "recipe way step served requests origin_bytes seconds")
SERVED, REFUSED = "served", "refused"


class Recipe:
    """One kind of traffic. Subclasses set the members and write serve() and pull()."""

    config = None  # file in configs/recipes
    needs = []  # programs of the clients
    hosts = []  # names of the origin's servers
    ways = ["mirror"]  # names of classes in access.py, in small letters
    indexes = []  # rules for content that changes: it is stale in the steps with a failing origin
    scheme = "https"  # of the URLs that the client asks for: "http" on the way "proxy"
    is_signed = True  # the origin signs URLs, or asks for tokens
    in_outage = SERVED  # what a client gets while the origin fails: SERVED or REFUSED

    def __init__(self, folder):
        self.folder = folder

    def missing(self):
        """Returns the first program that is not here, or None."""
        return next((program for program in self.needs if not shutil.which(program)), None)

    def serve(self, origin):
        """Makes the content, and gives `origin` a handler for each host."""
        raise NotImplementedError

    def pull(self, machine):
        """Lets the client of `machine` get the content, and compares it. Raises Failure."""
        raise NotImplementedError

    def change_signatures(self):
        """Makes the origin give and take other signatures and tokens from now on."""

    pull_without_rights = None  # like pull(), for a client that the origin would refuse

    def is_content(self, entry):
        """Whether the body of this request to the origin counts: answers to one client, such as tokens, do not."""
        return entry.method in ("GET", "HEAD")

    def stop(self):
        pass


class Scenario:
    def __init__(self, program, recipe, way, folder):
        self.program, self.recipe, self.way, self.folder = program, recipe, way, folder
        self.rows, self.machines = [], 0
        if way == "proxy":
            recipe.scheme = "http"
        with open(os.path.join(ROOT, "configs", "recipes", recipe.config)) as file:
            self.config = json.load(file)
        self.port = port_of(self.config["listen"])
        self.authority = Authority(folder)
        self.operator = None
        self.certificate = self.authority.issue(recipe.hosts)
        self.origin = Origin(access.ORIGIN, self.certificate)
        if way == "intercept":
            self.operator = self.make_operator()
        elif way == "names":
            self.config["tls"] = {"listen": "0.0.0.0:443", "certificate": self.certificate[0], "key": self.certificate[1]}
            for entry in self.config["origins"]:
                entry.pop("public", None), entry.pop("rewrite", None)

    def make_operator(self):
        """Adds what docs/howto/recipes.md says to the published configuration, and returns the operator's certificate."""
        folder = os.path.join(self.folder, "operator")
        names = [word for host in self.recipe.hosts for word in ("--host", host)]
        made = subprocess.run([self.program, "ca", "create", *names, folder], capture_output=True, text=True)
        if made.returncode:
            raise Failure(f"hearsay ca create: {made.stdout}{made.stderr}")
        ca = {"certificate": os.path.join(folder, "ca.pem"), "key": os.path.join(folder, "ca-key.pem")}
        self.config["forward"] = {**self.config.get("forward", {}), "enabled": True,
                                  "intercept": {"hosts": self.recipe.hosts, "ca": ca}}
        if destinations := self.config["forward"].get("destinations"):
            destinations["allow"] = [entry.replace(":80", ":443") for entry in destinations["allow"]]
        for entry in self.config.get("origins", []):
            entry["url"] = entry["url"].replace("http://", "https://")
        return ca["certificate"]

    def access(self, node):
        if not node:
            return access.Direct(self.recipe.hosts, self.authority.certificate)
        if self.way == "proxy":
            return access.Proxy(node, self.port)
        if self.way == "mirror":
            return access.Mirror(node, self.config)
        if self.way == "names":
            return access.OwnNames(self.recipe.hosts, node, self.authority.certificate)
        return access.Intercept(node, self.port, self.operator)

    def pull(self, step, node, pull=None):
        """One pull by a new machine. Returns the requests that the origin got, and adds a row to the table."""
        self.machines += 1
        machine = Machine(self.folder, f"machine{self.machines}", self.access(node), self.authority.certificate)
        mark, begin, served = self.origin.mark(), time.monotonic(), False
        try:
            (pull or self.recipe.pull)(machine)
            served = True
        except Failure as failure:
            raise Failure(f"{self.recipe.name}, {self.way}, {step}: {failure}")
        finally:
            seconds, book = time.monotonic() - begin, self.origin.since(mark)
            self.rows.append(Row(self.recipe.name, self.way, step, served, len(book), sum(entry.body_bytes for entry in book), seconds))
        plain = [entry.url for entry in book if entry.url.startswith("http:")]
        if self.way == "intercept" and plain:
            raise Failure(f"{self.recipe.name}, {self.way}, {step}: what clients ask for by https left in the clear: {plain}")
        return book

    def expect_peer_hits(self, step, node):
        """One pull, all of which the peer of the node can answer. Where the peer is slow, as on a busy machine, the node asks the origin
        beside it; these requests are allowed, as many as the node counts."""
        hedges = node.status()["upstream"]["origin_hedges"]
        book = self.pull(step, node)
        sent = [entry for entry in book if entry.body_bytes and self.recipe.is_content(entry)]
        if len(sent) > node.status()["upstream"]["origin_hedges"] - hedges:
            raise Failure(f"{self.recipe.name}, {self.way}, {step}: the origin sent bodies:\n" + "\n".join(map(str, sent)))

    def expect_refusal(self, step, node, pull):
        try:
            self.pull(step, node, pull)
        except Failure:
            return
        raise Failure(f"{self.recipe.name}, {self.way}, {step}: the client got the content")

    def run(self):
        recipe = self.recipe
        recipe.serve(self.origin)
        self.pull("without hearsay", None)
        names = {host: access.ORIGIN for host in recipe.hosts}
        cluster = Cluster(self.program, self.config, self.folder, names, access.trust(self.authority.certificate))
        try:
            a, b = cluster.nodes
            self.pull("first node", a)
            cluster.wait_until_told()
            self.expect_peer_hits("second node", b)
            if not b.status()["requests"]["peer_hit"]:
                raise Failure(f"{recipe.name}, {self.way}, second node: no peer hit: {b.status()['requests']}")
            if recipe.is_signed:
                recipe.change_signatures()
                self.expect_peer_hits("another signature", b)
            for mode, step in (("down", "origin down"), (429, "origin at 429"), (503, "origin at 503")):
                b.make_stale(recipe.indexes)
                self.origin.mode = mode
                if recipe.in_outage == SERVED:
                    self.pull(step, b)
                else:
                    self.expect_refusal(step, b, recipe.pull)
            self.origin.mode = "up"
            if recipe.pull_without_rights:
                self.expect_refusal("no rights", b, recipe.pull_without_rights)
        finally:
            cluster.stop()
            recipe.stop()
            self.origin.stop()


def table(rows):
    lines = ["| way | step | served | requests to the origin | bytes of bodies | seconds |", "|---|---|---|---|---|---|"]
    lines += [f"| {row.way} | {row.step} | {'yes' if row.served else 'no'} | {row.requests} | {row.origin_bytes:,} | {row.seconds:.2f} |"
              for row in rows]
    return "\n".join(lines)


def ways(kind, way):
    """The ways to run: `way`, or all. A recipe for a proxy has no mirror names, so it is run by proxy in their place."""
    if not way:
        return kind.ways
    return [way] if way in kind.ways or "proxy" not in kind.ways else ["proxy"]


def main(kind):
    parser = argparse.ArgumentParser(description=kind.__doc__)
    parser.add_argument("program", help="the program hearsay")
    parser.add_argument("--way", help="only this way to the node")
    parser.add_argument("--table", action="store_true", help="print what each step cost, as Markdown")
    parser.add_argument("--json", metavar="FILE", help="write what each step cost to this file")
    parser.add_argument("--keep", action="store_true", help="keep the folder with logs")
    arguments = parser.parse_args()
    os.environ["PATH"] = os.path.join(ROOT, "build", "recipes", "bin") + os.pathsep + os.environ["PATH"]  # of `./dev recipes`
    try:
        enter()
        rows = []
        for way in ways(kind, arguments.way):
            folder = tempfile.mkdtemp(prefix=f"hearsay-recipe-{kind.name}-")
            try:
                os.chmod(folder, 0o755)
                recipe = kind(folder)
                if missing := recipe.missing():
                    raise Skip(missing)
                scenario = Scenario(os.path.abspath(arguments.program), recipe, way, folder)
                scenario.run()
                rows += scenario.rows
            finally:
                if arguments.keep:
                    print(f"kept {folder}", file=sys.stderr)
                else:
                    shutil.rmtree(folder, ignore_errors=True)
    except Skip as missing:
        print(f"{kind.name}: skipped, it needs {missing}")
        sys.exit(SKIPPED)
    except Failure as failure:
        sys.exit(str(failure))
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump([row._asdict() for row in rows], file)
    print(table(rows) if arguments.table else f"{kind.name}: {len(rows)} pulls as they should be")
