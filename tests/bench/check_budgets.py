#!/usr/bin/env python3
"""Compares the costs of a request with recorded budgets. Exit code 1: one is more than 3 % over its budget, or has none.

    tests/bench/check_budgets.py build/release/hearsay                      # or: ./dev budget
    tests/bench/check_budgets.py build/release/hearsay --record REASON [--only NAME...]
    tests/bench/check_budgets.py build/release/hearsay --show NAME          # the functions of one request
    tests/bench/check_budgets.py build/release/hearsay --rules 0 10 100     # the costs with so many `rules`

hit         instructions of a 1 KiB hit in memory, on a kept-alive connection
connection  the same on a connection that the client opens and closes for the request
miss        instructions of a 1 KiB miss: the node fetches it from the origin, stores it and announces it to a peer
peer_hit    instructions of a 1 KiB peer hit at the asking node, which stores the response and announces it
object      bytes of memory for each stored 1 KiB object

callgrind counts the instructions of all threads of one node with one worker, in a cluster of two nodes. A base run sends
requests of all kinds. For each kind, one more run sends three times as many requests of that kind. The difference of two
runs contains neither start nor end of the node. The bytes are the growth of anonymous memory between two fillings of a
node without callgrind.

The folder tests/bench/budget/recorded has the budgets with date and reason, and the costliest functions of each kind. A
failure lists the functions that grew. Record an increase with --record and its reason, and commit the files together
with the change that causes it. Record a decrease, too, so that it lasts.

The counts hold for the release program of one compiler and one C library (Debian 12) on a CPU with AVX2. Runs of one
program differ by 1 % at most, and by 2 % on a busy machine, where a run takes longer and timers count more. The nodes
use addresses in 127.1xx.0.0/16. All runs together take half a minute on two idle cores.
"""
import argparse
import concurrent.futures
import os
import signal
import sys
import tempfile
import time

from budget import callgrind, records
from budget.nodes import SLOW, SLOW_ANSWERS, Client, Node, Origin, Relay

TOLERANCE = 0.03
REQUESTS = {"hit": 2000, "connection": 500, "miss": 500, "peer_hit": 500}
WARM = 100  # objects that hits read in turn
FILLED = 10_000  # objects of the first filling; the second adds twice as many
BASE = "base"


class Cluster:
    """The measured node `a` and its peer `b`. `peer_objects` of b are announced before a starts."""

    def __init__(self, program, net, profile=None, peer_objects=0):
        self.folder = tempfile.TemporaryDirectory(prefix="hearsay-budget-")
        self.nodes, self.node, a, b, relay, origin = [], None, *(f"{net}.{i}" for i in range(1, 5))
        self.servers = [Relay((relay, 3128), self.wait_until_idle, (b, 3128)),
                        Origin((origin, 8000), self.wait_until_idle)]
        try:
            peer = self.start(Node(program, self.folder.name, "b", b, ("a", a, a), origin))
            client = Client(peer)
            client.connect()
            for i in range(peer_objects):
                client.get(f"/peer/{i:06}", "fwd=uri-miss; stored")
            client.close()
            self.node = self.start(Node(program, self.folder.name, "a", a, ("b", b, relay), origin, profile))
            # Only the peer is asked for its status: the answer of the measured node would count.
            peer.wait(lambda: peer.status()["cluster"]["peers"][0]["state"] == "in_step")
            time.sleep(1)
        except BaseException:
            self.stop()
            raise

    def wait_until_idle(self):
        if self.node:
            self.node.wait_until_idle()

    def start(self, node):
        self.nodes.append(node)
        node.wait(node.listens)
        return node

    def stop(self):
        for node in self.nodes:
            node.kill()
        for server in self.servers:
            server.stop()
        self.folder.cleanup()


def send(client, kind, count):
    for i in range(count):
        if kind == "hit":
            client.get(f"/warm/{i % WARM:06}", "; hit")
        elif kind == "connection":
            client.close()
            client.connect()
            client.get(f"/warm/{i % WARM:06}", "; hit")
        elif kind == "miss":
            client.get(f"/miss/{i:06}", "fwd=uri-miss; stored")
        else:
            client.get(f"/peer/{i:06}", "detail=PEER_b")


def run_under_callgrind(program, net, tripled, folder):
    """Returns the profile of a run with REQUESTS of each kind, and three times as many of the kind `tripled`."""
    path = f"{folder}/{tripled}.callgrind"
    cluster = Cluster(program, net, path, 3 * REQUESTS["peer_hit"])
    try:
        client = Client(cluster.node)
        client.connect()
        for i in range(WARM):
            client.get(f"/warm/{i:06}", "fwd=uri-miss; stored")
        for kind, count in REQUESTS.items():
            if kind == "peer_hit":
                for i in range(SLOW_ANSWERS):
                    client.get(f"{SLOW}{i}", "fwd=uri-miss; stored")
            send(client, kind, count * 3 if kind == tripled else count)
        client.close()
        cluster.node.end()
        return callgrind.profile(path)
    finally:
        cluster.stop()


