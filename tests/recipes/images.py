#!/usr/bin/env python3
"""Public images with skopeo, and with podman where it is installed, as Docker Hub serves them: tokens for everybody, and blobs behind signed redirects."""
import base64
import gzip
import json
import shutil
import tempfile

from harness import scenario
from harness.images import Registry, digest_of
from harness.sandbox import Failure


def pull_by_skopeo(machine, image, layer, registries=None, login=None):
    """`login`: a host and the user's name and password there, with a colon between them."""
    options = ["--registries-conf", machine.write("registries.conf", registries or "")]
    auths = {login[0]: {"auth": base64.b64encode(login[1].encode()).decode()}} if login else {}
    machine.run("skopeo", "--insecure-policy", *options, "copy", "-q", "docker://" + image, f"dir:{machine.path('image')}",
                REGISTRY_AUTH_FILE=machine.write("auth.json", json.dumps({"auths": auths})))
    if machine.read("image", digest_of(layer)[7:]) != layer:
        raise Failure("skopeo got another layer")


def pull_by_podman(machine, image, layer):
    """Pulls by the registries.conf of pull_by_skopeo(). podman unpacks a layer, so its plain digest is compared."""
    policy = machine.write("home/.config/containers/policy.json", '{"default": [{"type": "insecureAcceptAnything"}]}')
    environment = {"CONTAINERS_REGISTRIES_CONF": machine.path("registries.conf")}
    with tempfile.TemporaryDirectory(prefix="podman-") as run:  # podman takes at most 50 characters
        podman = ["podman", "--root", machine.path("podman"), "--runroot", run, "--tmpdir", machine.path("podman-tmp"),
                  "--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", "--events-backend", "none"]
        machine.run(*podman, "pull", "-q", "--signature-policy", policy, image, **environment)
        found = machine.run(*podman, "image", "inspect", "--format", "{{index .RootFS.Layers 0}}", image, **environment)
    if digest_of(gzip.decompress(layer)) not in found:
        raise Failure(f"podman got another layer: {found}")


class Images(scenario.Recipe):
    name, config, needs = "images", "images.json", ["skopeo", "docker-registry"]
    ways = ["mirror", "intercept"]
    indexes = ["images-tags"]
    realm, cdn = "https://auth.docker.io/token", "docker-images-prod.6aa30f8b08e16409b46e0173d6de2f56.r2.cloudflarestorage.com"
    hosts = ["registry-1.docker.io", "auth.docker.io", cdn]

    def serve(self, origin):
        self.registry = Registry(self.folder, origin, "library/hello", "registry-1.docker.io", self.realm,
                                 f"https://{self.cdn}/registry-v2/docker/registry/v2/blobs")

    def change_signatures(self):
        self.registry.change()

    def pull(self, machine):
        place = machine.url("https://registry-1.docker.io")
        registries = None
        if place.startswith("http:"):
            registries = ('[[registry]]\nprefix = "docker.io"\nlocation = "docker.io"\n'
                          f'[[registry.mirror]]\nlocation = "{place.removeprefix("http://")}"\ninsecure = true\n')
        pull_by_skopeo(machine, "docker.io/library/hello:latest", self.registry.layer, registries)
        if shutil.which("podman"):
            pull_by_podman(machine, "docker.io/library/hello:latest", self.registry.layer)

    def stop(self):
        self.registry.stop()


if __name__ == "__main__":
    scenario.main(Images)
