#!/usr/bin/env python3
"""What `hearsay ca create` writes, and which clients obey the name constraints of its CA: authority.py HEARSAY [--table]

Each client trusts the CA. It has to accept a leaf for a host of the CA, and to refuse leaves that a thief of the key could sign:
for another host, for both, and for an address. It accepts all these leaves of a CA without constraints, so nothing else is wrong
with them.
"""
import argparse
import os
import shutil
import stat
import subprocess
import sys
import tempfile

from harness import access
from harness.certificates import Authority, openssl
from harness.origin import Answer, Origin
from harness.sandbox import SKIPPED, Failure, Machine, Skip, enter
from pypi import NAME, WHEEL, make_wheel

HOSTS = ["pypi.org", "crates.io"]
LEAVES = {  # what a leaf is for -> where its server is, the names in the leaf, the host that the client asks for
    "listed host": ("127.0.0.11", ["pypi.org"], "pypi.org"),
    "name below it": ("127.0.0.12", ["static.crates.io"], "static.crates.io"),
    "other host": ("127.0.0.13", ["bank.example"], "bank.example"),
    "both": ("127.0.0.14", ["pypi.org", "money.example"], "money.example"),
    "longer name": ("127.0.0.15", ["notpypi.org"], "notpypi.org"),
    "address": ("127.0.0.16", ["127.0.0.16"], "127.0.0.16"),
}
GOOD = ("listed host", "name below it")
IGNORE = ("java",)  # Java does not apply the constraints of a CA that it trusts itself, only of those below it
GO = """package main
import ("fmt"; "net/http"; "os")
func main() {
    answer, err := http.Get("https://" + os.Args[1] + "/")
    if err == nil && answer.StatusCode == 200 { return }
    fmt.Println(err); os.Exit(1)
}
"""
JAVA = """import java.net.*;
public class Get {
    public static void main(String[] words) throws Exception {
        var open = (HttpURLConnection) new URL("https://" + words[0] + "/").openConnection();
        if (open.getResponseCode() != 200) System.exit(1);
    }
}
"""
NODE = """require("https").get("https://" + process.argv[1] + "/", answer => process.exit(answer.statusCode == 200 ? 0 : 1))
    .on("error", error => { console.log(error.message); process.exit(1) })"""
PYTHON = "import sys, urllib.request; urllib.request.urlopen(f'https://{sys.argv[1]}/', timeout=10).read()"
REQUESTS = "import sys, requests; requests.get(f'https://{sys.argv[1]}/', timeout=10).raise_for_status()"


class Clients:
    """Each method gets `host` as one client does, and raises Failure if the client refuses. `ca`: the CA that it trusts."""

    needs = {"python": "python3", "requests": "python3", "nss": "tstclnt", "gnutls": "gnutls-cli", "java": "javac"}
    verifiers = {"curl": "OpenSSL", "wget": "GnuTLS (Debian)", "gnutls": "GnuTLS", "nss": "NSS", "go": "Go", "java": "Java", "node": "OpenSSL",
                 "uv": "rustls", "python": "OpenSSL", "requests": "OpenSSL"}

    def __init__(self, machine, ca):
        self.machine, self.ca = machine, ca

    @classmethod
    def here(cls):
        found = [name for name in cls.verifiers if shutil.which(cls.needs.get(name, name))]
        if "requests" in found and subprocess.run(["python3", "-c", "import requests"], capture_output=True).returncode:
            found.remove("requests")
        return found

    def curl(self, host):
        self.machine.run("curl", "-sSf", "-o", "/dev/null", f"https://{host}/")

    def wget(self, host):
        self.machine.run("wget", "-q", "-t1", "-O", "/dev/null", "--ca-certificate", self.ca, f"https://{host}/")

    def python(self, host):
        self.machine.run("python3", "-c", PYTHON, host)

    def requests(self, host):
        self.machine.run("python3", "-c", REQUESTS, host)

    def gnutls(self, host):
        self.machine.run("gnutls-cli", "--x509cafile", self.ca, "--verify-hostname", host, f"{host}:443")

    def nss(self, host):
        store = "sql:" + self.machine.path("nss")
        if not os.path.exists(self.machine.path("nss")):
            os.mkdir(self.machine.path("nss"))
            self.machine.run("certutil", "-N", "-d", store, "--empty-password")
            self.machine.run("certutil", "-A", "-d", store, "-n", "ca", "-t", "C,,", "-i", self.ca)
        self.machine.run("tstclnt", "-Q", "-4", "-d", store, "-h", host, "-p", "443", "-V", "tls1.2:")

    def go(self, host):
        if not os.path.exists(self.machine.path("get")):
            self.machine.write("get.go", GO)
            self.machine.run("go", "build", "-o", self.machine.path("get"), "get.go", GOCACHE=self.machine.path("go"), GO111MODULE="off")
        self.machine.run(self.machine.path("get"), host)

    def java(self, host):
        store = self.machine.path("store.p12")
        if not os.path.exists(store):
            self.machine.write("Get.java", JAVA)
            self.machine.run("keytool", "-importcert", "-noprompt", "-alias", "ca", "-file", self.ca, "-keystore", store, "-storepass", "changeit")
            self.machine.run("javac", "Get.java")
        self.machine.run("java", f"-Djavax.net.ssl.trustStore={store}", "-Djavax.net.ssl.trustStorePassword=changeit", "Get", host)

    def node(self, host):
        self.machine.run("node", "-e", NODE, host)

    def uv(self, host):
        self.machine.run("uv", "pip", "install", "--no-config", "--no-cache", "--reinstall", "--target", self.machine.path("uv"),
                         "--index-url", f"https://{host}/simple/", "--python", shutil.which("python3"), NAME, UV_HTTP_RETRIES="0")


