"""A registry of images, with what public ones have in front of it: tokens, and blobs behind signed redirects.

Debian's docker-registry stores the image and answers for manifests. Servers in this file ask clients for a token, and send them to
another host for blobs.
"""
import base64
import gzip
import hashlib
import io
import json
import os
import secrets
import socket
import subprocess
import tarfile
import time
import urllib.request

from harness.origin import Answer, content
from harness.sandbox import Failure, end_with_parent

PLACE = ("127.0.0.10", 5000)
OCI = "application/vnd.oci.image"


def digest_of(body):
    return "sha256:" + hashlib.sha256(body).hexdigest()


def make_image(folder):
    """Writes an image of one layer as an OCI layout. Returns the layer."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as out:
        data = os.urandom(800_000)
        entry = tarfile.TarInfo("data.bin")
        entry.size = len(data)
        out.addfile(entry, io.BytesIO(data))
    layer = archive.getvalue()
    config = json.dumps({"architecture": "amd64", "os": "linux", "config": {}, "rootfs": {"type": "layers", "diff_ids": [
        digest_of(gzip.decompress(layer))]}, "history": [{"created_by": "the test"}]}).encode()

    def described(kind, body):
        with open(os.path.join(folder, "blobs", "sha256", digest_of(body)[7:]), "wb") as file:
            file.write(body)
        return {"mediaType": f"{OCI}.{kind}", "digest": digest_of(body), "size": len(body)}

    os.makedirs(os.path.join(folder, "blobs", "sha256"))
    manifest = json.dumps({"schemaVersion": 2, "mediaType": OCI + ".manifest.v1+json", "config": described("config.v1+json", config),
                           "layers": [described("layer.v1.tar+gzip", layer)]}).encode()
    index = {"schemaVersion": 2, "manifests": [{**described("manifest.v1+json", manifest),
                                                "annotations": {"org.opencontainers.image.ref.name": "latest"}}]}
    for name, text in (("oci-layout", {"imageLayoutVersion": "1.0.0"}), ("index.json", index)):
        with open(os.path.join(folder, name), "w") as file:
            json.dump(text, file)
    return layer


class Registry:
    """`host` asks for a token of `realm`, and redirects to blobs at `blobs`. `password`: of the user who gets tokens, or None. `realm`
    None: the registry is open, and `/v2/` says 200. `manifests`: where it redirects to manifests; None: it has them itself."""

    def __init__(self, folder, origin, repository, host, realm, blobs, password=None, manifests=None, port=PLACE[1]):
        self.repository, self.host, self.realm, self.blobs, self.password = repository, host, realm, blobs, password
        self.manifests, self.place = manifests, (PLACE[0], port)
        folder = os.path.join(folder, host)
        os.mkdir(folder)
        self.change()
        layout, config = os.path.join(folder, "image"), os.path.join(folder, "registry.json")
        self.layer = make_image(layout)
        with open(config, "w") as file:  # YAML reads JSON
            json.dump({"version": 0.1, "log": {"level": "error"}, "http": {"addr": "%s:%d" % self.place},
                       "storage": {"filesystem": {"rootdirectory": os.path.join(folder, "registry")}}}, file)
        log = open(os.path.join(folder, "registry.log"), "w")
        self.process = subprocess.Popen(["docker-registry", "serve", config], stdout=log, stderr=log, preexec_fn=end_with_parent)
        self.wait(log.name)
        subprocess.run(["skopeo", "--insecure-policy", "copy", "-q", "--dest-tls-verify=false", f"oci:{layout}:latest",
                        "docker://%s:%d/%s:latest" % (*self.place, repository)], check=True, env={**os.environ, "HOME": folder})
        blob_host = blobs.split("/")[2]
        if realm:
            origin.sites.setdefault(realm.split("/")[2], self.token_alone)
        if manifests:
            origin.sites[manifests.split("/")[2]] = self.manifest
        origin.sites[host] = self.answer
        origin.sites[blob_host] = self.blob

    def wait(self, log):
        end = time.monotonic() + 20
        while time.monotonic() < end and self.process.poll() is None:
            try:
                return socket.create_connection(self.place).close()
            except OSError:
                time.sleep(0.02)
        with open(log) as file:
            raise Failure(f"docker-registry does not start: {file.read()}")

    def change(self):
        self.token, self.signature = secrets.token_hex(8), secrets.token_hex(8)

    def token_alone(self, request):
        return self.give_token(request) if request.path == "/token" else Answer(404)

    def give_token(self, request):
        right = "Basic " + base64.b64encode(f"user:{self.password}".encode()).decode()
        if self.password and request.fields.get("Authorization") != right:
            return Answer(401, {"Content-Type": "application/json"}, b'{"errors":[{"code":"DENIED"}]}')
        body = json.dumps({"token": self.token, "access_token": self.token, "expires_in": 300}).encode()
        return Answer(200, {"Content-Type": "application/json"}, body)

    def answer(self, request):
        if request.path == "/token":
            return self.give_token(request)
        if "ns" in request.query:
            return Answer(400, {"Content-Type": "text/plain"}, b"ns is for the mirror alone\n")
        if self.realm and request.fields.get("Authorization") != "Bearer " + self.token:
            scope = f',scope="repository:{self.repository}:pull"' if request.path != "/v2/" else ""
            return Answer(401, {"Content-Type": "application/json", "Docker-Distribution-Api-Version": "registry/2.0",
                                "WWW-Authenticate": f'Bearer realm="{self.realm}",service="{self.host}"{scope}'},
                          b'{"errors":[{"code":"UNAUTHORIZED"}]}')
        if "/blobs/sha256:" in request.path:
            place = f"{self.blobs}/{request.path.rpartition('/')[2]}?se={int(time.time()) + 300}&sig={self.signature}"
            return Answer(307, {"Content-Type": "application/octet-stream", "Location": place})
        if self.manifests and "/manifests/" in request.path:
            return Answer(307, {"Location": self.manifests + request.path.removeprefix("/v2")})
        return self.registry(request.method, request.path, request.fields)

    def manifest(self, request):
        return self.registry(request.method, "/v2" + request.path[len("/" + self.manifests.split("/", 3)[3]):], request.fields)

    def registry(self, method, path, fields):
        kept = {name: fields[name] for name in ("Accept", "If-None-Match", "Range") if name in fields}
        asked = urllib.request.Request("http://%s:%d%s" % (*self.place, path), method=method, headers=kept)
        try:
            with urllib.request.urlopen(asked, timeout=10) as answer:
                return self.passed(answer)
        except urllib.error.HTTPError as answer:
            return self.passed(answer)

    @staticmethod
    def passed(answer):
        names = ("Content-Type", "Docker-Content-Digest", "Docker-Distribution-Api-Version", "ETag")
        body = answer.read()
        return Answer(answer.status, {name: answer.headers[name] for name in names if name in answer.headers},
                      body or b"x" * int(answer.headers.get("Content-Length") or 0))  # the length of a HEAD's answer

    def blob(self, request):
        digest = request.path.rpartition("/")[2]
        if request.query.get("sig") != self.signature:
            return Answer(403, {"Content-Type": "application/xml"}, b"<Error><Code>AuthenticationFailed</Code></Error>")
        body = self.registry("GET", f"/v2/{self.repository}/blobs/{digest}", {}).body
        return content(request, body, {"Content-Type": "application/octet-stream"})

    def stop(self):
        self.process.kill()
        self.process.wait()
