"""The thresholds of the alerts, as series on which an alert fires and series on which it stays silent.

promtool evaluates the real rules, with their windows and their `for`, over virtual hours. Each case has a job of its own.
"""
import json

HOURS = 3
DAY = 27  # hours, for the alert that compares with the day before
UP, ZERO = "1x200", "0x200"


def rate(per_minute):
    return f"0+{per_minute}x200"


def requests(**outcomes):
    return [(f'hearsay_requests_total{{outcome="{outcome}"', rate(n)) for outcome, n in outcomes.items()]


def refused(reason, per_minute=1):
    return [(f'hearsay_link_refusals_total{{reason="{reason}"', rate(per_minute))]


def refused_once(reason, ordinary):
    """One refusal eight minutes before the end, beside ordinary ends of links."""
    return [(f'hearsay_link_refusals_total{{reason="{reason}"', "0x171 1x200")] + refused(ordinary)


def peer(name, value, extra=""):
    return [(f'{name}{{peer="b"{extra}', value)]


def state(word, in_step=0):
    return peer("hearsay_peer_state", UP, f', state="{word}"') + peer("hearsay_peer_in_step", f"{in_step}x200")


def peer_requests(**results):
    return [(f'hearsay_peer_requests_total{{peer="b", result="{result}"', rate(n)) for result, n in results.items()]


def limit(reason, per_minute):
    return [(f'hearsay_request_refusals_total{{reason="{reason}"', rate(per_minute))]


def disk(name, value, extra=""):
    return [(f'{name}{{directory="/d"{extra}', value)]


def version(one, other):
    return [(f'hearsay_build_info{{node="a", version="{one}"', UP), (f'hearsay_build_info{{node="b", version="{other}"', UP)]


def server(a, b):
    return [('hearsay_upstream_up{group="g", server="a"', a), ('hearsay_upstream_up{group="g", server="b"', b)]


def memory(evictions, objects, *more):
    return [('hearsay_evictions_total{tier="memory"', rate(evictions)), ("hearsay_cache_objects{", f"{objects}x200"), *more]


CAP = ('hearsay_disk_cap_bytes{directory="/d"', "1000x200")
BUDGET = ("hearsay_false_hit_budget_ratio{", "0.004x200")
EXPIRY = 'hearsay_tls_certificate_expiry_seconds{certificate="c"'

