#!/usr/bin/env python3
"""Node.js packages with npm: a document of all versions, whose `dist.tarball` names the file."""
import base64
import hashlib
import io
import json
import os
import tarfile

from harness import scenario
from harness.origin import Answer, content
from harness.sandbox import Failure

NAME = "hello-recipe"
TARBALL = f"/{NAME}/-/{NAME}-1.0.0.tgz"


def make_tarball(manifest, data):
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as out:
        for name, body in {"package.json": json.dumps(manifest).encode(), "data.bin": data}.items():
            entry = tarfile.TarInfo("package/" + name)
            entry.size, entry.mode = len(body), 0o644
            out.addfile(entry, io.BytesIO(body))
    return archive.getvalue()


class Npm(scenario.Recipe):
    name, config, needs, hosts = "npm", "npm.json", ["npm"], ["registry.npmjs.org"]
    ways = ["mirror", "intercept"]
    is_signed = False
    indexes = ["npm-index", "npm-index-mirror"]

    def serve(self, origin):
        manifest, self.data = {"name": NAME, "version": "1.0.0"}, os.urandom(500_000)
        self.tarball = make_tarball(manifest, self.data)
        dist = {"tarball": "https://registry.npmjs.org" + TARBALL, "shasum": hashlib.sha1(self.tarball).hexdigest(),
                "integrity": "sha512-" + base64.b64encode(hashlib.sha512(self.tarball).digest()).decode()}
        self.document = json.dumps({"name": NAME, "dist-tags": {"latest": "1.0.0"}, "modified": "2025-11-01T10:00:00.000Z",
                                    "versions": {"1.0.0": {**manifest, "dist": dist}}}).encode()
        origin.sites["registry.npmjs.org"] = self.answer

    def answer(self, request):
        if request.path == "/" + NAME:
            return content(request, self.document, {"Content-Type": "application/vnd.npm.install-v1+json",
                                                    "Cache-Control": "public, max-age=300", "Vary": "accept-encoding, accept"})
        if request.path == TARBALL:
            return content(request, self.tarball, {"Content-Type": "application/octet-stream",
                                                   "Cache-Control": "public, immutable, max-age=31557600"})
        return Answer(404, {"Content-Type": "application/json"}, b'{"error":"Not found"}')

    def pull(self, machine):
        machine.write("project/package.json", '{"name": "p", "version": "1.0.0", "private": true}')
        options = ["--registry", machine.url("https://registry.npmjs.org/"), "--prefix", machine.path("project"), "--no-audit",
                   "--no-fund", "--no-update-notifier", "--fetch-retries=0", "--cache", machine.path("cache")]
        machine.run("npm", "install", *options, NAME)
        if machine.read("project", "node_modules", NAME, "data.bin") != self.data:
            raise Failure("npm got another package")


if __name__ == "__main__":
    scenario.main(Npm)
