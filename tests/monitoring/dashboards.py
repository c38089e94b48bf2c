"""The dashboard: what Grafana would stumble over, and its queries for Prometheus."""
import json
import re

TYPES = {"row", "stat", "table", "timeseries"}
# Grafana's variables, as in the test.
VALUES = {"$__rate_interval": "6s", "$__range": "60s", "$job": ".*", "$node": ".*"}


def panels(board):
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def queries(board):
    """Pairs of a panel's title and a query, with the variables filled in."""
    for panel in panels(board):
        for target in panel["targets"]:
            expression = target["expr"]
            for name, value in VALUES.items():
                expression = expression.replace(name, value)
            yield panel["title"], expression


def overlap(one, other):
    a, b = one["gridPos"], other["gridPos"]
    return (a["x"] < b["x"] + b["w"] and b["x"] < a["x"] + a["w"] and a["y"] < b["y"] + b["h"] and b["y"] < a["y"] + a["h"])


def complaints(board):
    every = board["panels"]
    if len({panel["id"] for panel in every}) != len(every):
        yield "two panels have one id"
    if len({panel["title"] for panel in every}) != len(every):
        yield "two panels have one title"
    for i, panel in enumerate(every):
        title, place = panel["title"], panel["gridPos"]
        if panel["type"] not in TYPES:
            yield f"{title}: unknown type {panel['type']}"
        if place["x"] + place["w"] > 24:
            yield f"{title}: wider than the page"
        for other in every[i + 1:]:
            if overlap(panel, other):
                yield f"{title} covers {other['title']}"
    for panel in panels(board):
        if not panel["description"] or not panel["targets"]:
            yield f"{panel['title']}: no description, or no query"
        if len({target["refId"] for target in panel["targets"]}) != len(panel["targets"]):
            yield f"{panel['title']}: two queries have one refId"
        for each in [panel, *panel["targets"]]:
            if each["datasource"] != {"type": "prometheus", "uid": "${datasource}"}:
                yield f"{panel['title']}: another data source than the variable"
    known = {variable["name"] for variable in board["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(board))) - {"__rate_interval", "__range", "__all"}
    if known != used:
        yield f"variables {sorted(known)}, of which {sorted(used)} are used"
