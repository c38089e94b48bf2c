#!/usr/bin/env python3
"""Large files in ranges, as the updates of Windows and Steam are fetched: a HEAD, then parts in parallel and out of order."""
import os
import secrets

from harness import scenario
from harness.origin import Answer, content
from harness.sandbox import Failure

HOST = "7.tlu.dl.delivery.mp.microsoft.com"
PATH = "/filestreamingservice/files/0b1c2d3e-0000-4000-8000-000000000001"
BYTES = 24 << 20


class Ranges(scenario.Recipe):
    name, config, needs, hosts = "ranges", "ranges.json", ["curl", "aria2c"], [HOST]
    ways = ["proxy", "intercept"]

    def serve(self, origin):
        self.body = os.urandom(BYTES)
        self.change_signatures()
        origin.sites[HOST] = self.answer

    def change_signatures(self):
        self.signature = secrets.token_hex(8)

    def answer(self, request):
        if request.path != PATH or request.query.get("P4") != self.signature:
            return Answer(403, body=b"Forbidden")
        return content(request, self.body, {"Content-Type": "application/octet-stream", "Cache-Control": "public, max-age=17280000"})

    def pull(self, machine):
        url = f"{self.scheme}://{HOST}{PATH}?P1=1764000000&P2=404&P3=2&P4={self.signature}"
        head = machine.run("curl", "-sSfI", url)
        if f"content-length: {BYTES}" not in head.lower():
            raise Failure(f"no length: {head}")
        parts = [20 << 20, 3 << 20, 11 << 20]
        for begin in parts:
            machine.run("curl", "-sSf", "-r", f"{begin}-{begin + (1 << 20) - 1}", "-o", f"part{begin}", url)
        for begin in parts:
            if machine.read(f"part{begin}") != self.body[begin:begin + (1 << 20)]:
                raise Failure(f"curl got another part at {begin}")
        trusted = ["--ca-certificate", machine.access.authority] if machine.access.authority else []
        machine.run("aria2c", "-q", "--no-conf", "--async-dns=false", *trusted, "-x4", "-s4", "-k1M", "--max-tries=1", "-o", "whole", url)
        if machine.read("whole") != self.body:
            raise Failure("aria2c got another file")


if __name__ == "__main__":
    scenario.main(Ranges)
