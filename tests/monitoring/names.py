"""What rules and panels name, against what nodes expose."""
import os
import re

from promql import read, words

OWN = {"job", "instance"}  # labels that Prometheus adds
# Metrics of Prometheus itself.
BUILT_IN = {"up": set(), "ALERTS": {"alertname", "alertstate"}}
# Values that appear with their event only. The sources list them.
RARE = {("hearsay_link_refusals_total", "reason"): "protocol/wire/error.hpp",
        ("hearsay_peer_state", "state"): "protocol/links/cluster_status.cpp"}


def merge(expositions):
    out = {}
    for each in expositions:
        for name, labels in each.items():
            for label, values in labels.items():
                out.setdefault(name, {}).setdefault(label, set()).update(values)
            out.setdefault(name, {})
    return out


def complaints(where, expression, seen, recorded, root):
    """What an expression names that nodes do not expose. `recorded`: labels of each recorded series."""
    selectors, labels = read(expression)
    if not selectors:
        yield f"{where}: no metric in {expression}"
    known = set(OWN)
    for each in selectors:
        name = each.name
        if name in BUILT_IN or name in recorded:
            known |= BUILT_IN.get(name) or recorded.get(name, set())
            continue
        if name not in seen:
            yield f"{where}: no node exposes {name}"
            continue
        its = seen[name]
        known |= set(its)
        for matcher in each.matchers:
            label = matcher[0]
            if label in OWN:
                continue
            if label not in its:
                yield f"{where}: {name} has no label {label}"
            source = RARE.get((name, label))
            for word in words(matcher):
                if source and re.search(rf"\b{word}\b", open(os.path.join(root, source)).read()):
                    continue
                if word not in its.get(label, ()):
                    yield f"{where}: {name} has no {label}=\"{word}\""
    for label in labels - known:
        yield f"{where}: no metric of {expression} has the label {label}"


def labels_behind(expression):
    """The labels of a series that a recording rule makes: those of its outermost `by`."""
    match = re.search(r"\bby\s*\(([^)]*)\)", expression)
    return {label.strip() for label in match.group(1).split(",")} - {"le"} if match else set()


def anchors(path):
    """The anchors of the headings of a page, as GitHub makes them."""
    with open(path) as file:
        for line in file:
            if line.startswith("#"):
                heading = line.lstrip("#").strip().lower()
                yield re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def page_complaints(where, link, root):
    """What is wrong with a link to a section of a page of this repository."""
    page, _, anchor = link.partition("#")
    path = os.path.join(root, page)
    if not os.path.isfile(path):
        yield f"{where}: there is no page {page}"
    elif anchor and anchor not in set(anchors(path)):
        yield f"{where}: {page} has no section {anchor}"
