"""A server in place of a node's admin port: the files of the dashboard, and made-up answers.

The pages come with the headers of a node, so the browser judges them alike. `answers` holds the JSON by
path; a test may change it at any time. Every request is recorded. Run as a program it serves until it is
interrupted: stand_in.py [NODES [PORT]].
"""
import http.server
import json
import math
import os
import sys
import threading
import time
import urllib.parse

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../proxy/admin/dashboard")
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
TOKEN = "the token of the stand-in"
SPANS = {"15m": (5, 180), "6h": (60, 360), "7d": (600, 1008)}
GUARDED = ("/api/v1/top", "/api/v1/errors", "/api/v1/settings", "/api/v1/explain", "/api/v1/config")
EVIL = "http://x.example/<img src=x onerror=alert(1)>?a=javascript:alert(2)&\"'><script>alert(3)</script>"


def outcomes(local, peer, origin, uncacheable=0, error=0):
    return {"local_hit": local, "peer_hit": peer, "origin_fetch": origin, "uncacheable": uncacheable, "error": error}


def name_of(number, count):
    return "abcdefgh"[number] if count <= 8 else f"node-{number + 1:03}"


def links_of(number, count, dead):
    links = []
    for peer in range(count):
        if peer == number:
            continue
        hits = 4000 * ((number * 7 + peer * 13) % 11) // (1 + abs(number - peer))
        links.append({"peer": name_of(peer, count), "state": "gone" if peer in dead else "in_step", "hits": hits,
                      "given": 4000 * ((peer * 7 + number * 13) % 11) // (1 + abs(number - peer)),
                      "false_hits": hits // 90, "failures": 3 if peer in dead else 0,
                      "lag_seconds": 900 if peer in dead else 0.1 + (peer % 7) / 10})
    return links


def nodes(count=3, dead=(), own=0):
    out = []
    for number in range(count):
        links, left_out = links_of(number, count, dead), 0
        if number != own and len(links) > 16:
            links.sort(key=lambda link: -link["hits"])
            left_out, links = len(links) - 16, links[:16]
        local = 90000 + 1000 * (number % 13)
        out.append({"node": name_of(number, count), "self": number == own, "state": "down" if number in dead else "ready",
                    "age_seconds": 0.0 if number == own else 912.0 if number in dead else 2.5, "version": "0.1.0",
                    **({"state_seconds": 912.0} if number in dead else {}),
                    "uptime_seconds": 86400.0 + number, "requests": outcomes(local, 24000, 31000, 900, 40),
                    "saved": {"from_memory_bytes": local * 21000, "from_peers_bytes": 24000 * 30000,
                              "from_origins_bytes": 31000 * 26000, "to_clients_bytes": local * 21000 + 24000 * 30000 + 31000 * 26000},
                    "objects": 41000 + number, "memory": {"bytes": 200 << 20, "cap_bytes": 256 << 20},
                    "disk": {"bytes": 150 << 30, "cap_bytes": 200 << 30, "faulty": 0, "with_errors": 0},
                    "origins": {"down": 0, "slow": 0, "failing": 0},
                    "summary": {"fill": 0.21, "expected_error": 0.0019}, "errors_5m": 2 if number == 1 else 0,
                    "links": links, "links_left_out": left_out})
    out.insert(0, out.pop(own))
    return {"node": out[0]["node"], "version": "0.1.0", "now": time.time(), "nodes": out}


def history(span, node=None):
    interval, count = (10, 90) if node else SPANS[span]
    end = math.floor(time.time() / interval) * interval
    points = []
    for i in range(count):
        wave = 1 + 0.5 * math.sin(i / 17) + 0.15 * math.sin(i * 2.3)
        local, peer, origin = int(interval * 210 * wave), int(interval * 60 * wave), int(interval * 45 * (2 - wave * 0.5))
        points.append({"t": end - (count - 1 - i) * interval, "requests": outcomes(local, peer, origin, interval, i % 2),
                       "bytes": {"to_clients": local * 21000 + peer * 30000 + origin * 26000, "from_peers": peer * 30000,
                                 "from_origins": origin * 26000},
                       "p50_ms": {"local_hit": 0.21, "peer_hit": 1.9 + wave, "origin_fetch": 38 + 10 * wave, "uncacheable": 50, "error": None},
                       "p99_ms": {"local_hit": 1.4, "peer_hit": 11 + 3 * wave, "origin_fetch": 310 + 90 * wave, "uncacheable": 400, "error": None},
                       "refused": 0})
        all_p50, all_p99 = 2.4 + wave, 190 + 60 * wave
        for quantile, over_all in (("p50_ms", all_p50), ("p99_ms", all_p99)):
            if node:
                points[-1][quantile] = dict.fromkeys(points[-1][quantile])
            points[-1][quantile]["all"] = over_all
    return {"span": span, "interval_seconds": interval, "points": points}


