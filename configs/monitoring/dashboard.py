#!/usr/bin/env python3
"""Writes dashboard.json, the Grafana dashboard, from the tables below: dashboard.py > dashboard.json

A row of the dashboard is a title and a list of panels. A panel states its width (of 24 columns), type, title, unit, a
description and its queries, each with the legend. `{n}` stands for the matchers of the chosen jobs and nodes.
tests/monitoring runs every query against a live cluster.
"""
import json

N = 'job=~"$job", instance=~"$node"'
R = "$__rate_interval"
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
NAMED = "* on (job, instance) group_left (node) hearsay_build_info"  # adds the name of the node

CLUSTER = [
    (3, "stat", "Nodes that answer", "none", "Targets that Prometheus can scrape.", [('sum(up{%s})' % N, "")]),
    (3, "stat", "Nodes that are ready", "none", "Nodes whose /readyz answers 200.", [('sum(hearsay_ready{%s})' % N, "")]),
    (3, "stat", "Hit rate", "percentunit", "Part of the cacheable requests without an origin fetch, over the chosen time.",
     [('sum(increase(hearsay_requests_total{%s, outcome=~"local_hit|peer_hit"}[$__range])) / sum(increase('
       'hearsay_requests_total{%s, outcome=~"local_hit|peer_hit|origin_fetch"}[$__range]))' % (N, N), "")]),
    (3, "stat", "Bytes saved", "bytes", "Body bytes to clients that no origin had to send, over the chosen time.",
     [('sum(increase(hearsay_bytes_total{%s, direction="to_clients"}[$__range])) - sum(increase('
       'hearsay_bytes_total{%s, direction="from_origins"}[$__range]))' % (N, N), "")]),
    (12, "table", "Alerts", "none", "Alerts of alerts.yml that fire now. An empty table is a good sign.",
     [('ALERTS{job=~"$job", alertname=~"Hearsay.*", alertstate="firing"}', "")]),
    (12, "table", "Nodes", "s", "Name, version and time since the start of each node.",
     [('hearsay_uptime_seconds{%s} * on (job, instance) group_left (node, version) hearsay_build_info' % N, "")]),
    (12, "table", "Peers that are not in step", "none",
     "What each node sees of its peers. docs/howto/troubleshoot.md explains the states.",
     [('hearsay_peer_state{%s, state!="in_step"}' % N, "")]),
]
TRAFFIC = [
    (12, "shares", "Where answers came from", "percentunit", "Local hits, peer hits and origin fetches.",
     [('sum by (outcome) (rate(hearsay_requests_total{%s, outcome=~"local_hit|peer_hit|origin_fetch"}[%s]))' % (N, R),
       "{{outcome}}")]),
    (12, "timeseries", "Requests by outcome", "reqps", "Each client request counts once, when its answer ends.",
     [('sum by (outcome) (rate(hearsay_requests_total{%s}[%s]))' % (N, R), "{{outcome}}")]),
    (12, "timeseries", "Time of a request, median", "s", "From the end of the request's head to the end of the answer.",
     [('histogram_quantile(0.5, sum by (outcome, le) (rate(hearsay_request_duration_seconds_bucket{%s}[%s])))' % (N, R),
       "{{outcome}}")]),
    (12, "timeseries", "Time of a request, 99th percentile", "s", "Slow clients count with their whole download.",
     [('histogram_quantile(0.99, sum by (outcome, le) (rate(hearsay_request_duration_seconds_bucket{%s}[%s])))' % (N, R),
       "{{outcome}}")]),
    (12, "timeseries", "Body bytes", "Bps", "Bytes to clients above the bytes from origins are saved.",
     [('sum by (direction) (rate(hearsay_bytes_total{%s}[%s]))' % (N, R), "{{direction}}")]),
    (12, "timeseries", "Hit rate of each node", "percentunit", "Local and peer hits per cacheable request.",
     [('sum by (instance) (rate(hearsay_requests_total{%s, outcome=~"local_hit|peer_hit"}[%s])) / sum by (instance) ('
       'rate(hearsay_requests_total{%s, outcome=~"local_hit|peer_hit|origin_fetch"}[%s]))' % (N, R, N, R), "{{instance}}")]),
]
SHARING = [
    (12, "matrix", "Who gave whom: hits by peer", "short",
     "Rows asked, columns answered. Numbers are peer hits over the chosen time.",
     [('sum by (node, peer) (increase(hearsay_peer_requests_total{%s, result="hit"}[$__range]) %s)' % (N, NAMED), "")]),
    (12, "matrix", "Links: 1 is in step", "none", "Rows ask, columns are asked. 0: the node does not ask this peer.",
     [('sum by (node, peer) (hearsay_peer_in_step{%s} %s)' % (N, NAMED), "")]),
    (12, "timeseries", "Peer requests by result", "reqps", "A `false_hit` is a request for an object that the peer lacks.",
     [('sum by (result) (rate(hearsay_peer_requests_total{%s}[%s]))' % (N, R), "{{result}}")]),
    (12, "timeseries", "Time saved by peers, per second", "s", "How much sooner or later heads came than from the origin.",
     [('sum by (result) (rate(hearsay_peer_time_seconds_total{%s}[%s]))' % (N, R), "{{result}}")]),
    (12, "timeseries", "Round trip to each peer", "s", "Smoothed time to the head of an answer; 0 is unknown.",
     [('max by (instance, peer) (hearsay_peer_round_trip_seconds{%s})' % N, "{{instance}} to {{peer}}")]),
    (12, "timeseries", "Links refused or ended, by reason", "ops", "docs/howto/troubleshoot.md explains the reasons.",
     [('sum by (reason) (rate(hearsay_link_refusals_total{%s}[%s]))' % (N, R), "{{reason}}")]),
]
SUMMARIES = [
    (8, "timeseries", "Fill of the own summary", "percentunit", "Part of the bits that are set.",
     [('hearsay_digest_fill_ratio{%s}' % N, "{{instance}}")]),
    (8, "timeseries", "False hits, measured and expected", "percentunit",
     "Measured: false hits per fetch that looked into the summaries. Expected: sum over the summaries of all nodes.",
     [('sum(rate(hearsay_peer_requests_total{%s, result="false_hit"}[%s])) / sum(rate(hearsay_digest_lookups_total{%s}[%s]))'
       % (N, R, N, R), "measured"),
      ('sum(hearsay_digest_expected_false_hit_ratio{job=~"$job"})', "expected")]),
    (8, "timeseries", "False hits by cause", "ops", "`evicted`: the peer withdrew the key soon after.",
     [('sum by (cause) (rate(hearsay_peer_false_hits_total{%s}[%s]))' % (N, R), "{{cause}}")]),
    (8, "timeseries", "False misses per sample", "percentunit", "Samples ask a peer whose summary denies the key.",
     [('sum(rate(hearsay_peer_false_misses_total{%s}[1h])) / (sum(rate(hearsay_peer_samples_total{%s}[1h])) > 0 or vector(1))'
       % (N, N), "false misses")]),
    (8, "timeseries", "Age of the peers' summaries", "s", "Time since the last confirmation; about a second is normal.",
     [('max by (instance, peer) (hearsay_digest_lag_seconds{%s})' % N, "{{peer}} at {{instance}}")]),
    (8, "timeseries", "Bytes on links", "Bps", "All bytes, and the payload of deltas and snapshots.",
     [('sum by (direction) (rate(hearsay_link_bytes_total{%s}[%s]))' % (N, R), "{{direction}}, all"),
      ('sum by (direction) (rate(hearsay_announcement_bytes_total{%s}[%s]))' % (N, R), "{{direction}}, announcements")]),
    (8, "timeseries", "Whole summaries sent and received", "ops", "At the start of a link, or to repair one.",
     [('sum by (direction) (rate(hearsay_snapshots_total{%s}[%s]))' % (N, R), "{{direction}}"),
      ('sum(rate(hearsay_digest_resyncs_total{%s}[%s]))' % (N, R), "repairs")]),
    (8, "timeseries", "Purges that peers have yet to confirm", "none", "A peer that is down confirms when it is back.",
     [('max by (instance, peer) (hearsay_invalidations_pending{%s})' % N, "{{peer}} of {{instance}}")]),
    (8, "timeseries", "Keys in the own summary", "short", "Objects that the node announces.",
     [('hearsay_digest_objects{%s}' % N, "{{instance}}")]),
]
STORE = [
    (8, "timeseries", "Stored bytes", "bytes", "Responses in memory, files on disk.",
     [('sum by (instance, tier) (hearsay_cache_bytes{%s})' % N, "{{instance}} {{tier}}")]),
    (8, "timeseries", "Evictions", "ops", "Responses removed to make room.",
     [('sum by (instance, tier) (rate(hearsay_evictions_total{%s}[%s]))' % (N, R), "{{instance}} {{tier}}")]),
    (8, "timeseries", "Storage verdicts", "ops", "`store`, or the reason against it: docs/reference/cache-status.md.",
     [('sum by (verdict) (rate(hearsay_storage_verdicts_total{%s}[%s]) > 0)' % (N, R), "{{verdict}}")]),
    (8, "timeseries", "Disk: use of the cap", "percentunit", "A full directory removes its oldest segments.",
     [('hearsay_disk_bytes{%s} / hearsay_disk_cap_bytes' % N, "{{instance}} {{directory}}")]),
    (8, "timeseries", "Disk: written bytes", "Bps", "All bytes, and those of responses that were kept by writing them again.",
     [('sum by (instance) (rate(hearsay_disk_written_bytes_total{%s}[%s]))' % (N, R), "{{instance}}"),
      ('sum by (instance) (rate(hearsay_disk_readmitted_bytes_total{%s}[%s]))' % (N, R), "{{instance}}, again")]),
    (8, "timeseries", "Disk: reads, and what was left out", "ops", "`refused` and `queue_full`: the device is too slow.",
     [('sum by (how) (rate(hearsay_disk_reads_total{%s}[%s]))' % (N, R), "read {{how}}"),
      ('sum by (reason) (rate(hearsay_disk_refused_total{%s}[%s]))' % (N, R), "not written: {{reason}}")]),
    (8, "table", "Disk: states", "none", "Directories that are not ready: docs/howto/disk.md.",
     [('hearsay_disk_state{%s, state!="ready"} == 1' % N, "")]),
    (8, "timeseries", "Stored responses", "short", "In memory and on disk.",
     [('hearsay_cache_objects{%s}' % N, "{{instance}}")]),
    (8, "timeseries", "Hits from disk", "ops", "Responses read from disk, because memory lacked them.",
     [('sum by (instance) (rate(hearsay_disk_hits_total{%s}[%s]))' % (N, R), "{{instance}}")]),
]
ORIGINS = [
    (8, "timeseries", "Origin requests", "reqps", "Requests, failures, and validations that ended in 304.",
     [('sum(rate(hearsay_origin_requests_total{%s}[%s]))' % (N, R), "requests"),
      ('sum(rate(hearsay_origin_failures_total{%s}[%s]))' % (N, R), "failures"),
      ('sum(rate(hearsay_origin_down_requests_total{%s}[%s]))' % (N, R), "withheld: origin down"),
      ('sum(rate(hearsay_validations_total{%s}[%s]))' % (N, R), "validations")]),
    (8, "timeseries", "Origins that are down", "none", "Origins that left their last three requests unanswered.",
     [('hearsay_origins_down{%s}' % N, "{{instance}}")]),
    (8, "timeseries", "Requests beside a peer", "reqps", "Sent while a peer was waited for, by whose answer was used.",
     [('sum by (first) (rate(hearsay_origin_hedges_total{%s}[%s]))' % (N, R), "{{first}} was first")]),
    (8, "table", "Servers of groups, and parents, that are down", "none", "Empty without groups and parents.",
     [('hearsay_upstream_up{%s} == 0' % N, "")]),
    (8, "timeseries", "Requests to servers of groups", "reqps", "Active checks are left out.",
     [('sum by (group, server) (rate(hearsay_upstream_requests_total{%s}[%s]))' % (N, R), "{{group}} {{server}}")]),
    (8, "timeseries", "Failures and open requests of servers", "none", "Failures per second; requests that are open now.",
     [('sum by (group, server) (rate(hearsay_upstream_failures_total{%s}[%s]))' % (N, R), "{{server}} failures"),
      ('sum by (group, server) (hearsay_upstream_in_flight{%s})' % N, "{{server}} open")]),
]
LIMITS = [
    (8, "timeseries", "Errors", "percentunit", "Part of the requests that ended as errors.",
     [('sum by (instance) (rate(hearsay_requests_total{%s, outcome="error"}[%s])) / sum by (instance) ('
       'rate(hearsay_requests_total{%s}[%s]))' % (N, R, N, R), "{{instance}}")]),
    (8, "timeseries", "Refusals by reason", "reqps", "docs/reference/metrics.md explains the reasons.",
     [('sum by (reason) (rate(hearsay_request_refusals_total{%s}[%s]) > 0)' % (N, R), "{{reason}}")]),
    (8, "timeseries", "Client connections", "short", "Open connections.",
     [('hearsay_connections{%s}' % N, "{{instance}}")]),
    (8, "timeseries", "File descriptors", "percentunit", "Part of the limit of the process.",
     [('process_open_fds{%s} / process_max_fds' % N, "{{instance}}")]),
    (8, "timeseries", "CPU", "none", "Cores that the process uses.",
     [('rate(process_cpu_seconds_total{%s}[%s])' % (N, R), "{{instance}}")]),
    (8, "timeseries", "Memory of the process", "bytes", "Resident memory, and bodies in flight beside the store.",
     [('process_resident_memory_bytes{%s}' % N, "{{instance}}"),
      ('hearsay_body_window_bytes{%s}' % N, "{{instance}} windows")]),
    (8, "timeseries", "Internal errors and lost log lines", "ops", "Both are zero in a healthy node.",
     [('sum by (instance) (rate(hearsay_internal_errors_total{%s}[%s]))' % (N, R), "{{instance}} errors"),
      ('sum by (instance) (rate(hearsay_log_dropped_total{%s}[%s]) + rate(hearsay_log_failed_total{%s}[%s]))'
       % (N, R, N, R), "{{instance}} lost lines")]),
    (8, "timeseries", "Certificates expire in", "s", "Empty without a TLS listener.",
     [('hearsay_tls_certificate_expiry_seconds{%s}' % N, "{{instance}} {{certificate}}")]),
    (8, "timeseries", "Pauses by bandwidth limits", "ops", "Pauses of responses and tunnels (clients.limits, cluster.bandwidth).",
     [('sum by (instance) (rate(hearsay_bandwidth_waits_total{%s}[%s]))' % (N, R), "{{instance}}")]),
    (8, "timeseries", "Spans of traces by their end", "ops", "`dropped` and `refused` are lost. Zero without `tracing`.",
     [('sum by (result) (rate(hearsay_trace_spans_total{%s}[%s]))' % (N, R), "{{result}}")]),
]
ROWS = [("Cluster", CLUSTER), ("Traffic", TRAFFIC), ("Sharing", SHARING), ("Summaries and links", SUMMARIES),
        ("Memory and disks", STORE), ("Origins", ORIGINS), ("Errors and limits", LIMITS)]
