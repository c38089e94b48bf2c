#!/usr/bin/env python3
"""Debian packages with apt: `http:` through the node as a proxy, as most mirrors of Debian are used, and `https:` by interception."""
import gzip
import hashlib
import os
import subprocess

from harness import scenario
from harness.origin import Answer, content
from harness.sandbox import Failure

DATE = "Sat, 01 Nov 2025 10:00:00 UTC"


class Debian(scenario.Recipe):
    name, config, needs, hosts = "debian", "debian.json", ["apt-get", "dpkg-deb", "gpg"], ["deb.debian.org"]
    ways = ["proxy", "intercept"]
    is_signed = False
    indexes = ["debian-indexes"]

    def serve(self, origin):
        self.package = self.make_package()
        digest = hashlib.sha256(self.package).hexdigest()
        control = (f"Package: hello-recipe\nVersion: 1.0\nArchitecture: all\nMaintainer: Nobody <nobody@example.org>\n"
                   f"Filename: pool/main/h/hello-recipe_1.0_all.deb\nSize: {len(self.package)}\nSHA256: {digest}\n"
                   f"Description: a package of the test\n\n").encode()
        packages = gzip.compress(control, mtime=0)
        index = "main/binary-amd64/Packages"
        sums = "".join(f" {hashlib.sha256(body).hexdigest()} {len(body)} {path}\n"
                       for path, body in ((index, control), (index + ".gz", packages)))
        release = (f"Origin: Debian\nSuite: stable\nCodename: bookworm\nDate: {DATE}\nAcquire-By-Hash: yes\n"
                   f"Architectures: amd64 all\nComponents: main\nSHA256:\n{sums}").encode()
        self.files = {
            "/debian/dists/bookworm/InRelease": (self.signed(release), "text/plain"),
            f"/debian/dists/bookworm/{index}.gz": (packages, "application/x-gzip"),
            f"/debian/dists/bookworm/main/binary-amd64/by-hash/SHA256/{hashlib.sha256(packages).hexdigest()}": (packages, "text/plain"),
            "/debian/pool/main/h/hello-recipe_1.0_all.deb": (self.package, "application/vnd.debian.binary-package"),
        }
        origin.sites["deb.debian.org"] = self.answer

    def answer(self, request):
        body, kind = self.files.get(request.path, (None, None))
        if body is None:
            return Answer(404, {"Content-Type": "text/html", "Cache-Control": "public, max-age=120"}, b"<h1>Not Found</h1>")
        lifetime = 2592000 if request.path.endswith(".deb") else 120
        return content(request, body, {"Content-Type": kind, "Cache-Control": f"public, max-age={lifetime}"})

    def signed(self, text):
        home = os.path.join(self.folder, "gpg")
        os.mkdir(home, 0o700)
        gpg = ["gpg", "--homedir", home, "--batch", "--quiet", "--passphrase", ""]
        try:
            subprocess.run([*gpg, "--quick-generate-key", "archive@example.org", "ed25519"], check=True, capture_output=True)
            self.key = subprocess.run([*gpg, "--export", "--armor"], check=True, capture_output=True).stdout.decode()
            return subprocess.run([*gpg, "--clearsign"], input=text, check=True, capture_output=True).stdout
        finally:
            subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], capture_output=True)

    def make_package(self):
        tree = os.path.join(self.folder, "package")
        os.makedirs(os.path.join(tree, "DEBIAN"))
        with open(os.path.join(tree, "DEBIAN", "control"), "w") as file:
            file.write("Package: hello-recipe\nVersion: 1.0\nArchitecture: all\nMaintainer: Nobody <nobody@example.org>\n"
                       "Description: a package of the test\n")
        with open(os.path.join(tree, "content"), "wb") as file:
            file.write(os.urandom(600_000))
        subprocess.run(["dpkg-deb", "--build", tree, tree + ".deb"], check=True, capture_output=True)
        with open(tree + ".deb", "rb") as file:
            return file.read()

    def pull(self, machine):
        key = machine.write("archive.asc", self.key)
        machine.write("apt/sources.list", f"deb [signed-by={key} arch=amd64] {self.scheme}://deb.debian.org/debian bookworm main\n")
        for folder in ("apt/parts", "apt/lists/partial", "apt/archives/partial", "download"):
            os.makedirs(machine.path(folder))
        machine.write("apt/status", "")
        machine.write("apt.conf", "\n".join(f'{name} "{value}";' for name, value in {
            "Dir::Etc": machine.path("apt"), "Dir::Etc::Parts": machine.path("apt/parts"), "Dir::State": machine.path("apt"),
            "Dir::State::Status": machine.path("apt/status"), "Dir::Cache": machine.path("apt"), "Dir::Log": machine.path("apt"),
            "APT::Sandbox::User": "", "Acquire::https::CAInfo": machine.access.authority, "APT::Architecture": "amd64", "Acquire::Languages": "none", "Acquire::Retries": "0",
            "APT::Update::Error-Mode": "any"}.items()))
        apt = ["apt-get", "-q"]
        machine.run(*apt, "update", APT_CONFIG=machine.path("apt.conf"))
        machine.run("sh", "-c", "cd download && apt-get -q download hello-recipe", APT_CONFIG=machine.path("apt.conf"))
        if machine.read("download", "hello-recipe_1.0_all.deb") != self.package:
            raise Failure("another package came")


if __name__ == "__main__":
    scenario.main(Debian)