def status(count=3, dead=()):
    peers = [{"node": link["peer"], "state": link["state"], "state_seconds": 912 if link["state"] == "gone" else 86000,
              "cause": "", "asked": link["hits"] + link["false_hits"], "hits": link["hits"], "false_hits": link["false_hits"],
              "failures": link["failures"], "given": link["given"], "collisions": 1, "evicted": 2, "lag_seconds": link["lag_seconds"],
              "left_alone_seconds": 0, "round_trip_seconds": 0.0021, "last_error": "connection_refused" if link["state"] == "gone" else "",
              "last_error_seconds": 3, "last_http_error": "", "last_http_error_seconds": 0} for link in links_of(0, count, dead)]
    return {"node": name_of(0, count), "version": "0.1.0", "uptime_seconds": 86400, "ready": True, "draining": False,
            "window_bytes": 3 << 20, "log_dropped": 0, "log_failed": 0, "internal_errors": 0,
            "upstream": {"origins_down": 0, "peers_too_far": 0, "answers": [
                {"site": "mirror.example", "origin": "mirror.example:80", "answers": 31000, "server_errors": 310, "too_many_requests": 0,
                 "last_5m": {"answers": 400, "server_errors": 4, "too_many_requests": 0}}]},
            "requests": outcomes(90000, 24000, 31000, 900, 40), "connections": {"open": 812, "made_room": 0},
            "cache": {"memory_bytes": 200 << 20, "disk_index_bytes": 18 << 20, "memory_evictions": 91000, "disk_evictions": 1200,
                      "disk_objects": 870000, "disk_hits": 31000, "disk_admission_declined": 5100, "disk": [
                          {"path": "/var/cache/hearsay", "state": "ready", "last_error": "",
                           "last_error_seconds": 0, "last_error_is_full": False, "bytes": 150 << 30, "cap_bytes": 200 << 30,
                           "queued_bytes": 1 << 20, "written_bytes": 7 << 30, "read_at_once": 25000, "read_by_threads": 6000,
                           "refused_queue_full": 0, "refused_paused": 0, "refused_too_large": 2, "refused_off": 0, "read_refused": 0,
                           "failed": 0, "read_failed": 0}]},
            "refusals": {"timeout": 4, "no_route": 17}, "storage": {"store": 31000, "private": 512, "no_store": 120},
            "upstreams": [], "tls": {"certificates": []}, "process": {"open_fds": 960, "max_fds": 65536, "resident_bytes": 420 << 20},
            "config": {"generation": 2, "loaded_at": "2026-11-27T09:30:00Z", "reloads": 1, "failures": 0, "last_error": "", "warnings": [], "admin_token": True},
            "cluster": {"peers": peers, "names": [], "unanswered": [], "unplaced": [], "origins": [
                {"origin": "mirror.example:80", "answer_seconds": 0.041, "answer_deviation_seconds": 0.012,
                 "peer_budget_seconds": 0.06, "peer_limit_seconds": 0.051}]}}


def explanation(url):
    return {"url": url, "rule": "packages", "here": "fresh", "ttl_seconds": 5400, "age_seconds": 1800, "lifetime_seconds": 7200,
            "variants": 2, "body_bytes": 52428800, "blocks": {"count": 13, "bytes": 4194304}, "just_invalidated": False, "blocklist": None,
            "destination_denied": None, "origin": "mirror.example:80", "servers": [], "origin_answer_seconds": 0.041,
            "beside_the_origin": False, "peers": [
                {"node": "b", "claims": True, "has": "has", "choice": "asked", "turn": 1, "round_trip_seconds": 0.0021},
                {"node": "c", "claims": True, "has": "absent", "choice": "others_first", "turn": None, "round_trip_seconds": 0.004}]}


