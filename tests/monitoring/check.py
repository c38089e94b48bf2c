#!/usr/bin/env python3
"""Checks configs/monitoring: check.py ROOT HEARSAY

Without nodes: promtool reads all files, each alert fires above its threshold and not below (thresholds.py), and each one
names a page that exists.
With nodes: a healthy cluster raises no alert; each alert fires when its fault is there (faults.py), with the real
threshold and windows of seconds; metrics, labels and values of all rules and panels exist; every panel has data.

Exit codes: 0, 1, and 77 without prometheus, promtool or openssl. It uses the addresses 127.0.47.x only.
"""
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import dashboards
import names
import thresholds
from cluster import ORIGIN, Failure, Process, Prometheus, eventually
from faults import BY_THRESHOLDS_ONLY, Broken, Healthy
from promql import exposition, hurry, waits

RULES = ("recording.yml", "alerts.yml")
BEGUN = time.monotonic()
failures = []


def complain(text):
    print(text, flush=True)
    failures.append(text)


def step(text):
    print(f"{time.monotonic() - BEGUN:6.1f} s  {text}", flush=True)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        complain(f"{' '.join(command)}: {done.stdout}{done.stderr}")


def text_of(path):
    with open(path) as file:
        return file.read()


def check_files(configs):
    """promtool reads the files, and the dashboard is the one that dashboard.py writes. Returns the dashboard."""
    run("promtool", "check", "config", f"{configs}/prometheus.yml")
    run("promtool", "check", "config", "--syntax-only", f"{configs}/compose.yml")
    run("promtool", "check", "rules", *(f"{configs}/{name}" for name in RULES))
    text = text_of(f"{configs}/dashboard.json")
    made = subprocess.run([sys.executable, f"{configs}/dashboard.py"], capture_output=True, text=True).stdout
    if made != text:
        complain("dashboard.json is out of date: dashboard.py > dashboard.json")
    board = json.loads(text)
    for each in dashboards.complaints(board):
        complain(f"dashboard.json: {each}")
    return board


def check_compose(root):
    """The profile `monitoring` is readable, and mounts folders that exist."""
    for command in (["docker", "compose"], ["docker-compose"]):
        try:
            done = subprocess.run([*command, "-f", f"{root}/docker-compose.yml", "--profile", "monitoring", "config"],
                                  capture_output=True, text=True)
        except OSError:
            continue
        if done.returncode == 0 or command == ["docker-compose"]:
            if done.returncode or "dashboard.json" not in done.stdout or "--config.file=" not in done.stdout:
                complain(f"docker-compose --profile monitoring config: {done.stdout}{done.stderr}")
            return
    step("docker-compose.yml is not checked: there is no compose")


def check_thresholds(configs, folder):
    its = waits(text_of(f"{configs}/alerts.yml"))
    tested = {**thresholds.CASES, **thresholds.DAY_CASES}
    if set(its) != set(tested):
        complain(f"thresholds.py and alerts.yml differ: {sorted(set(its) ^ set(tested))}")
        return
    for number, text in enumerate(thresholds.files([f"{configs}/{name}" for name in RULES], its)):
        with open(f"{folder}/thresholds{number}.json", "w") as file:
            file.write(text)
        run("promtool", "test", "rules", file.name)


def check_alerts(root, alerts):
    """Each alert says what is wrong and what to do, with a page that exists, and stands in the guide."""
    guide = text_of(f"{root}/docs/howto/monitoring.md")
    for name, alert in alerts.items():
        notes = alert["annotations"]
        if set(notes) != {"summary", "description", "action", "runbook"}:
            complain(f"{name}: its annotations are {sorted(notes)}")
        for each in names.page_complaints(name, notes.get("runbook", ""), root):
            complain(each)
        if alert["labels"].get("severity") not in ("critical", "warning", "info"):
            complain(f"{name} has no severity")
        if not re.search(rf"\b{name}\b", guide):
            complain(f"docs/howto/monitoring.md does not name {name}")


