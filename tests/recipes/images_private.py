#!/usr/bin/env python3
"""Private images with skopeo: the registry judges each client, and sends each body once."""
from harness import scenario
from harness.images import Registry
from images import pull_by_skopeo


class PrivateImages(scenario.Recipe):
    name, config, needs = "images-private", "images-private.json", ["skopeo", "docker-registry"]
    ways = ["mirror", "intercept"]
    hosts = ["ghcr.io", "pkg-containers.githubusercontent.com"]
    in_outage = scenario.REFUSED

    def serve(self, origin):
        self.registry = Registry(self.folder, origin, "team/hello", "ghcr.io", "https://ghcr.io/token",
                                 "https://pkg-containers.githubusercontent.com/ghcr1/blobs", password="right")

    def change_signatures(self):
        self.registry.change()

    def is_content(self, entry):
        return super().is_content(entry) and "/token?" not in entry.url and entry.status != 401

    def pull(self, machine, password="right"):
        place = machine.url("https://ghcr.io")
        host, registries = place.partition("://")[2], None
        if place.startswith("http:"):
            registries = f'[[registry]]\nprefix = "ghcr.io"\nlocation = "{host}"\ninsecure = true\n'
        pull_by_skopeo(machine, "ghcr.io/team/hello:latest", self.registry.layer, registries, (host, "user:" + password))

    def pull_without_rights(self, machine):
        self.pull(machine, "wrong")

    def stop(self):
        self.registry.stop()


if __name__ == "__main__":
    scenario.main(PrivateImages)