HEIGHT = 8  # of a panel


def details(kind, unit):
    """The members of a panel that depend on its type: type, fieldConfig, options and transformations."""
    defaults = {"unit": unit}
    if kind == "stat":
        return {"type": "stat", "fieldConfig": {"defaults": defaults, "overrides": []},
                "options": {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}}}
    if kind == "table":
        hidden = {name: True for name in ("Time", "__name__", "alertstate", "job")}
        return {"type": "table", "fieldConfig": {"defaults": defaults, "overrides": []}, "options": {"showHeader": True},
                "transformations": [{"id": "organize", "options": {"excludeByName": hidden}}]}
    if kind == "matrix":
        fields = {"columnField": "peer", "rowField": "node", "valueField": "Value"}
        return {"type": "table", "fieldConfig": {"defaults": {**defaults, "decimals": 0}, "overrides": []},
                "options": {"showHeader": True}, "transformations": [{"id": "groupingToMatrix", "options": fields}]}
    stacking = {"mode": "percent" if kind == "shares" else "none", "group": "A"}
    custom = {"lineWidth": 1, "fillOpacity": 60 if kind == "shares" else 8, "showPoints": "never",
              "axisSoftMin": 0, "stacking": stacking}
    if kind == "shares":
        defaults["unit"] = "reqps"  # the panel shows percentages, its tooltip the rates
    return {"type": "timeseries", "fieldConfig": {"defaults": {**defaults, "custom": custom}, "overrides": []},
            "options": {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
                        "tooltip": {"mode": "multi", "sort": "desc"}}}


