#!/usr/bin/env python3
"""containerd with one mirror for all registries, which it tells the registry by `?ns=`."""
import contextlib
import os
import subprocess
import time

from harness import scenario
from harness.images import Registry, digest_of
from harness.sandbox import Failure, end_with_parent

CONFIG = """version = 2
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.internal.v1.opt"]
"""


@contextlib.contextmanager
def containerd(machine):
    """A daemon with an empty store. Yields the words by which a command of ctr begins."""
    socket, log = machine.path("c.sock"), open(machine.path("containerd.log"), "w")
    daemon = subprocess.Popen(["containerd", "--config", machine.write("containerd.toml", CONFIG), "--address", socket, "--root",
                               machine.path("root"), "--state", machine.path("state")], stdout=log, stderr=log, preexec_fn=end_with_parent)
    try:
        end = time.monotonic() + 20
        while not os.path.exists(socket) and time.monotonic() < end and daemon.poll() is None:
            time.sleep(0.02)
        yield ["ctr", "--address", socket]
    finally:
        daemon.terminate()
        daemon.wait()


class AllImages(scenario.Recipe):
    name, config, needs = "images-all", "images-all.json", ["ctr", "containerd", "skopeo", "docker-registry"]
    indexes = ["all-tags"]
    hosts = ["registry-1.docker.io", "auth.docker.io", "docker-images-prod.6aa30f8b08e16409b46e0173d6de2f56.r2.cloudflarestorage.com",
             "registry.k8s.io", "us-west2-docker.pkg.dev", "prod-registry-k8s-io-us-west-2.s3.dualstack.us-west-2.amazonaws.com"]

    def serve(self, origin):
        hub, auth, r2, k8s, pkg, s3 = self.hosts
        self.images = {
            "docker.io/library/same:latest": Registry(self.folder, origin, "library/same", hub, f"https://{auth}/token",
                                                      f"https://{r2}/registry-v2/docker/registry/v2/blobs"),
            "registry.k8s.io/library/same:latest": Registry(self.folder, origin, "library/same", k8s, None, f"https://{s3}/containers/images",
                                                            manifests=f"https://{pkg}/v2/k8s-artifacts-prod/images", port=5001)}

    def change_signatures(self):
        for registry in self.images.values():
            registry.change()

    def pull(self, machine):
        options = []
        if not machine.access.authority:
            mirror = machine.url("https://registry.k8s.io").partition("/registry/")[0]
            machine.write("certs.d/_default/hosts.toml", f'[host."{mirror}"]\ncapabilities = ["pull", "resolve"]\n')
            options = ["--hosts-dir", machine.path("certs.d")]
        with containerd(machine) as ctr:
            for image, registry in self.images.items():
                machine.run(*ctr, "content", "fetch", *options, image)
                if machine.run(*ctr, "content", "ls", "-q").count(digest_of(registry.layer)) != 1:
                    raise Failure(f"ctr got no layer of {image}")
            if machine.access.authority:
                return
            try:
                machine.run(*ctr, "content", "fetch", *options, "unlisted.example.org/a/b:latest")
            except Failure:
                return
            raise Failure("a registry outside the list was served")

    def stop(self):
        for registry in self.images.values():
            registry.stop()


if __name__ == "__main__":
    scenario.main(AllImages)
