"""The ways in which a machine comes to the content of the origin. Each has names for /etc/hosts, an environment, and the
file of the authority that its machines trust, or "" for none."""
import os
import urllib.parse

ORIGIN = "127.0.0.10"


def trust(authority):
    """What makes OpenSSL, curl, Python, Go, Node.js, git and cargo trust the authority in this file."""
    return {name: authority for name in ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "GIT_SSL_CAINFO",
                                         "NODE_EXTRA_CA_CERTS", "CARGO_HTTP_CAINFO")}


class Direct:
    """No node: the names lead to the origin."""

    def __init__(self, hosts, authority):
        self.addresses = {host: ORIGIN for host in hosts}
        self.authority, self.environment = authority, trust(authority)

    def url(self, url):
        return url


class Proxy:
    """`http:` through the node as a proxy. The names lead nowhere."""

    def __init__(self, node, port):
        self.addresses = {}
        self.authority, self.environment = "", {"http_proxy": f"http://{node.address}:{port}"}

    def url(self, url):
        return url


class OwnNames:
    """The origin's names lead to the node, which has a certificate for them."""

    def __init__(self, hosts, node, authority):
        self.addresses = {host: node.address for host in hosts}
        self.authority, self.environment = authority, trust(authority)

    def url(self, url):
        return url


class Mirror:
    """The names of the node itself (`public` in `origins`). The origin's own names lead nowhere."""

    def __init__(self, node, config):
        self.places = {entry["url"]: entry["public"] for entry in config["origins"] if "public" in entry}
        self.addresses = {urllib.parse.urlsplit(public).hostname: node.address for public in self.places.values()}
        self.authority, self.environment = "", {}

    def url(self, url):
        place = max((place for place in self.places if url.startswith(place)), key=len)
        return self.places[place] + url[len(place):]


class Intercept:
    """https through the node, which presents certificates of the operator's authority. The names lead nowhere."""

    def __init__(self, node, port, authority):
        self.addresses = {}
        proxy = f"http://{node.address}:{port}"
        self.authority = authority
        self.environment = {**trust(authority), "http_proxy": proxy, "https_proxy": proxy, "HTTPS_PROXY": proxy}

    def url(self, url):
        return url
