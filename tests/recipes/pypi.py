#!/usr/bin/env python3
"""Python packages with pip, and with uv where it is installed: an index in JSON and HTML, and files on another host."""
import base64
import hashlib
import io
import json
import os
import shutil
import urllib.parse
import zipfile

from harness import scenario
from harness.origin import Answer, content
from harness.sandbox import Failure

NAME, WHEEL = "hello-recipe", "hello_recipe-1.0-py3-none-any.whl"
METADATA = b"Metadata-Version: 2.1\nName: hello-recipe\nVersion: 1.0\n"


def make_wheel():
    files = {"hello_recipe/__init__.py": b"", "hello_recipe/data.bin": os.urandom(700_000),
             "hello_recipe-1.0.dist-info/METADATA": METADATA,
             "hello_recipe-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = "".join(f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(body).digest()).decode().rstrip('=')},{len(body)}\n"
                     for name, body in files.items())
    files["hello_recipe-1.0.dist-info/RECORD"] = (record + "hello_recipe-1.0.dist-info/RECORD,,\n").encode()
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as out:
        for name, body in files.items():
            out.writestr(name, body)
    return archive.getvalue()


class PyPI(scenario.Recipe):
    name, config, needs, hosts = "pypi", "pypi.json", ["pip"], ["pypi.org", "files.pythonhosted.org"]
    ways = ["mirror", "intercept"]
    is_signed = False
    indexes = ["pypi-index"]

    def serve(self, origin):
        self.wheel = make_wheel()
        digest = hashlib.sha256(self.wheel).hexdigest()
        self.path = f"/packages/{digest[:2]}/{digest[2:4]}/{digest[4:]}/{WHEEL}"
        url, metadata = "https://files.pythonhosted.org" + self.path, hashlib.sha256(METADATA).hexdigest()
        self.json = json.dumps({"meta": {"api-version": "1.1"}, "name": NAME, "versions": ["1.0"], "files": [
            {"filename": WHEEL, "url": url, "hashes": {"sha256": digest}, "size": len(self.wheel), "requires-python": None,
             "core-metadata": {"sha256": metadata}, "yanked": False, "upload-time": "2025-11-01T10:00:00Z"}]}).encode()
        self.html = (f'<!DOCTYPE html><html><head><meta name="pypi:repository-version" content="1.1"><title>Links</title></head><body>'
                     f'<a href="{url}#sha256={digest}" data-core-metadata="sha256={metadata}">{WHEEL}</a><br/></body></html>').encode()
        origin.sites["pypi.org"] = self.index
        origin.sites["files.pythonhosted.org"] = self.file

    def index(self, request):
        if request.path == f"/simple/{NAME}":
            return Answer(301, {"Location": f"/simple/{NAME}/", "Cache-Control": "max-age=600, public"})
        if request.path != f"/simple/{NAME}/":
            return Answer(404, {"Cache-Control": "max-age=600, public"}, b"404 Not Found")
        wants_json = "application/vnd.pypi.simple.v1+json" in request.fields.get("Accept", "")
        kind = "application/vnd.pypi.simple.v1+json" if wants_json else "text/html"
        return content(request, self.json if wants_json else self.html, {
            "Content-Type": kind, "Cache-Control": "max-age=600, public", "Vary": "Accept, Accept-Encoding"})

    def file(self, request):
        body = {self.path: self.wheel, self.path + ".metadata": METADATA}.get(request.path)
        if body is None:
            return Answer(404, body=b"no such file")
        return content(request, body, {"Content-Type": "binary/octet-stream", "Cache-Control": "max-age=365000000, immutable, public"})

    def pull(self, machine):
        index = machine.url("https://pypi.org/simple/")
        host = urllib.parse.urlsplit(index).netloc
        trusted = ["--trusted-host", host] if index.startswith("http:") else []
        machine.run("pip", "--isolated", "--disable-pip-version-check", "download", "--no-cache-dir", "--no-deps", "--retries", "0", "--dest", machine.path("pip"),
                    "--index-url", index, *trusted, NAME)
        if machine.read("pip", WHEEL) != self.wheel:
            raise Failure("pip got another wheel")
        if shutil.which("uv"):
            machine.run("uv", "pip", "install", "--no-config", "--no-cache", "--target", machine.path("uv"), "--index-url", index,
                        "--python", shutil.which("python3"), NAME, UV_HTTP_RETRIES="0")
            machine.read("uv", "hello_recipe", "data.bin")


if __name__ == "__main__":
    scenario.main(PyPI)
