#!/usr/bin/env python3
"""Model files with today's huggingface_hub and hf_xet, without a flag: lists in pages, relative redirects, signed URLs on two hosts."""
import os
import shutil
import subprocess

from harness import scenario
from harness.hub import CDN, COMMIT, HUB, REPOSITORY, XET, Hub
from harness.sandbox import Failure

FETCH = """
import sys
from huggingface_hub import snapshot_download
snapshot_download(sys.argv[1], local_dir=sys.argv[2], max_workers=4, token=sys.argv[3] if sys.argv[3:] else False)
"""
# What the client does after a connection that broke within a body: it asks for the rest.
RESUME = """
import sys
from huggingface_hub import file_download
with open(sys.argv[2], "ab") as file:
    file_download.http_get(sys.argv[1], file, resume_size=file.tell(), expected_size=int(sys.argv[3]))
"""


class Models(scenario.Recipe):
    name, config, needs = "models", "models.json", ["curl"]
    ways = ["mirror", "intercept"]
    hosts = [HUB, *CDN, XET]
    indexes = ["models-lists", "models-files"]
    token, flags = None, {}

    def missing(self):
        if missing := super().missing():
            return missing
        self.python = shutil.which("python3")
        found = subprocess.run([self.python, "-c", "import hf_xet, huggingface_hub as h; assert int(h.__version__[0]) > 1"],
                               capture_output=True).returncode == 0
        return None if found else "the Python package huggingface_hub from 2.4 on, with hf_xet"

    def serve(self, origin):
        self.hub = Hub(origin, self.token)

    def change_signatures(self):
        self.hub.change_signatures()

    def is_content(self, entry):
        return super().is_content(entry) and entry.status not in (302, 307)  # the bodies of redirects: 17 bytes or so

    def python_client(self, machine, script, *arguments):
        environment = {"HF_ENDPOINT": machine.url(f"https://{HUB}"), "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HOME": machine.path("hf"),
                       "HF_HUB_ETAG_TIMEOUT": "20", **self.flags}
        # By interception nothing takes the hash of Xet out of lists, and without a node Xet itself would be asked.
        if machine.url(f"https://{HUB}").startswith("https:"):
            environment["HF_HUB_DISABLE_XET"] = "1"
        return machine.run(self.python, "-c", script, *arguments, **environment)

    def pull(self, machine, token=None):
        token = token or self.token
        self.python_client(machine, FETCH, REPOSITORY, machine.path("model"), *([token] if token else []))
        for name, body in self.hub.files.items():
            if machine.read("model", name) != body:
                raise Failure(f"huggingface_hub got another {name}")
        if self.hub.leaks or self.hub.to_xet:
            raise Failure(f"credentials went to {self.hub.leaks}, and Xet was asked for {self.hub.to_xet}")
        if not token:
            self.pull_parts(machine)

    def pull_parts(self, machine):
        name, body = next(iter(self.hub.large.items()))
        # As loaders of parts of a model do.
        url = f"{machine.url(f'https://{HUB}')}/{REPOSITORY}/resolve/{COMMIT}/{name}"
        machine.run("curl", "-sSfL", "-r", "1000000-1999999", "-o", "part", url)
        if machine.read("part") != body[1_000_000:2_000_000]:
            raise Failure("curl got another part")
        with open(machine.path("broken"), "wb") as file:
            file.write(body[:1_234_567])
        self.python_client(machine, RESUME, url, machine.path("broken"), str(len(body)))
        if machine.read("broken") != body:
            raise Failure("the resumed download has other content")


if __name__ == "__main__":
    scenario.main(Models)
