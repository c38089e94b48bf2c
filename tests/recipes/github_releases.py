#!/usr/bin/env python3
"""Files of GitHub releases with curl and aria2c: a redirect to a signed URL at the storage, which changes with each request."""
import os
import secrets

from harness import scenario
from harness.origin import Answer, content
from harness.sandbox import Failure

HUB, STORAGE = "github.com", "release-assets.githubusercontent.com"
FILE = "/team/tool/releases/download/v1.0/tool.tar.gz"
PLACE = "/github-production-release-asset/1/00000000-0000-4000-8000-000000000001"


class GithubReleases(scenario.Recipe):
    name, config, needs, hosts = "github_releases", "github-releases.json", ["curl", "aria2c"], [HUB, STORAGE]
    ways = ["mirror", "intercept"]
    indexes = ["github-latest", "github-files"]

    def serve(self, origin):
        self.body = os.urandom(3_000_000)
        self.change_signatures()
        origin.sites[HUB], origin.sites[STORAGE] = self.hub, self.storage

    def change_signatures(self):
        self.signature = secrets.token_hex(8)

    def hub(self, request):
        fields = {"Cache-Control": "no-cache", "Vary": "X-PJAX, X-Requested-With, Accept-Encoding, Accept",
                  "Set-Cookie": "_gh_sess=" + secrets.token_hex(4) + "; path=/; secure; HttpOnly"}
        if request.path == "/team/tool/releases/latest/download/tool.tar.gz":
            return Answer(302, {**fields, "Location": f"https://{HUB}{FILE}"})
        if request.path == FILE:
            query = f"sp=r&sv=2018-11-09&sr=b&rscd=attachment&sig={self.signature}&jwt={secrets.token_hex(4)}"
            return Answer(302, {**fields, "Location": f"https://{STORAGE}{PLACE}?{query}"})
        return Answer(404, fields, b"Not Found")

    def storage(self, request):
        if request.path != PLACE or request.query.get("sig") != self.signature:
            return Answer(403, {"Content-Type": "application/xml"}, b"<Error><Code>AuthenticationFailed</Code></Error>")
        return content(request, self.body, {"Content-Type": "application/octet-stream",
                                            "Content-Disposition": "attachment; filename=tool.tar.gz"})

    def pull(self, machine):
        trusted = ["--ca-certificate", machine.access.authority] if machine.access.authority else []
        machine.run("curl", "-sSfL", "-o", "tool", machine.url(f"https://{HUB}{FILE}"))
        machine.run("curl", "-sSfL", "-o", "latest", machine.url(f"https://{HUB}/team/tool/releases/latest/download/tool.tar.gz"))
        machine.run("aria2c", "-q", "--no-conf", "--async-dns=false", *trusted, "-x4", "-s4", "-k1M", "--max-tries=1", "-o", "parts",
                    machine.url(f"https://{HUB}{FILE}"))
        for name in ("tool", "latest", "parts"):
            if machine.read(name) != self.body:
                raise Failure(f"another file came: {name}")


if __name__ == "__main__":
    scenario.main(GithubReleases)
