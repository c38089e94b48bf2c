#!/usr/bin/env python3
"""RPM packages with dnf: repomd.xml, the lists that it names by their hashes, and a package. `http:` through the node as a proxy."""
import os
import subprocess

from harness import scenario
from harness.origin import Answer, content
from harness.sandbox import Failure

HOST = "dl.fedoraproject.org"
ROOT = "/pub/fedora/linux/releases/43/Everything/x86_64/os"
SPEC = """Name: hello-recipe
Version: 1.0
Release: 1
Summary: a package of the test
License: none
BuildArch: noarch
%description
a package of the test
%install
mkdir -p %{buildroot}/usr/share/hello
head -c 500000 /dev/urandom > %{buildroot}/usr/share/hello/content
%files
/usr/share/hello/content
"""


class Rpm(scenario.Recipe):
    name, config, needs, hosts = "rpm", "rpm.json", ["dnf", "createrepo_c", "rpmbuild"], [HOST]
    ways = ["proxy", "intercept"]
    is_signed = False
    indexes = ["rpm-index"]

    def serve(self, origin):
        tree = os.path.join(self.folder, "rpm")
        os.makedirs(os.path.join(tree, "repo"))
        with open(os.path.join(tree, "hello.spec"), "w") as file:
            file.write(SPEC)
        subprocess.run(["rpmbuild", "-bb", "--define", f"_topdir {tree}", "--define", f"_rpmdir {tree}/repo", os.path.join(tree, "hello.spec")],
                       check=True, capture_output=True)
        subprocess.run(["createrepo_c", "--zck", "-q", os.path.join(tree, "repo")], check=True, capture_output=True)
        self.files = {}
        for folder, _, names in os.walk(os.path.join(tree, "repo")):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    self.files[ROOT + path.removeprefix(os.path.join(tree, "repo"))] = file.read()
        origin.sites[HOST] = self.answer

    def answer(self, request):
        body = self.files.get(request.path)
        return content(request, body) if body else Answer(404, {"Content-Type": "text/html"}, b"<h1>404 Not Found</h1>")

    def pull(self, machine):
        for folder in ("cache", "log", "persist", "root", "download"):
            os.makedirs(machine.path(folder))
        options = [f"--repofrompath=test,{self.scheme}://{HOST}{ROOT}", "--repo=test", "--setopt=test.gpgcheck=0",
                   f"--setopt=cachedir={machine.path('cache')}", f"--setopt=logdir={machine.path('log')}", "--setopt=retries=1",
                   f"--setopt=persistdir={machine.path('persist')}", "--setopt=pluginconfpath=/nonexistent", "--setopt=reposdir=/nonexistent",
                   f"--installroot={machine.path('root')}", "--releasever=43", "--forcearch=x86_64", "--setopt=zchunk=1"]
        if proxy := machine.environment.get("http_proxy"):
            options.append(f"--setopt=proxy={proxy}")
        if machine.access.authority:
            options.append(f"--setopt=test.sslcacert={machine.access.authority}")
        machine.run("dnf", "-q", "-y", *options, "install", "--downloadonly", f"--downloaddir={machine.path('download')}", "hello-recipe")
        name = "hello-recipe-1.0-1.noarch.rpm"
        if machine.read("download", name) != self.files[f"{ROOT}/noarch/{name}"]:
            raise Failure("another package came")


if __name__ == "__main__":
    scenario.main(Rpm)
