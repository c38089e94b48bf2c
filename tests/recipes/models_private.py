#!/usr/bin/env python3
"""A gated repository of models with today's huggingface_hub: the hub judges each client by its token, and sends each body once."""
from harness import scenario
from models import Models


class PrivateModels(Models):
    name, config = "models-private", "models-private.json"
    indexes, token = [], "hf_right"
    in_outage = scenario.REFUSED
    flags = {"HF_HUB_ETAG_TIMEOUT": "5"}

    def is_content(self, entry):
        return super().is_content(entry) and "/api/models/" not in entry.url  # lists have weak tags, so nobody keeps them

    def pull_without_rights(self, machine):
        self.pull(machine, "hf_wrong")


if __name__ == "__main__":
    scenario.main(PrivateModels)