# alert -> (series on which it fires, series on which it is silent); a series is a selector without `}`, and its values.
CASES = {
    "HearsayNodeDown": ([("up{", ZERO)], [("up{", UP)]),
    "HearsayNodeNotReady": ([("hearsay_ready{", ZERO)], [("hearsay_ready{", UP)]),
    "HearsayNodeRestarts": ([("process_start_time_seconds{", rate(1))], [("process_start_time_seconds{", "1x165 9x200")]),
    "HearsayVersionsDiffer": (version("1", "2"), version("1", "1")),
    "HearsayConfigurationRefused": ([("hearsay_config_last_reload_successful{", ZERO)],
                                    [("hearsay_config_last_reload_successful{", UP)]),
    "HearsayInternalErrors": ([("hearsay_internal_errors_total{", "0x170 1x200")], [("hearsay_internal_errors_total{", "3x200")]),
    "HearsayDescriptorsNearLimit": ([("process_open_fds{", "81x200"), ("process_max_fds{", "100x200")],
                                    [("process_open_fds{", "79x200"), ("process_max_fds{", "100x200")]),
    "HearsayCertificateExpires": ([(EXPIRY, "1200000x200")], [(EXPIRY, "1210000x200")]),
    "HearsayCertificateExpired": ([(EXPIRY, "-1x200")], [(EXPIRY, "1x200")]),
    "HearsayAccessLogLosesLines": ([("hearsay_log_dropped_total{", rate(1)), ("hearsay_log_failed_total{", ZERO)],
                                   [("hearsay_log_dropped_total{", "5x200"), ("hearsay_log_failed_total{", ZERO)]),
    "HearsayTraceSpansLost": ([('hearsay_trace_spans_total{result="refused"', rate(1))],
                              [('hearsay_trace_spans_total{result="sent"', rate(1)),
                               ('hearsay_trace_spans_total{result="dropped"', "5x200")]),
    "HearsayPeerNotInStep": (state("gone"), state("withdrawn")),
    "HearsayClusterKeysDiffer": (refused("wrong_key"), refused_once("wrong_key", "goodbye")),
    "HearsayKeyRotationUnfinished": (refused("other_hash_key"), refused_once("other_hash_key", "wrong_key")),
    "HearsayRulesDiffer": (refused("rules_differ"), refused_once("rules_differ", "superseded")),
    "HearsayEncryptionDiffers": (refused("not_encrypted"), refused_once("not_encrypted", "restarted")),
    "HearsayPeerRefused": (refused("unknown_node"), refused_once("unknown_node", "own_id")),
    "HearsayPeerFails": (peer_requests(hit=78, failure=22), peer_requests(hit=82, failure=18)),
    "HearsayClocksDiffer": (peer("hearsay_peer_clock_ahead_seconds", "-3600x200"), peer("hearsay_peer_clock_ahead_seconds", "1.9x200")),
    "HearsayFalseHits": (peer_requests(false_hit=3) + [("hearsay_digest_lookups_total{", rate(100)), BUDGET],
                         peer_requests(false_hit=1) + [("hearsay_digest_lookups_total{", rate(100)), BUDGET]),
    "HearsaySummaryLate": (state("behind"), state("in_step", 1)),
    "HearsaySummaryLag": (peer("hearsay_digest_lag_seconds", "11x200") + state("in_step", 1),
                          peer("hearsay_digest_lag_seconds", "99x200") + state("gone")),
    "HearsaySummaryResyncs": (peer("hearsay_digest_resyncs_total", rate(1)), peer("hearsay_digest_resyncs_total", "0x165 4x200")),
    "HearsayPurgesUnconfirmed": (peer("hearsay_invalidations_pending", UP), peer("hearsay_invalidations_pending", ZERO)),
    "HearsayNoPeerHits": (requests(peer_hit=0, origin_fetch=90) + state("in_step", 1),
                          requests(peer_hit=1, origin_fetch=90) + state("in_step", 1)),
    "HearsayOriginDown": ([("hearsay_origins_down{", UP)], [("hearsay_origins_down{", ZERO)]),
    "HearsayOriginFault": ([('hearsay_origin_up{site="s"', ZERO)], [('hearsay_origin_up{site="s"', UP)]),
    "HearsayOriginFails": ([("hearsay_origin_failures_total{", rate(6)), ("hearsay_origin_requests_total{", rate(100))],
                           [("hearsay_origin_failures_total{", rate(4)), ("hearsay_origin_requests_total{", rate(100))]),
    "HearsayUpstreamDown": (server(ZERO, UP), server(UP, UP)),
    "HearsayUpstreamGroupDown": (server(ZERO, ZERO), server(ZERO, UP)),
    "HearsayErrorRate": (requests(local_hit=90, error=10), requests(local_hit=96, error=4, refused=50)),
    "HearsayMostRequestsRefused": (requests(local_hit=49, refused=51), requests(local_hit=51, refused=49)),
    "HearsayConnectionsRefused": (limit("too_many_connections", 10), limit("too_many_connections", 5)),
    "HearsayClientsOverLimits": (limit("over_rate", 10), limit("over_rate", 5)),
    "HearsayMemoryFull": (memory(1, 9999), memory(1, 9999, CAP)),
    "HearsayMemoryChurns": (memory(11, 100), memory(9, 100)),
    "HearsayMemoryNoRoom": ([('hearsay_storage_verdicts_total{verdict="no_room"', rate(1))],
                            [('hearsay_storage_verdicts_total{verdict="no_room"', "0x171 9x200"),
                             ('hearsay_storage_verdicts_total{verdict="store"', rate(1))]),
    "HearsayBodyWindowsFull": ([("hearsay_body_window_bytes{", "91x200"), ("hearsay_body_window_cap_bytes{", "100x200")],
                               [("hearsay_body_window_bytes{", "89x200"), ("hearsay_body_window_cap_bytes{", "100x200")]),
    "HearsayDiskFull": ([CAP] + disk("hearsay_disk_bytes", "960x200") + disk("hearsay_disk_reclaimed_total", rate(1)),
                        [CAP] + disk("hearsay_disk_bytes", "940x200") + disk("hearsay_disk_reclaimed_total", rate(1))),
    "HearsayDiskOff": (disk("hearsay_disk_state", UP, ', state="off"'), disk("hearsay_disk_state", UP, ', state="ready"')),
    "HearsayDiskPaused": (disk("hearsay_disk_state", UP, ', state="paused"'), disk("hearsay_disk_state", UP, ', state="loading"')),
    "HearsayDiskSlow": (disk("hearsay_disk_refused_total", rate(10), ', reason="queue_full"'),
                        disk("hearsay_disk_refused_total", rate(10), ', reason="too_large"')),
    "HearsayDiskErrors": (disk("hearsay_disk_reads_total", "0x170 1x200", ', how="failed"'),
                          disk("hearsay_disk_reads_total", rate(10), ', how="at_once"')),
}
# 90 % of hits for a day with five hours without a request, then 50 % or 80 %.
DAY_CASES = {
    "HearsayHitRateFell": (
        [('hearsay_requests_total{outcome="local_hit"', "0+90x600 54000x299 54090+90x600 108140+50x200"),
         ('hearsay_requests_total{outcome="origin_fetch"', "0+10x600 6000x299 6010+10x600 12060+50x200")],
        [('hearsay_requests_total{outcome="local_hit"', "0+90x600 54000x299 54090+90x600 108170+80x200"),
         ('hearsay_requests_total{outcome="origin_fetch"', "0+10x600 6000x299 6010+10x600 12030+20x200")]),
}


def of_case(alert, which):
    return f"hearsay-{alert}-{which}"


def series(cases):
    for alert, kinds in cases.items():
        for which, its in zip(("fires", "silent"), kinds):
            for selector, values in its:
                name, labels = selector.split("{")
                labels = ", ".join(filter(None, [labels, f'job="{of_case(alert, which)}", instance="i"']))
                yield {"series": f"{name}{{{labels}}}", "values": values}


def firing(alert, which, seconds, expected):
    expression = f'count(ALERTS{{alertname="{alert}", alertstate="firing", job="{of_case(alert, which)}"}}) > bool 0'
    samples = [{"labels": "{}", "value": 1}] if expected else []
    return {"expr": expression, "eval_time": f"{int(seconds)}s", "exp_samples": samples}


def suite(cases, hours, waits):
    tests = []
    for alert in cases:
        tests += [firing(alert, "fires", hours * 3600, True), firing(alert, "silent", hours * 3600, False)]
        if waits[alert] and hours == HOURS:  # while an alert waits, it is silent
            tests.append(firing(alert, "fires", waits[alert] // 60 * 60 / 2, False))
    return {"interval": "1m", "input_series": list(series(cases)), "promql_expr_test": tests}


def files(rules, waits):
    """Texts for `promtool test rules`; JSON is YAML too. `waits` has the `for` of each alert in seconds."""
    for cases, hours, every in ((CASES, HOURS, "1m"), (DAY_CASES, DAY, "5m")):
        yield json.dumps({"rule_files": rules, "evaluation_interval": every, "tests": [suite(cases, hours, waits)]})
