"""A hub of models with the hosts, redirects and fields of today's Hugging Face: small files by a relative redirect, large ones by a
redirect to a signed URL of one of two CDN hosts, and whatever sends a client to Xet."""
import hashlib
import json
import os
import secrets
import time

from harness.origin import Answer, content

HUB = "huggingface.co"
CDN = ["cas-bridge.xethub.hf.co", "us.aws.cdn.hf.co"]
XET = "cas-server.xethub.hf.co"  # nothing may ask it
COMMIT = "0123456789abcdef0123456789abcdef01234567"
REPOSITORY = "team/model"
SMALL = 24  # files
PAGE = 10  # files in one answer of the list


class Hub:
    """`token`: the one that a gated repository wants; None: it is public."""

    def __init__(self, origin, token=None):
        self.token, self.leaks, self.to_xet = token, [], []
        self.large = {f"model-0000{i}-of-00003.safetensors": os.urandom(3_000_000 + i) for i in (1, 2, 3)}
        self.files = {**{f"part/{i}.json": json.dumps({"part": i}).encode() for i in range(SMALL)}, **self.large}
        self.change_signatures()
        origin.sites[HUB] = self.hub
        for host in CDN:
            origin.sites[host] = self.cdn
        origin.sites[XET] = self.xet

    def change_signatures(self):
        self.signature = secrets.token_hex(8)

    def place(self, name):
        digest = hashlib.sha256(self.large[name]).hexdigest()
        return CDN[sorted(self.large).index(name) % 2], f"/xet-bridge-us/0123456789/{digest}"

    def entry(self, name):
        body = self.files[name]
        entry = {"type": "file", "oid": hashlib.sha1(body).hexdigest(), "size": len(body), "path": name}
        if name in self.large:
            digest = hashlib.sha256(body).hexdigest()
            entry.update(lfs={"oid": digest, "size": len(body), "pointerSize": 135}, xetHash=digest)
        return entry

    def hub(self, request):
        if self.token and request.fields.get("Authorization") != f"Bearer {self.token}":
            return Answer(401, {"X-Error-Code": "GatedRepo", "X-Error-Message": "Access to model is restricted.",
                                "WWW-Authenticate": 'Bearer realm="Authentication required"'}, b"Access to model is restricted.")
        base = {"X-Repo-Commit": COMMIT, "Vary": "Origin, Accept", "X-Powered-By": "huggingface-moon",
                "Access-Control-Allow-Origin": "https://huggingface.co"}
        for revision in ("main", COMMIT):
            if request.path == f"/api/models/{REPOSITORY}/revision/{revision}" or request.path == f"/api/models/{REPOSITORY}":
                body = {"id": REPOSITORY, "modelId": REPOSITORY, "sha": COMMIT, "private": False, "tags": [], "downloads": 1,
                        "likes": 0, "siblings": [{"rfilename": name} for name in self.files]}
                return self.list(request, body)
            if request.path == f"/api/models/{REPOSITORY}/tree/{revision}":
                names, begin = list(self.files), int(request.query.get("cursor", 0))
                more = {}
                if begin + PAGE < len(names):
                    more["Link"] = f'<https://{HUB}{request.path}?recursive=true&cursor={begin + PAGE}>; rel="next"'
                return self.list(request, [self.entry(name) for name in names[begin:begin + PAGE]], more)
            if request.path.startswith(f"/{REPOSITORY}/resolve/{revision}/"):
                name = request.path.partition(f"/resolve/{revision}/")[2]
                if name in self.large:
                    return self.large_file(name, base)
                if name in self.files:
                    etag = hashlib.sha1(self.files[name]).hexdigest()
                    place = f"/api/resolve-cache/models/{REPOSITORY}/{COMMIT}/{name}?%2Fresolve%2F=&etag=%22{etag}%22"
                    return Answer(307, {**base, "Location": place, "X-Linked-Size": str(len(self.files[name])),
                                        "X-Linked-ETag": f'"{etag}"', "Content-Type": "text/plain; charset=utf-8"}, place.encode())
        cached = f"/api/resolve-cache/models/{REPOSITORY}/{COMMIT}/"
        if request.path.startswith(cached) and (name := request.path[len(cached):]) in self.files:
            fields = {**base, "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-cache"}
            return content(request, self.files[name], fields, f'"{hashlib.sha1(self.files[name]).hexdigest()}"')
        return Answer(404, {"X-Error-Code": "EntryNotFound"}, b"Entry not found")

    def list(self, request, body, more={}):
        text = json.dumps(body).encode()
        return content(request, text, {"Content-Type": "application/json; charset=utf-8", **more}, f'W/"{hashlib.sha1(text).hexdigest()}"')

    def large_file(self, name, base):
        host, path = self.place(name)
        digest = path.rpartition("/")[2]
        place = (f"https://{host}{path}?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date={int(time.time())}&X-Amz-Expires=3600"
                 f"&X-Amz-Signature={self.signature}&x-id=GetObject")
        auth = f"https://{HUB}/api/models/{REPOSITORY}/xet-read-token/{COMMIT}"
        return Answer(302, {**base, "Location": place, "Cache-Control": "no-cache", "X-Linked-Size": str(len(self.large[name])),
                            "X-Linked-ETag": f'"{digest}"', "X-Xet-Hash": digest, "X-Xet-Refresh-Route": auth,
                            "Link": f'<{auth}>; rel="xet-auth", <https://{XET}/v1/reconstructions/{digest}>; rel="xet-reconstruction-info"',
                            "Content-Type": "text/plain; charset=utf-8"}, b"Found. Redirecting to " + place.encode())

    def cdn(self, request):
        if "Authorization" in request.fields or "Cookie" in request.fields:
            self.leaks.append(request.target)
        name = next((name for name in self.large if self.place(name) == (request.host, request.path)), None)
        if not name or request.query.get("X-Amz-Signature") != self.signature:
            return Answer(403, {"Content-Type": "text/xml"}, b"<Error><Code>AccessDenied</Code></Error>")
        return content(request, self.large[name], {"Content-Type": "binary/octet-stream", "Cache-Control": "public, max-age=31536000"})

    def xet(self, request):
        self.to_xet.append(request.target)
        return Answer(404)