def command(program, *arguments):
    return subprocess.run([program, "ca", "create", *arguments], capture_output=True, text=True)


def check(what, holds, said=""):
    if not holds:
        raise Failure(f"hearsay ca create: {what}\n{said}")


def check_command(program, folder):
    """The contract of `hearsay ca create`. Returns the files of a CA for HOSTS."""
    place = os.path.join(folder, "new", "ca")
    os.umask(0)  # the modes are those of the program
    made = command(program, "--host", "pypi.org", "--host", ".crates.io", "--days", "30", "--name", "CA of the test", place)
    os.umask(0o022)
    check("exit code 0", made.returncode == 0, made.stderr)
    files = [os.path.join(place, name) for name in ("ca.pem", "ca-key.pem")]
    check("two files", sorted(os.listdir(place)) == ["ca-key.pem", "ca.pem"], os.listdir(place))
    modes = [stat.S_IMODE(os.stat(path).st_mode) for path in (*files, place)]
    check("modes 0644, 0600 and 0700", modes == [0o644, 0o600, 0o700], [oct(mode) for mode in modes])
    for word in ("pypi.org", "crates.io", *files):
        check(f"names {word}", word in made.stdout, made.stdout)
    text = subprocess.run(["openssl", "x509", "-in", files[0], "-noout", "-text"], capture_output=True, text=True).stdout
    plain = " ".join(text.split())
    for word in ("CN = CA of the test", "NIST CURVE: P-256", "Basic Constraints: critical CA:TRUE, pathlen:0",
                 "Key Usage: critical Certificate Sign, CRL Sign", "Extended Key Usage: TLS Web Server Authentication",
                 "Name Constraints: critical Permitted: DNS:pypi.org DNS:crates.io Excluded: IP:0.0.0.0/0.0.0.0 IP:0:0:0:0:0:0:0:0/0:0:0:0:0:0:0:0"):
        check(f"openssl shows {word}", word in plain, text)
    keys = [subprocess.run(["openssl", *words], capture_output=True, text=True).stdout
            for words in (["x509", "-in", files[0], "-noout", "-pubkey"], ["pkey", "-in", files[1], "-pubout"])]
    check("the key fits", keys[0] and keys[0] == keys[1])
    ends = [subprocess.run(["openssl", "x509", "-in", files[0], "-noout", "-checkend", str(days * 86400)], capture_output=True).returncode
            for days in (29, 31)]
    check("it expires after 30 days", ends == [0, 1], ends)
    check_refusals(program, folder, files)
    return files


def check_refusals(program, folder, files):
    def contents():
        return [open(path, "rb").read() for path in files]

    place, before = os.path.dirname(files[0]), contents()
    again = command(program, "--host", "pypi.org", place)
    check("exit code 1 for files that exist", again.returncode == 1 and "exists already" in again.stderr, again.stderr)
    os.rename(files[0], files[0] + ".away")
    again = command(program, "--host", "pypi.org", place)
    check("exit code 1 for a key that exists", again.returncode == 1 and not os.path.exists(files[0]), again.stderr)
    os.rename(files[0] + ".away", files[0])
    check("existing files stay", contents() == before)
    in_the_way = os.path.join(folder, "file")
    open(in_the_way, "w").close()
    failed = command(program, "--host", "pypi.org", os.path.join(in_the_way, "ca"))
    check("exit code 1 for a folder that cannot be", failed.returncode == 1 and failed.stderr, failed.stderr)
    nowhere = os.path.join(folder, "nowhere")
    for words in ([nowhere], ["--host", "pypi.org"], ["--host", "a b", nowhere], ["--host", "*", nowhere], ["--host", "", nowhere],
                  ["--host", "10.0.0.1", nowhere], ["--host", "pypi.org", "--days", "0", nowhere],
                  ["--host", "pypi.org", "--name", "", nowhere], ["--host", "pypi.org", "--name", "n" * 65, nowhere]):
        refused = command(program, *words)
        check(f"exit code 2 for {words}", refused.returncode == 2 and refused.stderr, f"{refused.returncode}: {refused.stderr}")
        check(f"nothing is written for {words}", not os.path.exists(nowhere))