def object_bytes(program, net):
    cluster = Cluster(program, net)
    try:
        client = Client(cluster.node)
        client.connect()
        resident = []
        for first, end in ((0, FILLED), (FILLED, 3 * FILLED)):
            for i in range(first, end):
                client.get(f"/fill/{i:06}", "fwd=uri-miss; stored")
            resident.append(cluster.node.resident_bytes())
        return (resident[1] - resident[0]) / (2 * FILLED)
    finally:
        cluster.stop()


def measure(program, names):
    """Returns name -> (value, profile or None). Measures two nodes at a time."""
    net = f"127.{100 + os.getpid() % 100}"
    kinds = [name for name in REQUESTS if name in names]
    with tempfile.TemporaryDirectory(prefix="hearsay-budget-") as folder, \
            concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = {kind: pool.submit(run_under_callgrind, program, f"{net}.{i}", kind, folder)
                for i, kind in enumerate([BASE] + kinds if kinds else [], start=1)}
        memory = pool.submit(object_bytes, program, f"{net}.9") if "object" in names else None
        results = {}
        for kind in kinds:
            costs = callgrind.per_request(runs[BASE].result(), runs[kind].result(), 2 * REQUESTS[kind])
            results[kind] = (callgrind.total(costs), costs)
        if memory:
            results["object"] = (memory.result(), None)
        return results


def unit(name):
    return "bytes" if name == "object" else "instructions"


def measure_again(program, results):
    """A busy machine can add to a value by timers, so a value over its budget is measured twice. The lower one counts."""
    budgets = records.read_budgets()
    over = [name for name, (value, _) in results.items()
            if name in budgets and value > budgets[name].value * (1 + TOLERANCE)]
    if over:
        print(f"{', '.join(over)}: over the budget, measured again")
        for name, again in measure(program, over).items():
            results[name] = min(results[name], again, key=lambda result: result[0])


def check(results):
    """Prints a line per budget and returns whether all are kept."""
    budgets, kept = records.read_budgets(), True
    for name, (value, costs) in results.items():
        budget = budgets.get(name)
        if not budget:
            print(f"{name}: {value:,.0f} {unit(name)}, and no budget is recorded")
            kept = False
            continue
        ratio = value / budget.value
        line = f"{name}: {value:,.0f} {unit(name)}, {ratio - 1:+.1%} of the budget of {budget.value:,}"
        if ratio <= 1 + TOLERANCE:
            print(line + (", lower the budget with --record" if ratio < 1 - TOLERANCE else ""))
            continue
        kept = False
        print(f"{line}: FAILED, more than {TOLERANCE:.0%} over (recorded {budget.date}: {budget.reason})")
        if costs:
            print("\n".join(records.comparison(records.read_profile(name), costs)))
    return kept


def compare_rules(program, names, counts):
    """Prints the costs with each number of rules, and their ratio to those with the first one."""
    first = None
    for count in counts:
        Node.rule_count = count
        values = {name: value for name, (value, _) in measure(program, names).items()}
        first = first or values
        for name, value in values.items():
            print(f"{count} rules, {name}: {value:,.0f} {unit(name)}, {value / first[name]:.3f} of {counts[0]} rules")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--record", metavar="REASON", help="record the measured values as budgets, for this reason")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[], help="measure these only")
    parser.add_argument("--show", metavar="NAME", help="print the functions of one request of this kind")
    parser.add_argument("--rules", nargs="+", type=int, metavar="COUNT", help="compare nodes with so many rules")
    args = parser.parse_args()
    all_names = list(REQUESTS) + ["object"]
    names = [args.show] if args.show else args.only or all_names
    if unknown := set(names) - set(all_names):
        parser.error(f"no budget is called {', '.join(sorted(unknown))}; there are: {', '.join(all_names)}")
    if args.record is not None and len(args.record.split()) < 2:
        parser.error("--record needs a reason in words")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    program = os.path.abspath(args.program)
    if args.rules:
        compare_rules(program, [name for name in names if name != "object"], args.rules)
        return
    results = measure(program, names)
    if args.show:
        for function, cost in records.by_own_cost(results[args.show][1])[:records.KEPT_FUNCTIONS]:
            print(f"{cost.own:9.1f} {cost.inclusive:9.1f} {cost.calls:7.2f} {function}")
    if args.record:
        for name, (value, costs) in results.items():
            records.record(name, value, costs, args.record)
            print(f"{name}: {value:,.0f} {unit(name)} recorded")
        return
    measure_again(program, results)
    if not check(results):
        sys.exit(1)


if __name__ == "__main__":
    main()
