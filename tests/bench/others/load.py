"""Load on one server, by wrk (HTTP/1.1) and by h2load (HTTP/2 over TLS), and the check that its cache answers alone."""
import contextlib
import dataclasses
import http.client
import re
import subprocess

from .servers import PORT, TLS_PORT

CONNECTIONS, STREAMS, MAX_THREADS = 64, 10, 8
TRIAL_REQUESTS = 5000
LOAD_SECONDS = 60  # after which a load generator has failed
PATIENCE_SECONDS = 5  # for one answer of the check
CHECKED_MISSES = 20
WARM_PASSES = 3  # some caches hand an object to their memory only when it is read again
SCRIPT = """
local threads = 0
function setup(thread)
    threads = threads + 1
    thread:set("number", threads)
end
function init(args)
    prefix, objects, sent, ready = args[1], tonumber(args[2]), 0, {}
    for i = 1, objects do ready[i] = wrk.format("GET", prefix .. i) end
end
function request()  -- objects in turn, or a new URL each time
    sent = sent + 1
    if objects > 0 then return ready[sent % objects + 1] end
    return wrk.format("GET", prefix .. number .. "-" .. sent)
end
"""


class LoadFailed(Exception):
    """A request failed, or its answer is not what the row is about. The text is for a cell of the table."""


@dataclasses.dataclass(frozen=True)
class Row:
    """One kind of request. Hits take `objects` of `size` bytes in turn; misses (no objects) have a new URL each."""
    title: str
    size: int = 1024
    objects: int = 100
    close: bool = False
    http2: bool = False


ROWS = {"hit": Row("1 KiB hit"), "hit10k": Row("10 KiB hit", 10 << 10), "hit100k": Row("100 KiB hit", 100 << 10),
        "hit1m": Row("1 MiB hit", 1 << 20, objects=20), "connection": Row("connection for each 1 KiB hit", close=True),
        "miss": Row("1 KiB miss, stored", objects=0), "h2": Row("1 KiB hit, HTTP/2 and TLS", http2=True)}


@contextlib.contextmanager
def paused(process):
    process.pause()
    try:
        yield
    finally:
        process.resume()


def fetch(host, path, size):
    """One request by a connection of its own. The built-in origin obeys Hearsay-Bytes, a cache passes it on."""
    connection = http.client.HTTPConnection(host, PORT, timeout=PATIENCE_SECONDS)
    try:
        connection.request("GET", path, headers={"Hearsay-Bytes": str(size)})
        answer = connection.getresponse()
        return answer.status, len(answer.read())
    finally:
        connection.close()


def fetch_all(host, paths, size):
    for path in paths:
        if (got := fetch(host, path, size)) != (200, size):
            raise LoadFailed(f"status {got[0]}, {got[1]} bytes")


def paths_of(row):
    return [f"/{row.size}/{i}" for i in range(1, row.objects + 1)]


def warm(server, row, origin, cores):
    """Fills the cache, and proves that it answers while the origin is stopped. Raises LoadFailed if it does not."""
    paths = paths_of(row) or [f"/check-{server.name}-{i}" for i in range(CHECKED_MISSES)]

    def ask():
        h2load(server, paths, len(paths), 1, 1, cores) if row.http2 else fetch_all(server.host, paths, row.size)

    try:
        for _ in range(WARM_PASSES):
            ask()
        with paused(origin):
            ask()
    except (OSError, http.client.HTTPException) as failure:
        raise LoadFailed(f"not from its cache ({failure or type(failure).__name__})") from failure


def run(argv):
    """Returns what the load generator says."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=LOAD_SECONDS)
    except subprocess.TimeoutExpired as failure:
        raise LoadFailed(f"{argv[3]} did not end within {LOAD_SECONDS} s") from failure
    return done.stdout + done.stderr


def number(pattern, text):
    found = re.search(pattern, text)
    return float(found[1]) if found else 0


def read_wrk(text):
    """Returns requests and their seconds."""
    failures = sum(map(int, re.findall(r"Non-2xx or 3xx responses: (\d+)", text)))
    if errors := re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text):
        failures += sum(map(int, errors.groups()))
    done = re.search(r"(\d+) requests in ([\d.]+)(m?s|m),", text)
    if failures or not done or done[1] == "0":
        raise LoadFailed(f"{failures} requests failed" if failures else "wrk had no answer")
    return int(done[1]), float(done[2]) * {"ms": 0.001, "s": 1, "m": 60}[done[3]]


def read_h2load(text):
    """Returns requests and their seconds."""
    good = number(r"status codes: (\d+) 2xx", text)
    failed = number(r"(\d+) failed", text)
    other = sum(number(rf"(\d+) {kind}xx", text) for kind in (3, 4, 5))
    rate = number(r"finished in [\d.]+m?s, ([\d.]+) req/s", text)
    if failed or other or not good or not rate:
        raise LoadFailed(f"{failed + other:.0f} requests failed" if failed + other else "h2load had no answer")
    return int(good), good / rate


def h2load(server, paths, requests, connections, streams, cores):
    urls = [f"https://{server.host}:{TLS_PORT}{path}" for path in paths]
    threads = min(connections, threads_on(cores))
    argv = ["h2load", "-n", str(requests), "-c", str(connections), "-m", str(streams), "-t", str(threads), *urls]
    return read_h2load(run(["taskset", "-c", cores, *argv]))


def threads_on(cores):
    return min(len(cores.split(",")), MAX_THREADS)


def plan(server, row, serial, script, cores, seconds):
    """Returns a function that puts load on the server, and returns requests and their seconds. `script`: a file with SCRIPT.

    h2load (1.52) may go on for ever after a time, but not after a number of requests, so a trial says how many to send.
    """
    if row.http2:
        requests, took = h2load(server, paths_of(row), TRIAL_REQUESTS, CONNECTIONS, STREAMS, cores)
        wanted = max(TRIAL_REQUESTS, round(requests / took * seconds))
        return lambda: h2load(server, paths_of(row), wanted, CONNECTIONS, STREAMS, cores)
    closing = ["-H", "Connection: close"] if row.close else []
    prefix = f"/{row.size}/" if row.objects else f"/miss-{serial}-"
    argv = ["wrk", "-t", str(threads_on(cores)), "-c", str(CONNECTIONS), "-d", str(seconds),
            "--timeout", f"{LOAD_SECONDS}s", "-s", script, *closing, f"http://{server.host}:{PORT}/", "--", prefix, str(row.objects)]
    return lambda: read_wrk(run(["taskset", "-c", cores, *argv]))
