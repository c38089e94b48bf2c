"""Processes on loopback: nodes, the built-in origin, Prometheus. All of them end with the test."""
import ctypes
import http.client
import json
import resource
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

NET = "127.0.47"
KEY = "the cluster key of the monitoring test"
PATIENCE = 120  # seconds, for a machine that is busy with other tests
ORIGIN = f"{NET}.200:8000"
DEAD = f"{NET}.201:8000"  # nobody listens
SILENT = f"{NET}.202:8000"  # takes connections and answers nothing


class Failure(Exception):
    pass


def eventually(what, holds, tick=lambda: time.sleep(0.1)):
    """Returns the first true value of `holds()`. `tick` passes the time, or makes load."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            if value := holds():
                return value
        except OSError:
            pass
        tick()
    raise Failure(f"not within {PATIENCE} s: {what() if callable(what) else what}")


def end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Process:
    running = []

    def __init__(self, command, log, descriptors=None):
        def prepare():
            end_with_parent()
            if descriptors:
                resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
        self.log_path = log
        with open(log, "a") as file:
            self.process = subprocess.Popen(command, stdout=file, stderr=file, preexec_fn=prepare)
        Process.running.append(self)

    @staticmethod
    def end_all():
        while Process.running:
            Process.running.pop().kill()

    def send(self, number):
        self.process.send_signal(number)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def log(self):
        with open(self.log_path) as file:
            return file.read()[-2000:]


class Node(Process):
    """One `hearsay run`. `peers` are other names; `settings` are merged into the configuration, one level deep."""

    def __init__(self, program, folder, name, number, peers=(), descriptors=None, key=KEY, **settings):
        self.name, self.host = name, f"{NET}.{number}"
        self.admin = f"{self.host}:9128"
        config = {
            "node": name, "listen": f"{self.host}:3128", "admin": {"listen": self.admin},
            "origins": [{"host": "dead.example", "url": f"http://{DEAD}"}, {"host": "silent.example", "url": f"http://{SILENT}"},
                        {"host": "*", "url": f"http://{ORIGIN}"}],
            "cache": {"memory": "64MiB"}, "timeouts": {"drain": "50s", "drain_grace": "40s", "origin_head": "1s"},
        }
        if peers:
            config["cluster"] = {"key": key, "listen": f"{self.host}:3129", "peers": [
                {"node": peer, "link": f"{NET}.{at}:3129", "http": f"{NET}.{at}:3128"} for peer, at in peers]}
        for section, value in settings.items():
            config[section] = {**config.get(section, {}), **value} if isinstance(value, dict) else value
        self.config_path = f"{folder}/{name}.json"
        with open(self.config_path, "w") as file:
            json.dump(config, file)
        super().__init__([program, "run", "--config", self.config_path], f"{folder}/{name}.log", descriptors)
        self.connection = None

    def get(self, path, host="www.example", size=1024, method="GET"):
        """The status of a request on a kept connection."""
        for attempt in (1, 2):
            try:
                self.connection = self.connection or http.client.HTTPConnection(self.host, 3128, timeout=10)
                self.connection.request(method, path, headers={
                    "Host": host, "Hearsay-Bytes": str(size), "Hearsay-Max-Age": "3600"})
                answer = self.connection.getresponse()
                answer.read()
                return answer.status
            except (OSError, http.client.HTTPException):
                self.connection = None
                if attempt == 2:
                    return 0

    def begin(self, path, host="www.example", delay=0):
        """Sends a request on a connection of its own, and returns the connection without waiting for an answer."""
        connection = socket.create_connection((self.host, 3128), timeout=10)
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nHearsay-Delay: {delay}\r\n\r\n".encode())
        return connection

    def answer(self, path):
        with urllib.request.urlopen(f"http://{self.admin}{path}", timeout=10) as answer:
            return answer.read().decode()

    def wait(self, holds, what):
        def checked():
            if self.process.poll() is not None:
                raise Failure(f"node {self.name} has ended: {self.log()}")
            return holds()
        return eventually(lambda: f"{self.name}: {what}\n{self.log()}", checked)

    def wait_until_ready(self):
        self.wait(lambda: self.answer("/readyz"), "is ready")

    def peers(self):
        return {peer["node"]: peer for peer in json.loads(self.answer("/api/v1/status"))["cluster"]["peers"]}


class Prometheus(Process):
    address = f"{NET}.250:9090"

    def __init__(self, folder, jobs, rules):
        self.config, self.rule_files = f"{folder}/prometheus.yml", rules
        self.scrape(jobs)
        super().__init__(["prometheus", f"--config.file={self.config}", f"--storage.tsdb.path={folder}/tsdb",
                          f"--web.listen-address={self.address}", "--log.level=warn"], f"{folder}/prometheus.log")

    def scrape(self, jobs):
        """Writes a configuration for jobs and their targets; HUP puts it in effect."""
        scrapes = [{"job_name": job, "static_configs": [{"targets": targets}]} for job, targets in jobs.items()]
        with open(self.config, "w") as file:
            json.dump({"global": {"scrape_interval": "500ms", "evaluation_interval": "500ms", "scrape_timeout": "500ms"},
                       "rule_files": self.rule_files, "scrape_configs": scrapes}, file)

    def ask(self, path, **query):
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(url, timeout=20) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise Failure(f"{path} {query}: {error.read().decode()}") from None

    def hang_up(self):
        self.send(signal.SIGHUP)

    def wait_until_up(self):
        eventually(lambda: f"prometheus is ready: {self.log()}",
                   lambda: urllib.request.urlopen(f"http://{self.address}/-/ready", timeout=10).read())

    def alerts(self):
        """The alerts that fire now: a list of (name, labels, annotations)."""
        return [(each["labels"]["alertname"], each["labels"], each["annotations"])
                for each in self.ask("alerts")["alerts"] if each["state"] == "firing"]

    def rules(self):
        return [rule for group in self.ask("rules")["groups"] for rule in group["rules"]]

    def query(self, expression):
        return self.ask("query", query=expression)["result"]