def target(number, expression, legend, kind):
    each = {"refId": chr(ord("A") + number), "datasource": SOURCE, "expr": expression}
    if kind in ("table", "matrix"):
        return {**each, "format": "table", "instant": True, "range": False}
    if kind == "stat":
        return {**each, "instant": True, "range": False}
    exemplar = {"exemplar": True} if "_bucket{" in expression else {}  # points that name a trace
    return {**each, **exemplar, "legendFormat": legend or "__auto", "range": True}


def panels():
    out, y = [], 0
    for title, row in ROWS:
        out.append({"id": len(out) + 1, "type": "row", "title": title, "collapsed": False, "panels": [],
                    "gridPos": {"x": 0, "y": y, "w": 24, "h": 1}})
        y, x = y + 1, 0
        for width, kind, name, unit, description, queries in row:
            if x + width > 24:
                x, y = 0, y + HEIGHT
            out.append({"id": len(out) + 1, "title": name, "description": description, "datasource": SOURCE,
                        "gridPos": {"x": x, "y": y, "w": width, "h": HEIGHT}, **details(kind, unit),
                        "targets": [target(i, *query, kind) for i, query in enumerate(queries)]})
            x += width
        y += HEIGHT
    return out


def variable(name, label, query):
    return {"name": name, "label": label, "type": "query", "datasource": SOURCE, "definition": query,
            "query": {"query": query, "refId": name}, "refresh": 2, "multi": True, "includeAll": True, "sort": 1,
            "current": {"selected": True, "text": ["All"], "value": ["$__all"]}}