def below_a_root(folder, files):
    """Does what docs/howto/intercept.md says for Java. Returns the root, and the CA that it has signed."""
    root, request, below = (os.path.join(folder, name) for name in ("root.pem", "ca.csr", "below.pem"))
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "825", "-subj", "/CN=root",
            "-keyout", root + ".key", "-out", root)
    openssl("x509", "-x509toreq", "-in", files[0], "-key", files[1], "-copy_extensions", "copyall", "-out", request)
    openssl("x509", "-req", "-in", request, "-CA", root, "-CAkey", root + ".key", "-CAcreateserial", "-days", "824",
            "-copy_extensions", "copyall", "-out", below)
    return root, below


def serve(leaf, certificate):
    wheel = make_wheel()

    def answer(request):
        if request.path == f"/simple/{NAME}/":
            return Answer(200, {"Content-Type": "text/html"}, f'<!DOCTYPE html><html><body><a href="/{WHEEL}">{WHEEL}</a></body></html>'.encode())
        return Answer(200, {}, wheel if request.path == "/" + WHEEL else b"here\n")

    address, _, host = LEAVES[leaf]
    origin = Origin(address, certificate)
    origin.sites[host] = answer
    return origin


def try_clients(folder, files, names, root=None):
    """Returns for each of these clients, which leaves it accepted. `files`: of the CA that signs; `root`: the one above it."""
    os.mkdir(folder)
    thief, trusted, origins = Authority(folder, files), root or files[0], []
    for leaf, (_, alternatives, _) in LEAVES.items():
        certificate, key = thief.issue(alternatives, leaf.replace(" ", "-"))
        with open(certificate, "a") as chain, open(files[0]) as authority:
            chain.write(authority.read() if root else "")
        origins.append(serve(leaf, (certificate, key)))
    way = access.Direct([], trusted)
    way.addresses = {host: address for address, _, host in LEAVES.values() if host != address}
    clients, found = Clients(Machine(folder, "machine", way, trusted), trusted), {}
    for name in names:
        found[name] = {}
        for leaf, (_, _, host) in LEAVES.items():
            try:
                getattr(clients, name)(host)
                found[name][leaf] = True
            except Failure:
                found[name][leaf] = False
    for origin in origins:
        origin.stop()
    return found


def table(found):
    lines = ["| client | verifier | " + " | ".join(LEAVES) + " |", "|---" * (len(LEAVES) + 2) + "|"]
    lines += [f"| {name} | {Clients.verifiers[name]} | " + " | ".join("accepts" if leaves[leaf] else "refuses" for leaf in LEAVES) + " |"
              for name, leaves in found.items()]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the program hearsay")
    parser.add_argument("--table", action="store_true", help="print which client accepts which leaf, as Markdown")
    arguments = parser.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    os.environ["PATH"] = os.path.join(root, "build", "recipes", "bin") + os.pathsep + os.environ["PATH"]  # of `./dev recipes`
    try:
        enter()
        with tempfile.TemporaryDirectory(prefix="hearsay-authority-") as folder:
            files, here = check_command(os.path.abspath(arguments.program), folder), Clients.here()
            found = try_clients(os.path.join(folder, "constrained"), files, here)
            free = Authority(folder)
            control = try_clients(os.path.join(folder, "free"), (free.certificate, free.key), here)
            root, below = below_a_root(folder, files)
            found_below = try_clients(os.path.join(folder, "below"), (below, files[1]), [name for name in here if name in IGNORE], root)
    except Skip as missing:
        print(f"authority: skipped, it needs {missing}")
        sys.exit(SKIPPED)
    except Failure as failure:
        sys.exit(str(failure))
    wrong = [f"{name}: {leaf}" for name, leaves in found.items() for leaf, accepted in leaves.items()
             if accepted != (leaf in GOOD or name in IGNORE)]
    wrong += [f"{name}: {leaf} of a CA without constraints" for name, leaves in control.items() for leaf in leaves if not leaves[leaf]]
    wrong += [f"{name}: {leaf} below a root" for name, leaves in found_below.items() for leaf in leaves if leaves[leaf] != (leaf in GOOD)]
    print(table(found) if arguments.table or wrong else f"authority: {len(found)} clients as they should be: {', '.join(found)}")
    if wrong:
        sys.exit("not as it should be: " + ", ".join(wrong))


if __name__ == "__main__":
    main()
