#!/usr/bin/env python3
"""Tests table, picture and the reading of the load generators with made-up figures. No server runs."""
import os
import sys
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from others import chart, load, report

SVG = "{http://www.w3.org/2000/svg}"


def sample(row, server, turn, cpu_us, rate=1000, busy=1, others=0):
    return {"row": row, "server": server, "round": turn, "cpu_us": cpu_us, "rate": rate, "busy": busy, "others": others}


def results(*samples, absent=()):
    return {"date": "2026-11-30", "machine": {"processor": "A & B, 2 cores", "system": "Debian"}, "rounds": 3, "seconds": 2,
            "versions": {"hearsay": "0.1.0", "nginx": "1.22", "squid": "5.7"}, "samples": list(samples),
            "absent": [{"row": row, "server": server, "why": why} for row, server, why in absent]}


HITS = results(*[sample("hit", "hearsay", turn, cpu_us, 50_000) for turn, cpu_us in enumerate((10, 20, 40))],
               *[sample("hit", "nginx", turn, cpu_us, 12_345, busy=0.5) for turn, cpu_us in enumerate((60, 30, 50))],
               absent=[("hit", "squid", "no <cache>")])


class Table(unittest.TestCase):
    def test_a_ratio_compares_neighbours_of_one_round(self):
        figure = report.figures(HITS)["hit", "nginx"]
        self.assertEqual(figure.cpu_us, 50)
        self.assertEqual(figure.ratio, 1.5)  # of 6, 1.5 and 1.25; 2.5 is the ratio of the medians
        self.assertIn("| 1 KiB hit | 20.0 | 50.0 (1.50) | no <cache> |", report.table(HITS, "µs", report.cpu_cell))

    def test_a_rate_that_the_server_did_not_limit_has_a_star(self):
        self.assertIn("| 1 KiB hit | 50,000 | 12,345 \\* | no <cache> |", report.table(HITS, "rate", report.rate_cell))

    def test_a_server_without_hearsay_in_its_round_has_no_ratio(self):
        figure = report.figures(results(sample("miss", "nginx", 0, 5)))["miss", "nginx"]
        self.assertIsNone(figure.ratio)
        self.assertEqual(report.cpu_cell("nginx", figure), "5.00")

    def test_rows_that_were_not_asked_for_are_left_out(self):
        self.assertEqual(len(report.table(HITS, "µs", report.cpu_cell).splitlines()), 3)

    def test_a_busy_machine_is_named(self):
        self.assertIn("quiet", report.disturbance(HITS))
        self.assertIn("preliminary", report.disturbance(results(sample("hit", "nginx", 0, 5, others=0.2))))


class PageOfTheDocumentation(unittest.TestCase):
    def test_later_results_replace_earlier_ones(self):
        page = f"# Title\n\n{report.BEGIN}\nold\n{report.END}\nafter\n"
        once = report.put_into(page, HITS)
        self.assertTrue(once.startswith("# Title") and once.endswith("after\n"))
        self.assertNotIn("old", once)
        self.assertEqual(report.put_into(once, HITS), once)

    def test_a_page_without_the_marks_is_refused(self):
        with self.assertRaises(ValueError):
            report.put_into("# Title\n", HITS)


class Picture(unittest.TestCase):
    def setUp(self):
        self.root = xml.etree.ElementTree.fromstring(chart.chart(HITS))
        self.texts = [element.text for element in self.root.iter(SVG + "text")]

    def test_the_longest_bar_has_the_full_width_and_others_their_part(self):
        widths = {bar.get("class"): int(bar.get("width")) for bar in self.root.iter(SVG + "rect")}
        self.assertEqual(widths["other"], chart.BAR_WIDTH)
        self.assertEqual(widths["own"], chart.BAR_WIDTH * 20 // 50)

    def test_a_bar_far_above_the_median_is_cut(self):
        values = results(*[sample("hit", server, 0, cpu_us) for server, cpu_us in (("hearsay", 10), ("nginx", 10), ("squid", 100))])
        bars = [(bar.get("class"), int(bar.get("width"))) for bar in xml.etree.ElementTree.fromstring(chart.chart(values)).iter(SVG + "rect")]
        self.assertEqual([kind for kind, _ in bars if kind == "gap"], ["gap"])
        self.assertIn(("own", round(chart.BAR_WIDTH / 3)), bars)
        self.assertIn(("other", chart.BAR_WIDTH), bars)

    def test_values_units_reasons_and_machine_are_shown(self):
        for shown in ("1 KiB hit", "20.0 µs", "50.0 µs, 1.50×", "no <cache>"):
            self.assertIn(shown, self.texts)
        self.assertTrue(any("A & B, 2 cores" in words for words in self.texts))
        self.assertTrue(any("nginx 1.22" in words for words in self.texts))

    def test_everything_lies_inside(self):
        height = int(self.root.get("height"))
        self.assertLess(max(int(element.get("y")) for element in self.root.iter(SVG + "text")), height)


class LoadGenerators(unittest.TestCase):
    def test_wrk_gives_requests_and_seconds(self):
        self.assertEqual(load.read_wrk("  44277 requests in 2.05s, 53.84MB read\n"), (44277, 2.05))
        self.assertEqual(load.read_wrk("  9 requests in 1.00m, 1MB read\n"), (9, 60))

    def test_failures_of_wrk_are_no_requests(self):
        for words in ("  5 requests in 1.00s, 1MB read\n  Non-2xx or 3xx responses: 2\n", "unable to connect\n",
                      "  5 requests in 1.00s, 1MB read\n  Socket errors: connect 0, read 1, write 0, timeout 0\n"):
            with self.assertRaises(load.LoadFailed):
                load.read_wrk(words)

    def test_h2load_gives_requests_and_seconds(self):
        self.assertEqual(load.read_h2load("finished in 2.04s, 50.00 req/s, 1MB/s\nrequests: 100 total, 110 started, 100 done, "
                                          "100 succeeded, 0 failed, 0 errored\nstatus codes: 100 2xx, 0 3xx, 0 4xx, 0 5xx\n"), (100, 2))

    def test_failures_of_h2load_are_no_requests(self):
        for words in ("finished in 1.00s, 9.00 req/s\nrequests: 9 total, 8 succeeded, 1 failed\nstatus codes: 8 2xx, 0 3xx, 0 4xx, 0 5xx\n",
                      "finished in 1.00s, 9.00 req/s\nrequests: 9 total, 9 succeeded, 0 failed\nstatus codes: 8 2xx, 0 3xx, 1 4xx, 0 5xx\n",
                      "finished in 2.02s, 0.00 req/s\nrequests: 0 total, 0 failed\nstatus codes: 0 2xx, 0 3xx, 0 4xx, 0 5xx\n"):
            with self.assertRaises(load.LoadFailed):
                load.read_h2load(words)


if __name__ == "__main__":
    unittest.main(verbosity=2)
