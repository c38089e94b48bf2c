#!/usr/bin/env python3
"""Go modules with go: the list of versions, a version's facts, its go.mod and its archive."""
import io
import json
import os
import zipfile

from harness import scenario
from harness.origin import Answer, content
from harness.sandbox import Failure

MODULE, VERSION = "example.org/hello", "v1.2.0"
HOST = "proxy.golang.org"


class Go(scenario.Recipe):
    name, config, needs, hosts = "go", "go.json", ["go"], [HOST]
    ways = ["mirror", "intercept"]
    is_signed = False
    indexes = ["go-lists"]

    def serve(self, origin):
        self.mod = f"module {MODULE}\n\ngo 1.17\n".encode()
        self.data = os.urandom(400_000)
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as out:
            root = f"{MODULE}@{VERSION}/"
            out.writestr(root + "go.mod", self.mod)
            out.writestr(root + "hello.go", "package hello\n")
            out.writestr(root + "data.bin", self.data)
        place = f"/{MODULE}/@v/"
        facts = json.dumps({"Version": VERSION, "Time": "2025-11-01T10:00:00Z"}).encode()
        self.files = {place + "list": (VERSION + "\n").encode(), f"/{MODULE}/@latest": facts, f"{place}{VERSION}.info": facts,
                      f"{place}{VERSION}.mod": self.mod, f"{place}{VERSION}.zip": archive.getvalue()}
        origin.sites[HOST] = self.answer

    def answer(self, request):
        body = self.files.get(request.path)
        if body is None:
            return Answer(404, {"Content-Type": "text/plain", "Cache-Control": "public, max-age=60"}, b"not found")
        lifetime = 60 if request.path.endswith(("list", "latest")) else 10800
        return content(request, body, {"Content-Type": "application/octet-stream", "Cache-Control": f"public, max-age={lifetime}"})

    def pull(self, machine):
        # The database of checksums knows no module of a test.
        places = {"GOPROXY": machine.url(f"https://{HOST}"), "GONOSUMDB": "*", "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local",
                  "GOPATH": machine.path("gopath"), "GOCACHE": machine.path("gocache")}
        machine.write("project/go.mod", "module example.org/project\n\ngo 1.17\n")
        machine.run("sh", "-c", f"cd project && go mod edit -require={MODULE}@{VERSION} && go mod download -x && go list -m -versions {MODULE}",
                    **places)
        found = machine.path("gopath", "pkg", "mod", f"{MODULE}@{VERSION}", "data.bin")
        if machine.read(found) != self.data:
            raise Failure("go got another module")
        machine.run("chmod", "-R", "u+w", machine.path("gopath"))


if __name__ == "__main__":
    scenario.main(Go)
