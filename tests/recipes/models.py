#!/usr/bin/env python3
"""Model files with huggingface_hub: a HEAD, a redirect to a signed URL on another host, then ranges with curl."""
import hashlib
import json
import os
import secrets
import shutil
import subprocess
import time

from harness import scenario
from harness.origin import Answer, content
from harness.sandbox import Failure

COMMIT = "0123456789abcdef0123456789abcdef01234567"
REPOSITORY = "team/model"
FETCH = """
import sys
from huggingface_hub import snapshot_download
print(snapshot_download(sys.argv[1], local_dir=sys.argv[2], max_workers=2, token=sys.argv[3] if sys.argv[3:] else False))
"""


class Models(scenario.Recipe):
    name, config, needs = "models", "models.json", ["curl"]
    ways = ["mirror", "intercept"]
    hosts = ["huggingface.co", "cdn-lfs.huggingface.co"]
    indexes = ["models-lists"]

    def missing(self):
        if missing := super().missing():
            return missing
        self.python = shutil.which("python3")
        found = subprocess.run([self.python, "-c", "import huggingface_hub"], capture_output=True).returncode == 0
        return None if found else "the Python package huggingface_hub"

    def serve(self, origin):
        self.weights, self.settings = os.urandom(3_000_000), b'{"model_type": "test"}\n'
        self.digest = hashlib.sha256(self.weights).hexdigest()
        self.place = f"/repos/ab/cd/{'e' * 64}/{self.digest}"
        self.change_signatures()
        origin.sites["huggingface.co"] = self.hub
        origin.sites["cdn-lfs.huggingface.co"] = self.cdn

    def change_signatures(self):
        self.signature = secrets.token_hex(8)

    def hub(self, request):
        base = {"X-Repo-Commit": COMMIT, "Access-Control-Allow-Origin": "https://huggingface.co"}
        if request.path.startswith(f"/api/models/{REPOSITORY}"):
            files = [{"rfilename": "config.json"}, {"rfilename": "model.safetensors"}]
            body = {"id": REPOSITORY, "modelId": REPOSITORY, "sha": COMMIT, "private": False, "tags": [], "downloads": 1, "likes": 0,
                    "siblings": files}
            return content(request, json.dumps(body).encode(), {"Content-Type": "application/json; charset=utf-8"})
        for revision in ("main", COMMIT):
            if request.path == f"/{REPOSITORY}/resolve/{revision}/config.json":
                fields = {**base, "Content-Type": "text/plain; charset=utf-8", "Content-Disposition": 'inline; filename="config.json"'}
                return content(request, self.settings, fields, f'"{hashlib.sha1(self.settings).hexdigest()}"')
            if request.path == f"/{REPOSITORY}/resolve/{revision}/model.safetensors":
                place = (f"https://cdn-lfs.huggingface.co{self.place}?response-content-disposition=inline&Expires={int(time.time()) + 3600}"
                         f"&Policy=abc&Signature={self.signature}&Key-Pair-Id=K1")
                return Answer(302, {**base, "Location": place, "Vary": "Accept", "X-Linked-Size": str(len(self.weights)),
                                    "X-Linked-ETag": f'"{self.digest}"', "Content-Type": "text/plain; charset=utf-8"},
                              b"Found. Redirecting to " + place.encode())
        return Answer(404, {"X-Error-Code": "EntryNotFound"}, b"Entry not found")

    def cdn(self, request):
        if request.path != self.place or request.query.get("Signature") != self.signature:
            return Answer(403, {"Content-Type": "text/xml"}, b"<Error><Code>AccessDenied</Code></Error>")
        return content(request, self.weights, {"Content-Type": "binary/octet-stream", "Cache-Control": "public, max-age=604800, immutable"})

    def pull(self, machine):
        endpoint = machine.url("https://huggingface.co")
        machine.run(self.python, "-c", FETCH, REPOSITORY, machine.path("model"), HF_ENDPOINT=endpoint, HF_HUB_DISABLE_XET="1",
                    HF_HUB_DISABLE_TELEMETRY="1", HF_HUB_DISABLE_PROGRESS_BARS="1", HF_HUB_ETAG_TIMEOUT="20",
                    HF_HOME=machine.path("hf"))
        if machine.read("model", "model.safetensors") != self.weights or machine.read("model", "config.json") != self.settings:
            raise Failure("huggingface_hub got another file")
        # As loaders of parts of a model do.
        url = f"{endpoint}/{REPOSITORY}/resolve/{COMMIT}/model.safetensors"
        machine.run("curl", "-sSfL", "-r", "1000000-1999999", "-o", "part", url)
        if machine.read("part") != self.weights[1_000_000:2_000_000]:
            raise Failure("curl got another part")


if __name__ == "__main__":
    scenario.main(Models)