def check_names(root, board, rules, texts):
    """Every metric, label and value that a rule or a panel names is in the expositions."""
    seen = names.merge(exposition(text) for text in texts)
    recorded = {rule["name"]: names.labels_behind(rule["query"]) for rule in rules if rule["type"] == "recording"}
    for where, expression in [(rule["name"], rule["query"]) for rule in rules] + list(dashboards.queries(board)):
        for each in names.complaints(where, expression, seen, recorded, root):
            complain(each)
    for wrong in ("hearsay_nothing", 'hearsay_ready{x="y"}', 'hearsay_cache_bytes{tier="tape"}', "sum by (x) (hearsay_ready)"):
        if not list(names.complaints("wrong", wrong, seen, recorded, root)):
            complain(f"the wrong expression {wrong} is not noticed")


def check_panels(board, prometheus):
    for where, expression in dashboards.queries(board):
        if not prometheus.query(expression):
            complain(f"dashboard.json, {where}: no data for {expression}")


def note(fired, alerts, prometheus):
    """Adds the alerts that fire now. Each has the labels that its texts use."""
    for name, labels, _ in prometheus.alerts():
        if name in fired:
            continue
        fired[name] = labels
        for label in re.findall(r"\$labels\.(\w+)", " ".join(alerts[name]["annotations"].values())):
            if not labels.get(label):
                complain(f"{name}: its texts use the label {label}, and it has {sorted(labels)}")


def check_live(root, program, folder, board):
    rule_files = []
    for name in RULES:
        rule_files.append(f"{folder}/{name}")
        with open(rule_files[-1], "w") as out:
            out.write(hurry(text_of(f"{root}/configs/monitoring/{name}")))
    Process([program, "origin", "--listen", ORIGIN], f"{folder}/origin.log")
    healthy = Healthy(program, folder)
    jobs = {"hearsay": [node.admin for node in healthy.nodes.values()]}
    prometheus = Prometheus(folder, jobs, rule_files)
    healthy.wait()
    prometheus.wait_until_up()
    rules = prometheus.rules()
    alerts = {rule["name"]: rule for rule in rules if rule["type"] == "alerting"}
    check_alerts(root, alerts)

    def is_quiet():
        rate = prometheus.query('job:hearsay_hit_ratio:rate30m > 0.5')
        return rate and not prometheus.alerts()
    eventually(lambda: f"a healthy cluster raises no alert: {prometheus.alerts()}", is_quiet, healthy.load)
    for _ in range(3):
        healthy.load()
    step(f"a healthy cluster is quiet, with {healthy.turn} objects shared")

    broken = Broken(program, folder, healthy)
    prometheus.scrape({**jobs, "hearsay-broken": broken.targets()})
    prometheus.hang_up()
    broken.break_all()
    step("everything is broken")
    fired, missing = {}, set(alerts) - set(BY_THRESHOLDS_ONLY)

    def all_fire():
        note(fired, alerts, prometheus)
        return not missing - set(fired) - {"HearsayNodeNotReady"}
    eventually(lambda: f"these alerts fire: {sorted(missing - set(fired))}", all_fire, broken.load)
    texts = [node.answer("/metrics") for node in (healthy.a, broken.e, broken.m, broken.d, broken.p)]
    check_names(root, board, rules, texts)
    run_promtool_on(texts[0])
    check_panels(board, prometheus)
    broken.drain()
    eventually("HearsayNodeNotReady fires", lambda: note(fired, alerts, prometheus) or "HearsayNodeNotReady" in fired)
    step(f"{len(missing)} alerts fire in a cluster, {len(BY_THRESHOLDS_ONLY)} by their series alone")
    for name in sorted(set(BY_THRESHOLDS_ONLY) - set(alerts)):
        complain(f"faults.py names {name}, which is no alert")


def run_promtool_on(text):
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
    if done.returncode or done.stderr:
        complain(f"promtool check metrics: {done.stdout}{done.stderr}")


def main(root, program):
    for tool in ("prometheus", "promtool", "openssl"):
        if not shutil.which(tool):
            print(f"skipped: there is no {tool} (Debian: apt-get install prometheus openssl)")
            return 77
    with tempfile.TemporaryDirectory(prefix="hearsay-monitoring-") as folder:
        board = check_files(f"{root}/configs/monitoring")
        check_compose(root)
        beside = threading.Thread(target=check_thresholds, args=(f"{root}/configs/monitoring", folder))
        beside.start()
        try:
            check_live(root, program, folder, board)
        except Failure as failure:
            complain(str(failure))
        finally:
            beside.join()
            Process.end_all()
    step("done")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