def dashboard():
    source = {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus", "refresh": 1}
    variables = [source, variable("job", "Cluster", "label_values(hearsay_build_info, job)"),
                 variable("node", "Node", 'label_values(hearsay_build_info{job=~"$job"}, instance)')]
    return {"title": "hearsay", "uid": "hearsay", "tags": ["hearsay"], "schemaVersion": 37, "version": 1, "editable": True,
            "graphTooltip": 1, "refresh": "30s", "time": {"from": "now-3h", "to": "now"}, "timezone": "browser",
            "templating": {"list": variables}, "annotations": {"list": []}, "links": [], "panels": panels()}


def rows(name, values):
    """A list as the last member of an object, one value per line."""
    return f'"{name}": [\n' + ",\n".join(values) + "]}"


def panel_text(panel):
    targets = [json.dumps(each) for each in panel.pop("targets", [])]
    text = json.dumps(panel)
    return text[:-1] + ", " + rows("targets", targets) if targets else text


def dashboard_text(board):
    """JSON with one line for each panel and each target, so that a change shows as a few lines."""
    panels = [panel_text(each) for each in board.pop("panels")]
    return json.dumps(board)[:-1] + ",\n" + rows("panels", panels)


if __name__ == "__main__":
    print(dashboard_text(dashboard()))
