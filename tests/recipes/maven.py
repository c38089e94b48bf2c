#!/usr/bin/env python3
"""Maven artifacts by the requests that Maven sends: metadata, a POM and a JAR, each with its checksum. mvn itself begins with a dozen
plugins from the same repository, so curl stands for it."""
import hashlib
import os

from harness import scenario
from harness.origin import Answer, content
from harness.sandbox import Failure

HOST = "repo1.maven.org"
GROUP = "/maven2/org/example/hello"


class Maven(scenario.Recipe):
    name, config, needs, hosts = "maven", "maven.json", ["curl"], [HOST]
    ways = ["mirror", "intercept"]
    is_signed = False
    indexes = ["maven-lists"]

    def serve(self, origin):
        files = {f"{GROUP}/maven-metadata.xml": b"<metadata><versioning><release>1.0</release></versioning></metadata>\n",
                 f"{GROUP}/1.0/hello-1.0.pom": b"<project><artifactId>hello</artifactId></project>\n",
                 f"{GROUP}/1.0/hello-1.0.jar": os.urandom(700_000)}
        self.files = {**files, **{path + ".sha1": hashlib.sha1(body).hexdigest().encode() for path, body in files.items()}}
        origin.sites[HOST] = self.answer

    def answer(self, request):
        body = self.files.get(request.path)
        if body is None:
            return Answer(404, {"Content-Type": "text/plain"}, b"404 Not Found")
        return content(request, body, {"Content-Type": "application/octet-stream"})

    def pull(self, machine):
        for number, (path, body) in enumerate(self.files.items()):
            machine.run("curl", "-sSf", "-H", "Cache-Control: no-cache", "-H", "Cache-store: no-store", "-A", "Apache-Maven/3.9.9",
                        "-o", f"file{number}", machine.url(f"https://{HOST}{path}"))
            if machine.read(f"file{number}") != body:
                raise Failure(f"another {path} came")


if __name__ == "__main__":
    scenario.main(Maven)
