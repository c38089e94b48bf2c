#!/usr/bin/env python3
"""The life of a cache with a disk: ended at random, written full ten times over, kept busy, given one very large file.

    tests/bench/disk_life.py build/release/hearsay kills [--kills 50] [--every 3] [--size 512MiB] [--largest 200]
    tests/bench/disk_life.py build/release/hearsay churn [--size 512MiB] [--times 10] [--admission second_request]
    tests/bench/disk_life.py build/release/hearsay quiet [--rounds 6] [--seconds 6] [--load 60] [--realtime]
    tests/bench/disk_life.py build/release/hearsay large [--large 10GiB] [--gap 0.1] [--delay 50] [--pace 0]

kills   clients ask for some thousand URLs (whole and in parts, small and in blocks) while these change at the origin and
        are purged, by URL, tag and POST; the node is killed (-9) at random moments and started again at once. Each body
        is compared to its last byte with what its URL and version give. *Wrong*: it differs. *Back*: its version is
        older than one whose purge was answered before it was asked for. Exit 1 on either, and when
        requests failed or were cut but for a kill
churn   writes --times the cap, of objects of 16 KiB in the mean of which most are asked for again (`replay` proves
        all bodies), and looks at memory, files and written bytes every 10 s; at the end, at what of the full files is
        neither URI nor head nor body
quiet   how long hits in memory take (1 KiB, one after another on one connection, 1,000 a second): at rest; while
        another process has --load MiB/s stored and reads as much of what memory has not, and the pages of the disk are
        dropped; and while it asks the same of a node without a disk, which has the origin give it. So what the disk
        costs is the difference of the last two, not that between a busy and an idle worker. In both a process besides
        writes to the device past the page cache, as fast as it takes it. On a machine where others work, --realtime
        lets nodes and probe go before all of them
large   two nodes that are peers read one file of which half is asked for at a, half at b (less --gap, nobody's), in
        ranges; then all of it at a, twice. Every byte is compared; what the origin gave, and memory, are shown. The
        origin takes --delay ms to answer: where it is nearer than a peer, peers are not asked

The origin of kills and large is in this program, else `hearsay origin`. Linux, 127.0.0.1 only, ports from --port on.
Files go to --folder (a temporary one by default; best on a real file system) and are removed.
"""
import argparse
import os
import shutil
import signal
import sys
import tempfile

from life.churn import churn
from life.kills import kills
from life.large import large
from life.quiet import quiet


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("what", choices=("kills", "churn", "quiet", "large"))
    parser.add_argument("--port", type=int, default=25000, help="the first of ten")
    parser.add_argument("--folder", help="where files go; is made, and removed at the end")
    parser.add_argument("--size", help="cap of the disk: kills, churn (512MiB), quiet (4GiB)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--every", type=float, default=3, help="seconds between kills, in the mean")
    parser.add_argument("--urls", type=int, default=6000)
    parser.add_argument("--clients", type=int, default=6)
    parser.add_argument("--largest", type=int, default=200,
                        help="kills: kB of the largest bodies; from half of it on in blocks")
    parser.add_argument("--changes", type=float, default=30, help="a second, at most")
    parser.add_argument("--times", type=float, default=10, help="churn: how often the cap is written")
    parser.add_argument("--memory", default="64MiB", help="churn: cache.memory")
    parser.add_argument("--admission", default="second_request", choices=("second_request", "always"))
    parser.add_argument("--step", type=int, default=30000, help="churn: requests in one replay")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=6, help="quiet: of each phase")
    parser.add_argument("--load", type=float, default=60, help="quiet: MiB/s stored, and as much read")
    parser.add_argument("--bytes", type=int, default=256 << 10, help="quiet: of each such body")
    parser.add_argument("--realtime", action="store_true", help="quiet: nodes and probe go before all else (root)")
    parser.add_argument("--large", default="10GiB", help="large: bytes of the file")
    parser.add_argument("--gap", type=float, default=0.1, help="large: the part in the middle that nobody asked for")
    parser.add_argument("--delay", type=float, default=50, help="large: milliseconds until the origin answers")
    parser.add_argument("--pace", type=float, default=0, help="large: MiB/s at which clients read; 0: as fast as it comes")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    args.size = args.size or ("4GiB" if args.what == "quiet" else "512MiB")
    if args.folder:
        if os.path.exists(args.folder):  # it is removed at the end
            parser.error(f"--folder {args.folder} is there already; name one that is not")
        os.makedirs(args.folder)
    else:
        args.folder = tempfile.mkdtemp(prefix="hearsay-life-")
    args.nodes, args.processes, args.children = [], [], []
    try:
        good = {"kills": kills, "churn": churn, "quiet": quiet, "large": large}[args.what](args)
        sys.stdout.flush()
    finally:
        for pid in args.children:
            os.kill(pid, signal.SIGKILL)
        for process in [node.process for node in args.nodes] + args.processes:
            if process and process.poll() is None:
                process.kill()
                process.wait()
        shutil.rmtree(args.folder)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
