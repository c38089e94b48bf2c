"""Two nodes with a published recipe. Only what belongs to one machine is replaced: its name, addresses, peers and disk."""
import json
import os
import signal
import subprocess
import time
import urllib.request

from harness.access import ORIGIN
from harness.sandbox import Failure, Names, end_with_parent

KEY = "the key of the recipes' tests, 40 bytes."
ADDRESSES = {"a": "127.0.0.1", "b": "127.0.0.2"}


class Node:
    def __init__(self, program, config, folder, name, names, environment):
        self.program, self.name, self.address = program, name, ADDRESSES[name]
        self.folder = os.path.join(folder, "node-" + name)
        os.mkdir(self.folder)
        config = derived(config, name, self.folder)
        self.path = os.path.join(self.folder, "hearsay.json")
        with open(self.path, "w") as file:
            json.dump(config, file, indent=2)
        with open(self.log_path(), "w") as log:
            self.process = subprocess.Popen(names.command([program, "run", self.path]), stdout=log, stderr=log,
                                            env={**os.environ, **environment}, preexec_fn=end_with_parent)

    def log_path(self):
        return os.path.join(self.folder, "error.log")

    def status(self):
        with urllib.request.urlopen(f"http://{self.address}:9128/api/v1/status", timeout=10) as answer:
            return json.load(answer)

    def access_log(self):
        with open(os.path.join(self.folder, "access.log")) as file:
            return [json.loads(line) for line in file if line.endswith("\n")]

    def peer(self):
        return self.status()["cluster"]["peers"][0]

    def knows_what_peer_has(self, url):
        peer = json.loads(self.command("explain", "--json", url))["peers"][0]
        return peer["claims"] or peer["has"] == "absent"

    def wait(self, what, ready, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                break
            try:
                if ready():
                    return
            except OSError:
                pass
            time.sleep(0.02)
        with open(self.log_path()) as log:
            raise Failure(f"node {self.name}: {what} not within {seconds} s:\n{log.read()[-3000:]}")

    def command(self, *arguments):
        """Runs a command of the program for this node, and returns what it prints."""
        done = subprocess.run([self.program, *arguments, "--at", f"{self.address}:9128"], capture_output=True, text=True)
        if done.returncode:
            raise Failure(f"hearsay {' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout

    def make_stale(self, rules):
        """Ends the lifetime of what these rules have stored."""
        if rules:
            self.command("purge", "--soft", *(word for rule in rules for word in ("--rule", rule)))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)

    def wait_for_end(self):
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def derived(config, name, folder):
    """The published configuration, for this node of the test."""
    address, (peer_name, peer) = ADDRESSES[name], next(each for each in ADDRESSES.items() if each[0] != name)
    config = json.loads(json.dumps(config))
    config.update(node=name, listen=f"{address}:{port_of(config['listen'])}", admin={"listen": f"{address}:9128"})
    config["cluster"] = {**config["cluster"], "key": KEY, "listen": f"{address}:3129",
                         "peers": [{"node": peer_name, "http": f"{peer}:{port_of(config['listen'])}", "link": f"{peer}:3129"}]}
    config["cache"]["disk"]["path"] = os.path.join(folder, "disk")
    config["cache"]["disk"]["size"] = "1GiB"
    config["log"] = {"access": os.path.join(folder, "access.log")}
    config.setdefault("forward", {})["private_destinations"] = [ORIGIN]
    if "tls" in config:
        config["tls"]["listen"] = f"{address}:{port_of(config['tls']['listen'])}"
    return config


def port_of(address):
    return address.rpartition(":")[2]


class Cluster:
    def __init__(self, program, config, folder, origin_names, environment):
        names = Names(os.path.join(folder, "hosts-of-nodes"), origin_names)
        self.nodes = []
        try:
            for name in ADDRESSES:
                self.nodes.append(Node(program, config, folder, name, names, environment))
            for node in self.nodes:
                node.wait("in step with its peer", lambda node=node: node.peer()["state"] == "in_step")
        except BaseException:
            self.stop()
            raise

    def wait_until_told(self):
        """Returns when each node knows what the other one has."""
        for node, other in (self.nodes, self.nodes[::-1]):
            for url in {line["url"] for line in other.access_log() if line["role"] == "client" and line["outcome"] == "origin_fetch"}:
                node.wait(f"told of {url}", lambda node=node, url=url: node.knows_what_peer_has(url))
            node.wait(f"told of all keys of {other.name}",
                      lambda node=node, other=other: node.peer()["objects"] == other.status()["summary"]["objects"])

    def stop(self):
        for node in self.nodes:
            node.stop()
        for node in self.nodes:
            node.wait_for_end()