class StandIn:
    """Serves on a port of its own of 127.0.0.1 until close()."""

    def __init__(self, count=3, dead=(), port=0):
        self.requests = []  # method, path, headers
        self.orders = []    # path, JSON
        self.token = TOKEN
        self.guard_all = False
        self.answers = {
            "/api/v1/nodes": nodes(count, dead), "/api/v1/status": status(count, dead),
            "/api/v1/sites": {"sites": [{"site": "mirror.example", "requests": outcomes(90000, 24000, 31000, 12, 4), "bytes_to_clients": 4 << 30,
                                         "origin": {"answers": 31000, "server_errors": 310, "too_many_requests": 0}}],
                              "rules": [{"rule": "packages", "requests": outcomes(80000, 20000, 9000, 0, 0), "bytes_to_clients": 3 << 30}]},
            "/api/v1/top": {"urls": [{"url": f"http://mirror.example/pool/{name}.deb", "requests": 9000 // (i + 1), "at_most_too_many": i}
                                     for i, name in enumerate(("linux", "libc6", "openssl", "curl", "python3"))] +
                                    [{"url": EVIL, "requests": 3, "at_most_too_many": 1}], "clients": None},
            "/api/v1/errors": {"errors": [{"t": time.time() - 20, "level": "error", "text": "b: link: connection refused"},
                                          {"t": time.time() - 90, "level": "warn", "text": EVIL}]},
            "/api/v1/settings": {"settings": [
                {"name": "cache.memory", "value": "256MiB", "default": "256MiB", "source": "default"},
                {"name": "limits.body_windows", "value": "64MiB", "default": "64MiB", "source": "default"},
                {"name": "limits.connections", "value": 10000, "default": 10000, "source": "default"},
                {"name": "clients.limits.per_address.connections", "value": 0, "default": 0, "source": "default"},
                {"name": "forward.clients", "value": ["127.0.0.0/8", "::1", "10.0.0.0/8", "172.16.0.0/12", "fe80::/10"],
                 "default": ["127.0.0.0/8", "::1", "10.0.0.0/8", "172.16.0.0/12", "fe80::/10"], "source": "default"},
                {"name": "cluster.heartbeat", "value": "20ms", "default": "1s", "source": "file"},
                {"name": "admin.token", "value": "(secret)", "default": "", "source": "file"}]},
            "/api/v1/purge": {"node": "a", "objects": 1, "confirmed": ["b"], "pending": [], "away": ["c"] if dead else []},
            "/api/v1/reload": {"changed": ["$.cache.memory"]}, "/api/v1/drain": "draining\n",
        }
        stand_in = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                stand_in.serve(self, None)

            def do_POST(self):
                stand_in.serve(self, self.rfile.read(int(self.headers.get("Content-Length", 0))))

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        """Ends the listener; further connections are refused."""
        self.server.shutdown()
        self.server.server_close()

    def serve(self, handler, body):
        path, _, query = handler.path.partition("?")
        self.requests.append((handler.command, handler.path, dict(handler.headers)))
        status, kind, content = self.answer(handler, path, query, body)
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(content)))
        handler.send_header("X-Content-Type-Options", "nosniff")
        handler.send_header("Referrer-Policy", "no-referrer")
        handler.send_header("Content-Security-Policy", POLICY)
        handler.send_header("Cache-Control", "no-store")
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(content)

    def answer(self, handler, path, query, body):
        file = "index.html" if path == "/" else path.removeprefix("/dashboard/")
        if "/" not in file and os.path.exists(os.path.join(FOLDER, file)):
            with open(os.path.join(FOLDER, file), "rb") as content:
                return 200, TYPES[os.path.splitext(file)[1]], content.read()
        guarded = self.guard_all or body is not None or path in GUARDED
        if guarded and self.token and handler.headers.get("Authorization") != f"Bearer {self.token}":
            return 401, "text/plain", b"This needs Authorization: Bearer with the token of admin.token.\n"
        if body is not None:
            self.orders.append((path, json.loads(body)))
        values = urllib.parse.parse_qs(query)
        found = (history(values["span"][0], values.get("node", [None])[0]) if path == "/api/v1/history" else
                 explanation(values["url"][0]) if path == "/api/v1/explain" else self.answers.get(path))
        if found is None:
            return 404, "text/plain", b"no such path\n"
        if isinstance(found, str):
            return 202, "text/plain", found.encode()
        return 200, "application/json", json.dumps(found).encode()


if __name__ == "__main__":
    COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    SERVER = StandIn(COUNT, {2} if COUNT < 10 else {7, 131}, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    print(SERVER.url, "token:", TOKEN, flush=True)
    SERVER.thread.join()
