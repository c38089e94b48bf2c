#!/usr/bin/env python3
"""The same images from a registry that asks for no token: its `/v2/` says 200."""
from harness import scenario
from images import Images


class OpenImages(Images):
    name, realm, cdn = "images-open", None, "production.cloudfront.docker.com"
    hosts = ["registry-1.docker.io", cdn]


if __name__ == "__main__":
    scenario.main(OpenImages)
