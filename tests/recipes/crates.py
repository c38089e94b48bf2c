#!/usr/bin/env python3
"""Rust crates with cargo: a sparse index, whose config.json names the host of the files."""
import hashlib
import io
import json
import os
import re
import subprocess
import tarfile

from harness import scenario
from harness.origin import Answer, content
from harness.sandbox import Failure

NAME = "hello-recipe"


def make_crate():
    files = {"Cargo.toml": f'[package]\nname = "{NAME}"\nversion = "1.0.0"\nedition = "2018"\n'.encode(),
             "src/lib.rs": b"", "data.bin": os.urandom(500_000)}
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as out:
        for name, body in files.items():
            entry = tarfile.TarInfo(f"{NAME}-1.0.0/{name}")
            entry.size = len(body)
            out.addfile(entry, io.BytesIO(body))
    return archive.getvalue()


class Crates(scenario.Recipe):
    name, config, needs, hosts = "crates", "crates.json", ["cargo"], ["index.crates.io", "static.crates.io"]
    ways = ["mirror", "intercept"]
    is_signed = False
    indexes = ["crates-index", "crates-index-mirror"]

    def missing(self):
        if missing := super().missing():
            return missing
        version = re.search(r"cargo 1\.(\d+)", subprocess.run(["cargo", "--version"], capture_output=True, text=True).stdout)
        return None if version and int(version[1]) >= 70 else "cargo 1.70 or later, which reads sparse indexes"

    def serve(self, origin):
        self.crate = make_crate()
        line = {"name": NAME, "vers": "1.0.0", "deps": [], "cksum": hashlib.sha256(self.crate).hexdigest(), "features": {},
                "yanked": False}
        self.files = {"/config.json": (b'{"dl":"https://static.crates.io/crates","api":"https://crates.io"}', "application/json"),
                      "/he/ll/hello-recipe": (json.dumps(line).encode() + b"\n", "text/plain")}
        origin.sites["index.crates.io"] = self.index
        origin.sites["static.crates.io"] = self.file

    def index(self, request):
        body, kind = self.files.get(request.path, (None, None))
        if body is None:
            return Answer(404, {"Cache-Control": "public,max-age=600"}, b"no such crate")
        return content(request, body, {"Content-Type": kind, "Cache-Control": "public,max-age=600"})

    def file(self, request):
        if request.path != f"/crates/{NAME}/1.0.0/download":
            return Answer(403, body=b"<Error>AccessDenied</Error>")
        return content(request, self.crate, {"Content-Type": "application/gzip", "Cache-Control": "public,max-age=31536000,immutable"})

    def pull(self, machine):
        index = machine.url("https://index.crates.io/")
        config = "[net]\nretry = 0\n"
        if index != "https://index.crates.io/":
            config += ('[source.crates-io]\nreplace-with = "mirror"\n'
                       f'[source.mirror]\nregistry = "sparse+{index}"\n')
        machine.write("home/.cargo/config.toml", config)
        machine.write("project/Cargo.toml", '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2018"\n[dependencies]\n'
                                            f'{NAME} = "1"\n')
        machine.write("project/src/lib.rs", "")
        machine.run("cargo", "fetch", "--manifest-path", machine.path("project/Cargo.toml"))
        caches = os.path.join(machine.folder, "home/.cargo/registry/cache")
        found = [os.path.join(folder, name) for folder, _, names in os.walk(caches) for name in names if name.endswith(".crate")]
        if len(found) != 1 or machine.read(found[0]) != self.crate:
            raise Failure(f"cargo got {found}")


if __name__ == "__main__":
    scenario.main(Crates)
