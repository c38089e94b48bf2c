#!/usr/bin/python3
"""The dashboard in a browser, with the made-up answers of stand_in.py. Exit code 77: skipped."""
import json
import os
import tempfile
import time
import unittest

from browser import Browser
from selenium.webdriver.common.keys import Keys
from stand_in import EVIL, FOLDER, TOKEN, StandIn, nodes

ROOM = 200 * 1024  # bytes of all files


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="hearsay-dashboard-")
        cls.browser = Browser(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()

    def serve(self, *arguments, **named):
        stand_in = StandIn(*arguments, **named)
        self.addCleanup(stand_in.close)
        self.addCleanup(self.browser.driver.get, "about:blank")
        return stand_in

    def setUp(self):
        self.browser.size(1440, 900)
        self.browser.prefer()
        self.browser.complaints()

    def test_files_stay_small(self):
        total = sum(os.path.getsize(os.path.join(FOLDER, file)) for file in os.listdir(FOLDER))
        self.assertLess(total, ROOM)

    def test_shows_nodes_links_and_who_gave_whom(self):
        stand_in = self.serve(3)
        b = self.browser
        b.open(stand_in.url)
        b.shows("#problems", "No problem is known")
        b.shows("#cluster-now", "3 of 3", "6 of 6")
        self.assertEqual(b.row("#nodes", "b")["state"], "ready up 24 h")
        self.assertEqual(b.row("#nodes", "a")["requests"], "145,940")
        self.assertEqual(b.row("#nodes", "a")["report"], "now")
        self.assertEqual(b.text(".matrix tbody tr:nth-child(2) td:nth-child(2)"), "14,000")
        self.assertEqual(b.row("#links", "b")["hits"], "4,000")
        self.assertEqual(b.row("#links", "b")["round trip"], "2.10 ms")
        self.assertEqual(b.complaints(), [])

    def test_says_what_to_do_about_a_node_that_is_down(self):
        stand_in = self.serve(3, {2})
        b = self.browser
        b.open(stand_in.url)
        b.shows("#problems", "Fault", "Node c: down for 15 m. Nothing listens", "What to do: ")
        b.shows("#cluster-now", "2 of 3", "2 of 6")
        self.assertEqual(b.row("#nodes", "c")["report"], "15 m ago")
        self.assertEqual(b.row("#nodes", "c")["state"], "down for 15 m")
        self.assertIn("Start the peer", b.row("#links", "c")["what to do"])

    def test_finds_the_cause_of_common_faults(self):
        stand_in = self.serve(3)
        status = stand_in.answers["/api/v1/status"]
        b = self.browser
        b.open(stand_in.url)
        peer = status["cluster"]["peers"][0]
        link = stand_in.answers["/api/v1/nodes"]["nodes"][0]["links"][0]
        peer.update(state="refused", last_error="wrong_key", cause="refused: wrong_key")
        link["state"] = "refused"
        b.shows("#problems", "cluster keys differ", "Give both nodes the same cluster.key")
        peer.update(last_error="rules_differ", cause="refused: rules_differ")
        b.shows("#problems", "rules that change keys differ", "same list of rules")
        peer.update(state="in_step", last_error="", cause="", round_trip_seconds=0.18)
        link["state"] = "in_step"
        status["upstream"]["peers_too_far"] = 31
        b.shows("#problems", "Note: ", "b is far away: 180 ms there and back, while the origin answers in 41.0 ms",
                "does not ask it (31 times so far)", "If it is far by design, nothing is wrong")
        status["cache"]["disk"][0].update(state="paused", last_error="No space left on device")
        b.shows("#problems", "is paused", "No space left on device", "Make room on the file system")
        status["cluster"]["origins"][0]["answer_seconds"] = 2.5
        b.shows("#problems", "mirror.example:80 takes 2.50 s", "overloaded or far")
        status["config"]["last_error"] = "$.listen: changing it needs a restart"
        b.shows("#problems", "last reload was refused", "hearsay check FILE")

    def test_tells_of_a_full_file_system_between_the_pauses(self):
        stand_in = self.serve(3)
        disk = stand_in.answers["/api/v1/status"]["cache"]["disk"][0]
        b = self.browser
        b.open(stand_in.url)
        b.shows("#problems", "No problem is known")
        full = {"last_error": "writing: No space left on device", "last_error_seconds": 240, "last_error_is_full": True, "failed": 3,
                "refused_paused": 150, "bytes": 32 << 20, "cap_bytes": 256 << 20}
        for state in ("ready", "paused"):
            disk.update(full, state=state)
            b.shows("#problems", "Warning: ", "The file system of /var/cache/hearsay is full: the node uses 32 MiB of the 256 MiB of "
                    "cache.disk, and 153 responses were not written", "lower cache.disk[].size")
        b.shows("#tally", "1 warning")
        disk.update(state="ready")
        b.panel("capacity")
        b.shows("#capacity", "ready, errors lately", "Errors of the file system are another matter")
        disk.update(last_error_seconds=3700)
        b.panel("cluster")
        b.shows("#problems", "No problem is known")

    def test_tells_of_warnings_about_the_configuration(self):
        stand_in = self.serve(3)
        stand_in.answers["/api/v1/status"]["config"]["warnings"] = ["$.cache.disk.size: is more than the file system has"]
        self.browser.open(stand_in.url)
        self.browser.shows("#problems", "Note: ", "$.cache.disk.size: is more than the file system has.")

    def test_tells_of_an_origin_that_answers_with_errors(self):
        stand_in = self.serve(3)
        site = stand_in.answers["/api/v1/status"]["upstream"]["answers"][0]
        b = self.browser
        b.open(stand_in.url)
        b.shows("#problems", "No problem is known")
        site["last_5m"] = {"answers": 100, "server_errors": 38, "too_many_requests": 0}
        b.shows("#problems", "38 % of the answers of the origin of mirror.example were 5xx in the last five minutes", "stale_if_error")
        site["last_5m"] = {"answers": 100, "server_errors": 0, "too_many_requests": 50}
        b.shows("#problems", "50 % of the answers", "were 429")
        b.panel("traffic")
        self.assertEqual(b.row("#sites", "mirror.example")["errors of the origin"], "1.0 % 5xx")
        b.shows("#sites", "50.0 % 429")

    def test_says_whether_others_serve_for_a_server_that_is_down(self):
        stand_in = self.serve(3)
        servers = stand_in.answers["/api/v1/status"]["upstreams"]
        b = self.browser
        for name, state in (("one:80", "down"), ("two:80", "up")):
            servers.append({"group": "mirror.example", "server": name, "state": state, "weight": 1, "backup": False, "requests": 9,
                            "failures": 3, "in_flight": 0})
        b.open(stand_in.url)
        b.shows("#problems", "The server one:80 of mirror.example is down.", "The others of its group get its requests")
        servers[1]["state"] = "down"
        b.shows("#problems", "No server of mirror.example is up: one:80, two:80.", "clients get stored content or errors")
        self.assertNotIn("The others of its group", b.text("#problems"))
        del servers[1]
        servers[0]["group"] = "forward.parent"
        b.shows("#problems", "The only server of forward.parent, one:80, is down.", "Look at that server and at the way there")

    def test_tells_of_redirects_that_leave_the_mirrors(self):
        stand_in = self.serve(3)
        upstream = stand_in.answers["/api/v1/status"]["upstream"]
        upstream["leaving_redirects"] = [{"site": "pypi.example", "host": "cdn.example", "last_hour": 1200}]
        b = self.browser
        b.open(stand_in.url)
        b.shows("#problems", "Warning: ", "The origin of pypi.example redirects clients to cdn.example past the cache: 1,200 in the last hour.",
                "Add cdn.example to origins with a name of its own")
        upstream["leaving_redirects"] = []
        b.shows("#problems", "No problem is known")

    def test_judges_the_origins_of_other_nodes_by_their_reports(self):
        stand_in = self.serve(3)
        c = stand_in.answers["/api/v1/nodes"]["nodes"][2]
        b = self.browser
        b.open(stand_in.url)
        b.shows("#problems", "no node reports trouble with its disks or origins")
        del c["origins"]
        b.shows("#problems", "Disks and origins were not judged for c")
        c["origins"] = {"down": 0, "slow": 2, "failing": 1}
        b.shows("#problems", "The origins of c are slow or down", "Open the page of that node", "answer with many errors")

    def test_says_that_all_peers_refuse_this_node(self):
        stand_in = self.serve(3)
        answer, peers = stand_in.answers["/api/v1/nodes"], stand_in.answers["/api/v1/status"]["cluster"]["peers"]
        for node in answer["nodes"][1:]:
            node["state"] = "refused"
            for name in set(node) - {"node", "self", "state", "age_seconds"}:
                del node[name]
        for link in answer["nodes"][0]["links"]:
            link["state"] = "refused"
        for peer in peers:
            peer.update(state="refused", last_error="wrong_key", cause="refused: wrong_key", last_error_seconds=0)
        b = self.browser
        b.open(stand_in.url)
        b.shows("#problems", "All peers refuse this node (a): The cluster keys differ. The setting of this node is probably the odd one.")
        self.assertNotIn("ago", b.text("#problems"))
        self.assertEqual(b.script("return document.querySelectorAll('#problems li').length"), 1)
        b.shows("#tally", "1 fault")
        b.shows("#cluster-now", "1 of 3")
        b.shows("#cluster-totals", "of the 1 node that reports")
        for column in ("requests", "false hits", "lag", "saved", "failed requests, 5\u00a0m"):
            self.assertEqual(b.row("#nodes", "c")[column], "\u2013", column)
        peers[1].update(state="in_step", last_error="", cause="")
        b.shows("#problems", "the link with b is \u201crefused\u201d for 23 h. The cluster keys differ.")

    def test_advice_fits_the_condition_of_a_peer(self):
        stand_in = self.serve(3)
        peer = stand_in.answers["/api/v1/status"]["cluster"]["peers"][0]
        b = self.browser
        b.open(stand_in.url)
        lately = {"last_http_error_seconds": 5, "left_alone_seconds": 0}
        answered = {"asked": 745, "hits": 730, "failures": 15}
        silent = {"asked": 9, "hits": 0, "false_hits": 0, "stale_hits": 0, "refused": 0, "too_old": 0, "failures": 9}
        for condition, says, says_not in (
                ({"last_http_error": "head_timeout", **answered}, ("Note: ", "15 of 745 failed so far", "too slowly at times"), "http port"),
                ({"last_http_error": "head_timeout", **silent}, ("Warning: ", "never answered: a wrong http port, or an overloaded"), "at times"),
                ({"last_http_error": "tls_failed", **silent}, ("another server answers there",), "before"),
                ({"last_http_error": "tls_failed", **answered}, ("answered before", "cluster.encrypt"), "wrong http port"),
                ({"last_http_error": "reset", **answered}, ("it was restarted",), "PROXY"),
                ({"last_http_error": "reset", **silent}, ("clients.proxy_protocol",), "restarted"),
                ({"last_http_error": "unusable", **answered}, ("rules or cache settings of the two nodes differ",), "firewall"),
                ({"last_http_error": "busy", **answered}, ("raise the limit",), "check --peers"),
                ({"last_http_error": "no_descriptors", **answered}, ("LimitNOFILE",), "check --peers"),
                ({"last_http_error": "connect_failed", **silent}, ("is down, listens at another port, or a firewall",), "PROXY"),
                ({"last_http_error": "", "left_alone_seconds": 8}, ("promised what it lacks",), "load"),
                ({"last_http_error": "connect_failed", "left_alone_seconds": 8}, ("its last requests failed (connect_failed)",), "promised"),
                ({"last_http_error": "", "asked": 400, "false_hits": 90, "evicted": 0, "collisions": 0}, ("Why is not known yet",), "more memory"),
                ({"last_http_error": "", "asked": 400, "false_hits": 90, "evicted": 9, "collisions": 1}, ("where it evicts, give it more memory",), "filter"),
                ({"last_http_error": "", "asked": 400, "false_hits": 90, "evicted": 1, "collisions": 9}, ("Its filter is too small",), "evicts"),
                ({"last_http_error": "", "false_hits": 0, "clock_ahead_seconds": 3600.2}, ("The clock of b is 60 m ahead of that of a",), "firewall")):
            peer.update({**lately, **condition})
            b.shows("#problems", *says)
            self.assertNotIn(says_not, b.text("#problems"), condition)
        stand_in.answers["/api/v1/status"]["cluster"]["peers"][1].update(clock_ahead_seconds=3599.8)
        b.shows("#problems", "The clock of a is 60 m behind those of all its peers")
        for each in stand_in.answers["/api/v1/status"]["cluster"]["peers"]:
            each.update(clock_ahead_seconds=1.9)
        b.shows("#problems", "No problem is known")

    def test_a_far_peer_gets_no_wrong_advice(self):
        stand_in = self.serve(3)
        status = stand_in.answers["/api/v1/status"]
        peers = status["cluster"]["peers"]
        b = self.browser
        b.open(stand_in.url)
        peers[0].update(last_http_error="head_timeout", last_http_error_seconds=5)
        b.shows("#problems", "A request to b failed", "too slowly")
        status["upstream"]["peers_too_far"] = 16
        peers[0].update(round_trip_seconds=0.204, hits=0)
        b.until(lambda: "too slowly" not in b.text("#problems"))
        b.shows("#problems", "Warning: b is far away: 204 ms there and back", "(16 times so far)")
        peers[1].update(round_trip_seconds=0.203)
        b.shows("#problems", "This node is far from all its peers: b (204 ms), c (203 ms)")

    def test_sorts_sites_by_requests_and_shows_twenty(self):
        stand_in = self.serve(3)
        sites = [{"site": f"s{i}.example", "requests": {"local_hit": i}, "bytes_to_clients": 1} for i in range(60)]
        stand_in.answers["/api/v1/sites"]["sites"] = sites
        b = self.browser
        b.open(stand_in.url, "traffic")
        b.shows("#sites", "s59.example")
        rows = "return document.querySelectorAll('#sites [data-key^=Sites] tbody tr').length"
        self.assertEqual(b.script(rows), 20)
        self.assertEqual(b.text("#sites [data-key^=Sites] tbody th"), "s59.example")
        b.click("#sites button[data-act=rows]")
        b.until(lambda: b.script(rows) == 60)

    def test_labels_of_charts_stay_readable_on_a_phone(self):
        stand_in = self.serve(3)
        b = self.browser
        b.size(360, 800)
        b.open(stand_in.url, "traffic")
        b.shows("#charts", "Requests per second")
        self.assertGreater(b.script("return document.querySelector('#charts .tick').getBoundingClientRect().height"), 9)
        b.size(1440, 900)

    def test_shows_two_hundred_nodes(self):
        stand_in = self.serve(200, {7, 131})
        b = self.browser
        b.open(stand_in.url)
        b.shows("#problems", "Nodes node-008, node-132: down for up to 15 m")
        self.assertEqual(b.script("return document.querySelectorAll('#nodes tbody tr').length"), 50)
        self.assertEqual(b.text("#nodes tbody th"), "node-008", "nodes with trouble come first")
        b.click("#nodes button[data-act='all-nodes']")
        b.until(lambda: b.script("return document.querySelectorAll('#nodes tbody tr').length") == 200)
        b.type("#node-filter", "node-150")
        b.until(lambda: b.script("return document.querySelectorAll('#nodes tbody tr').length") == 1)
        b.script("document.getElementById('matrix-canvas').focus()")
        b.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
        b.shows("#matrix-readout", "node-001 got", "from node-002")
        b.type("#node-filter", Keys.BACKSPACE * 10)
        begin = time.monotonic()
        b.script("document.querySelector('#nodes button.sort[data-value=requests]').click()")
        self.assertLess(time.monotonic() - begin, 2, "a sort of all rows")
        b.size(360, 800)
        self.assertLessEqual(b.script("return document.documentElement.scrollWidth"), 360)
        self.assertEqual(b.complaints(), [])

    def test_shows_traffic_with_charts_that_keys_read(self):
        stand_in = self.serve(3)
        b = self.browser
        b.open(stand_in.url, "traffic")
        b.shows("#charts", "Requests per second", "Share of requests", "Bytes to clients", "Time to answer", "peer hit")
        b.shows("#sites", "mirror.example", "packages", "mirror.example:80", "41.0 ms")
        before = b.text("[data-legend=requests] .when")
        b.script("document.querySelector('[data-chart=requests]').focus()")
        b.driver.switch_to.active_element.send_keys(Keys.ARROW_LEFT)
        b.until(lambda: b.text("[data-legend=requests] .when") != before)
        self.assertIn("peer hit", b.script("return document.activeElement.getAttribute('aria-label')"))
        b.click("#charts details summary")
        self.assertGreater(b.script("return document.querySelectorAll('#charts details[open] tbody tr').length"), 5)
        b.script("const s = document.getElementById('span'); s.value = '7d'; s.dispatchEvent(new Event('change'))")
        b.until(lambda: any("span=7d" in path for _, path, _ in stand_in.requests))
        b.shows("#top", "needs the token")
        b.give_token(TOKEN)
        b.shows("#top", "http://mirror.example/pool/linux.deb", "~9,000", "admin.top_clients")

    def test_explains_a_url(self):
        stand_in = self.serve(3)
        b = self.browser
        b.open(stand_in.url, "objects")
        b.type("#explain-url", "http://mirror.example/pool/linux.deb" + Keys.ENTER)
        b.until(lambda: b.script("return document.getElementById('token-dialog').open"))
        b.give_token(TOKEN)
        b.click("#explain-form button")
        b.shows("#explanation", "stored and fresh, for 90 m more", "30 m since", "packages", "13 blocks of 4 MiB",
                "b, then the origin", "no (a false hit)")

    def test_purges_after_a_confirmation_that_names_what_will_happen(self):
        stand_in = self.serve(3, {2})
        b = self.browser
        b.open(stand_in.url, "objects")
        b.give_token(TOKEN)
        b.type("#purge-value", "http://h/a" + Keys.ENTER)
        b.shows("#confirm-dialog", "all 3 nodes", "http://h/a", "all its variants", "No link to c. It drops the content when the link is up again")
        self.assertEqual(b.script("return document.activeElement.id"), "confirm-cancel")
        self.assertEqual(stand_in.orders, [], "nothing happens before the confirmation")
        b.click("#confirm-cancel")
        b.script("document.getElementById('purge-kind').value = 'tags'")
        b.type("#purge-value", "news" + Keys.ENTER)
        b.confirm()
        b.shows("#purge-result", "dropped 1 object", "Confirmed by b", "No link to c. It drops the content when the link is up again")
        self.assertEqual(stand_in.orders, [("/api/v1/purge", {"tags": ["news"]})])

    def test_a_purge_of_a_lone_node_names_it_so(self):
        stand_in = self.serve(1)
        b = self.browser
        b.open(stand_in.url, "objects")
        b.give_token(TOKEN)
        b.type("#purge-value", "http://h/a" + Keys.ENTER)
        b.shows("#confirm-dialog", "On the only node of the cluster, this drops")

    def test_reloads_and_drains_after_a_confirmation(self):
        stand_in = self.serve(3)
        b = self.browser
        b.open(stand_in.url, "settings")
        b.give_token(TOKEN)
        b.shows("#setting-list", "cluster.heartbeat", "20ms", "1s", "file", "(secret)")
        b.click("#setting-changed")
        b.until(lambda: "cache.memory" not in b.text("#setting-list"))
        b.click("[data-act=reload]")
        b.shows("#confirm-dialog", "Node a reads its configuration file again", "other nodes do not reload")
        b.confirm()
        b.shows("#order-result", "changed $.cache.memory")
        b.click("[data-act=drain]")
        b.shows("#confirm-dialog", "the process ends")
        b.confirm()
        b.shows("#order-result", "Node a drains")
        self.assertEqual([path for path, _ in stand_in.orders], ["/api/v1/reload", "/api/v1/drain"])

    def test_keeps_the_token_in_the_memory_of_the_tab_alone(self):
        stand_in = self.serve(3)
        b = self.browser
        b.open(stand_in.url, "log")
        b.shows("#errors", "needs the token")
        b.give_token(TOKEN)
        b.shows("#errors", "connection refused")
        self.assertEqual(b.script("return [localStorage.length, sessionStorage.length, document.cookie,"
                                  " document.getElementById('token-input').value]"), [0, 0, "", ""])
        self.assertFalse(any("token" in path.lower() for _, path, _ in stand_in.requests))
        b.driver.refresh()
        b.shows("#errors", "needs the token")

    def test_every_window_width_has_room_for_what_one_types(self):
        stand_in = self.serve(3)
        b = self.browser
        for wide in (1440, 1000, 390):
            b.size(wide, 900)
            b.open(stand_in.url, "log")
            b.give_token(TOKEN)
            for panel in ("objects", "log", "settings"):
                b.panel(panel)
                self.assertEqual(b.script("return [...document.querySelectorAll('main label')].filter((label) =>"
                                          " label.closest('section').checkVisibility() && !label.checkVisibility())"
                                          ".map((label) => label.textContent.trim())"), [], f"{panel} at {wide}")

    def test_a_wrong_token_is_refused_at_once_and_not_kept(self):
        stand_in = self.serve(3)
        b = self.browser
        b.open(stand_in.url, "log")
        b.give_token("another token", refused=True)
        self.assertEqual(b.text("#token-button"), "Enter the token")
        b.shows("#errors", "needs the token")
        b.give_token(TOKEN)
        b.shows("#errors", "connection refused")
        b.shows("#token-button", "Token set")

    def test_says_that_a_token_is_refused_and_asks_no_more_with_it(self):
        stand_in = self.serve(3)
        b = self.browser
        b.open(stand_in.url, "log")
        b.give_token(TOKEN)
        b.shows("#errors", "connection refused")
        stand_in.token = "a later token"
        b.shows("#alarm", "The node refuses this token")
        b.shows("#errors", "The node refuses this token")
        b.shows("#token-button", "Token refused")
        tries = sum(path == "/api/v1/errors" for _, path, _ in stand_in.requests)
        rounds = len(stand_in.requests)
        b.until(lambda: len(stand_in.requests) > rounds + 4)
        self.assertEqual(sum(path == "/api/v1/errors" for _, path, _ in stand_in.requests), tries)
        b.give_token("a later token")
        b.shows("#errors", "connection refused")
        b.until(lambda: b.text("#alarm") == "")

    def test_offers_the_token_only_where_the_node_has_one(self):
        stand_in = self.serve(3)
        stand_in.token = ""
        stand_in.answers["/api/v1/status"]["config"]["admin_token"] = False
        b = self.browser
        b.open(stand_in.url, "log")
        b.shows("#errors", "connection refused")
        self.assertTrue(b.script("return document.getElementById('token-button').hidden"))
        stand_in.answers["/api/v1/status"]["config"]["admin_token"] = True
        b.until(lambda: not b.script("return document.getElementById('token-button').hidden"))

    def test_shows_the_state_of_now_before_the_totals(self):
        stand_in = self.serve(3)
        b = self.browser
        b.open(stand_in.url)
        b.shows("#cluster-now", "Requests per second", "Hit rate now", "Failures now", "p99 ", "2 requests in 5 minutes")
        b.shows("#cluster-chart", "Requests per second of all nodes", "local hit")
        self.assertTrue(any("node=*" in path for _, path, _ in stand_in.requests))
        self.assertLess(b.script("return document.getElementById('cluster-chart').getBoundingClientRect().bottom"),
                        b.script("return document.getElementById('cluster-totals').getBoundingClientRect().top"))
        b.script("document.querySelector('[data-chart=cluster-requests]').focus()")
        before = b.text("#cluster-chart .when")
        b.driver.switch_to.active_element.send_keys(Keys.ARROW_LEFT)
        b.until(lambda: b.text("#cluster-chart .when") != before)

    def test_shows_the_traffic_of_any_node(self):
        stand_in = self.serve(3)
        b = self.browser
        b.open(stand_in.url, "traffic")
        choose = "const s = document.getElementById(arguments[0]); s.value = arguments[1]; s.dispatchEvent(new Event('change'))"
        b.until(lambda: b.script("return [...document.getElementById('traffic-node').options].map((o) => o.text).join()")
                == "a (this node),all nodes,b,c")
        b.script(choose, "span", "6h")
        b.until(lambda: any("span=6h" in path for _, path, _ in stand_in.requests))
        b.script(choose, "traffic-node", "b")
        b.shows("#charts", "all requests p50")
        self.assertIn("/api/v1/history?span=15m&node=b", [path for _, path, _ in stand_in.requests])
        self.assertFalse(any("span=6h&node" in path for _, path, _ in stand_in.requests))
        self.assertTrue(b.script("const o = document.querySelector('#span [value=\"6h\"]');"
                                 "return o.disabled && o.text.includes('this node alone')"))
        b.script(choose, "traffic-node", "")
        b.shows("#charts", "peer hit p50")

    def test_leaves_out_counts_that_may_be_an_error(self):
        stand_in = self.serve(3)
        urls = stand_in.answers["/api/v1/top"]["urls"]
        urls[1].update(requests=160, at_most_too_many=80)
        urls[2].update(requests=160, at_most_too_many=79)
        b = self.browser
        b.open(stand_in.url, "traffic")
        b.give_token(TOKEN)
        b.shows("#top", "openssl.deb", "1 more is left out")
        self.assertNotIn("libc6.deb", b.text("#top"))

    def test_each_line_of_the_log_has_its_date(self):
        stand_in = self.serve(3)
        b = self.browser
        b.open(stand_in.url, "log")
        b.give_token(TOKEN)
        b.shows("#errors", "connection refused")
        self.assertRegex(b.text("#errors tbody th"), r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$")

    def test_words_stay_whole_and_tables_fit(self):
        names = ["cache-eu-west-1a-07", "cache-eu-west-1b-12", "cache-us-east-2c-03"]
        stand_in = self.serve(3, {2})
        text = json.dumps(stand_in.answers)
        for short, long in zip("abc", names):
            for member in ("node", "peer"):
                text = text.replace(f'"{member}": "{short}"', f'"{member}": "{long}"')
        stand_in.answers = json.loads(text)
        b = self.browser
        b.open(stand_in.url)
        b.give_token(TOKEN)
        for wide in (390, 800, 1024, 1440):
            b.size(wide, 900)
            for panel in ("cluster", "traffic", "objects", "capacity", "log", "settings"):
                b.panel(panel)
                if panel == "objects":
                    b.type("#explain-url", "http://h/a" + Keys.ENTER)
                    b.shows("#explanation", "stored and fresh")
                b.until(lambda: b.text(f"#panel-{panel}"))
                self.assertEqual(b.script("""
                    return [...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth)
                        .map((e) => `${e.getAttribute('aria-label')} ${e.scrollWidth} > ${e.clientWidth}`)"""), [], f"{wide} {panel}")
                self.assertEqual(b.script("""
                    const broken = [], range = document.createRange();
                    for (const e of document.querySelectorAll('.word, main th, .badge, .tile .value, nav a')) {
                        const texts = document.createTreeWalker(e, NodeFilter.SHOW_TEXT);
                        for (let text = texts.nextNode(); text; text = texts.nextNode())
                            for (const word of text.data.matchAll(/[^\\s]+/g)) {
                                if (text.parentElement.closest('.link')) continue;
                                range.setStart(text, word.index);
                                range.setEnd(text, word.index + word[0].length);
                                if (new Set([...range.getClientRects()].map((r) => Math.round(r.top))).size > 1) broken.push(word[0]);
                            }
                    }
                    return broken"""), [], f"{wide} {panel}")

    def test_works_where_each_path_needs_the_token(self):
        stand_in = self.serve(3)
        stand_in.guard_all = True
        b = self.browser
        b.driver.get(stand_in.url)
        b.shows("#nodes", "needs the token")
        b.give_token(TOKEN)
        b.shows("#cluster-now", "3 of 3")

    def test_says_since_when_the_node_is_silent_and_greys_the_old_numbers(self):
        stand_in = self.serve(3)
        b = self.browser
        b.open(stand_in.url)
        port = stand_in.server.server_port
        stand_in.close()
        b.shows("#alarm", "The node a has not answered since", "The numbers below are those of")
        self.assertTrue(b.script("return document.body.classList.contains('old')"))
        self.assertIn("No answer", b.driver.title)
        self.serve(3, port=port)
        b.until(lambda: b.text("#alarm") == "")
        self.assertFalse(b.script("return document.body.classList.contains('old')"))

    def test_a_hidden_page_asks_nothing(self):
        stand_in = self.serve(3)
        b = self.browser
        b.open(stand_in.url)
        # The pause between rounds is 20 ms from now on, so a round that is missing shows soon.
        b.script("const set = window.setTimeout.bind(window); window.setTimeout = (act) => set(act, 20); window.slow = set;"
                 "Object.defineProperty(document, 'hidden', {get: () => window.away === true})")
        count = len(stand_in.requests)
        b.until(lambda: len(stand_in.requests) > count + 10, "rounds of the visible page")
        b.script("window.away = true; document.dispatchEvent(new Event('visibilitychange'))")
        wait = "const done = arguments[0]; let n = 0; const step = () => ++n > 10 ? done() : window.slow(step, 20); step();"
        b.driver.execute_async_script(wait)  # a round under way ends
        count = len(stand_in.requests)
        b.driver.execute_async_script(wait)
        self.assertEqual(len(stand_in.requests), count)
        b.script("window.away = false; document.dispatchEvent(new Event('visibilitychange'))")
        b.until(lambda: len(stand_in.requests) > count)

    def test_a_url_that_is_a_script_is_a_text(self):
        stand_in = self.serve(3)
        for node in stand_in.answers["/api/v1/nodes"]["nodes"]:
            node["version"] = EVIL
        stand_in.answers["/api/v1/nodes"]["nodes"][1]["node"] = EVIL
        b = self.browser
        b.open(stand_in.url)
        b.give_token(TOKEN)
        b.shows("#nodes", EVIL)
        b.panel("log")
        b.shows("#errors", EVIL)
        b.panel("traffic")
        b.shows("#top", EVIL)
        b.script("[...document.querySelectorAll('#top button.link')].pop().click()")
        b.shows("#explanation", EVIL)
        self.assertEqual(b.script("return document.querySelectorAll('main img, main script').length"), 0)
        self.assertEqual(b.complaints(), [], "the policy had nothing to stop")

    def test_asks_no_other_host_and_breaks_no_policy(self):
        stand_in = self.serve(3)
        b = self.browser
        b.asked()
        b.open(stand_in.url)
        b.give_token(TOKEN)
        for panel in ("traffic", "objects", "capacity", "log", "settings", "cluster"):
            b.panel(panel)
        b.until(lambda: any(path == "/api/v1/settings" for _, path, _ in stand_in.requests))
        elsewhere = [url for url in b.asked() if not url.startswith((stand_in.url, "data:", "about:", "chrome"))]
        self.assertEqual(elsewhere, [])
        self.assertEqual(b.complaints(), [])

    def test_shows_disks_limits_and_refusals(self):
        stand_in = self.serve(3)
        b = self.browser
        b.open(stand_in.url, "capacity")
        b.give_token(TOKEN)
        b.shows("#capacity", "200 MiB of 256 MiB", "812 of 10,000", "/var/cache/hearsay", "150 GiB", "2 too large", "no_route",
                "forward.enabled", "private")
        stand_in.answers["/api/v1/status"]["cache"]["disk"][0].update(failed=1, read_failed=1, read_refused=2)
        b.shows("#capacity", "2 reads, too many under way", "1 write failed", "1 read failed")

    def test_fits_all_widths_without_a_sideways_scroll(self):
        stand_in = self.serve(3, {2})
        b = self.browser
        b.open(stand_in.url)
        b.give_token(TOKEN)
        for wide, high in ((360, 740), (768, 1024), (1440, 900), (3840, 2160)):
            b.size(wide, high)
            for panel in ("cluster", "traffic", "objects", "capacity", "log", "settings"):
                b.panel(panel)
                self.assertLessEqual(b.script("return document.documentElement.scrollWidth"), wide, panel)

    def test_a_larger_text_size_enlarges_everything(self):
        stand_in = self.serve(3)
        b = self.browser
        b.open(stand_in.url)
        small = b.script("return document.querySelector('nav a').getBoundingClientRect().height")
        b.script("document.documentElement.style.fontSize = '200%'")
        large = b.script("return document.querySelector('nav a').getBoundingClientRect().height")
        self.assertGreater(large, 1.8 * small)
        self.assertLessEqual(b.script("return document.documentElement.scrollWidth"), 1440)

    def test_follows_the_colours_of_the_system_and_its_own_switch(self):
        stand_in = self.serve(3)
        b = self.browser
        b.open(stand_in.url)
        color = "return getComputedStyle(document.body).backgroundColor"
        light = b.script(color)
        b.prefer(prefers_color_scheme="dark")
        dark = b.script(color)
        self.assertNotEqual(light, dark)
        b.script("const t = document.getElementById('theme'); t.value = 'light'; t.dispatchEvent(new Event('change'))")
        self.assertEqual(b.script(color), light)
        b.script("const t = document.getElementById('theme'); t.value = 'dark'; t.dispatchEvent(new Event('change'))")
        self.assertEqual(b.script(color), dark)
        b.prefer(prefers_reduced_motion="reduce")
        self.assertIn(b.script("return getComputedStyle(document.querySelector('main')).transitionDuration"), ("0s", ""))

    def test_texts_have_enough_contrast(self):
        stand_in = self.serve(12, {2})
        b = self.browser
        measure = """
            const parts = (text) => text.match(/[\\d.]+/g).map(Number);
            const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
                .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
            const ground = (e) => { for (; e; e = e.parentElement) { const c = parts(getComputedStyle(e).backgroundColor);
                if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
            const low = [];
            for (const e of document.querySelectorAll('header *, main *')) {
                if (!e.offsetParent || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
                const a = light(parts(getComputedStyle(e).color)), z = light(ground(e));
                const ratio = (Math.max(a, z) + .05) / (Math.min(a, z) + .05);
                if (ratio < 4.5) low.push(`${e.className || e.tagName} ${e.textContent.slice(0, 30)} ${ratio.toFixed(2)}`);
            }
            return low;"""
        for scheme in ("light", "dark"):
            b.prefer(prefers_color_scheme=scheme)
            b.open(stand_in.url)
            b.give_token(TOKEN)
            for panel in ("cluster", "traffic", "objects", "capacity", "log", "settings"):
                b.panel(panel)
                self.assertEqual(b.script(measure), [], f"{scheme} {panel}")

    def test_the_keyboard_reaches_everything_in_order(self):
        stand_in = self.serve(3)
        b = self.browser
        b.open(stand_in.url)
        seen = []
        for _ in range(10):
            b.driver.switch_to.active_element.send_keys(Keys.TAB)
            seen.append(b.script("const e = document.activeElement; return e.id || e.getAttribute('href') || e.className"))
        self.assertEqual(seen[:9], ["#main", "token-button", "theme", "#cluster", "#traffic", "#objects", "#capacity", "#log",
                                    "#settings"])
        self.assertNotEqual(b.script("return getComputedStyle(document.activeElement).outlineStyle"), "none", "the focus is visible")
        b.script("document.querySelector('.skip').focus()")
        b.driver.switch_to.active_element.send_keys(Keys.ENTER)
        self.assertEqual(b.script("return document.activeElement.id"), "main")
        self.assertEqual(b.script("return location.hash"), "#cluster")

    def test_a_refresh_keeps_the_focus(self):
        stand_in = self.serve(3)
        b = self.browser
        b.open(stand_in.url)
        b.script("document.querySelector('#nodes button.sort[data-value=objects]').focus()")
        stand_in.answers["/api/v1/nodes"] = nodes(3, {1})
        b.shows("#cluster-now", "2 of 3")
        self.assertEqual(b.script("return document.activeElement.dataset.value"), "objects")

    def test_every_control_has_a_name(self):
        stand_in = self.serve(3)
        b = self.browser
        b.open(stand_in.url)
        b.give_token(TOKEN)
        for panel in ("cluster", "traffic", "objects", "capacity", "log", "settings"):
            b.panel(panel)
            nameless = b.script("""
                return [...document.querySelectorAll('input, select, button, a, canvas, svg[role=img], [role=region]')].filter((e) =>
                    e.getClientRects().length && !(e.labels && e.labels.length) && !e.textContent.trim() && !e.getAttribute('aria-label') &&
                    !e.getAttribute('aria-labelledby')).map((e) => e.outerHTML.slice(0, 80))""")
            self.assertEqual(nameless, [], panel)


if __name__ == "__main__":
    unittest.main(verbosity=2)
