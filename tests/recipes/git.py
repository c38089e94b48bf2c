#!/usr/bin/env python3
"""Git and Git LFS: the talk about commits goes to the origin each time, a bundle and the files of LFS come from the cache."""
import hashlib
import json
import os
import secrets
import subprocess

from harness import scenario
from harness.origin import Answer, content
from harness.sandbox import Failure

REPOSITORY, BUNDLE = "/team/project.git", "/team/project.bundle"
LFS_HOST = "github-cloud.githubusercontent.com"
CONFIG = """[user]
    name = Nobody
    email = nobody@example.org
[init]
    defaultBranch = main
[filter "lfs"]
    clean = git-lfs clean -- %f
    smudge = git-lfs smudge -- %f
    process = git-lfs filter-process
    required = true
[lfs]
    basictransfersonly = true
"""


class Git(scenario.Recipe):
    name, config, needs, hosts = "git", "git.json", ["git", "git-lfs"], ["github.com", LFS_HOST]
    ways = ["mirror", "intercept"]
    in_outage = scenario.REFUSED  # nobody but the origin knows the present commits

    def serve(self, origin):
        self.large, self.code = os.urandom(900_000), os.urandom(300_000)
        self.oid = hashlib.sha256(self.large).hexdigest()
        self.make_repository()
        self.change_signatures()
        origin.sites["github.com"] = self.server
        origin.sites[LFS_HOST] = self.lfs

    def make_repository(self):
        tree, self.root = os.path.join(self.folder, "tree"), os.path.join(self.folder, "git")
        os.makedirs(tree)
        for name, body in ((".gitattributes", b"*.bin filter=lfs diff=lfs merge=lfs -text\n"), ("code", self.code), (
                "large.bin", f"version https://git-lfs.github.com/spec/v1\noid sha256:{self.oid}\nsize {len(self.large)}\n".encode())):
            with open(os.path.join(tree, name), "wb") as file:
                file.write(body)
        plain = ["git", "-c", "filter.lfs.process=", "-c", "filter.lfs.clean=cat", "-c", "user.name=N", "-c", "user.email=n@example.org"]
        environment = {**os.environ, "HOME": self.folder}
        for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "one"], ["bundle", "create", "-q", "../bundle", "main"],
                        ["clone", "-q", "--bare", ".", self.root + REPOSITORY]):
            subprocess.run([*plain, *command], cwd=tree, env=environment, check=True)
        with open(os.path.join(self.folder, "bundle"), "rb") as file:
            self.bundle = file.read()

    def change_signatures(self):
        self.signature = secrets.token_hex(8)

    def server(self, request):
        if request.path == BUNDLE:
            return content(request, self.bundle, {"Content-Type": "application/octet-stream"})
        if request.path == REPOSITORY + "/info/lfs/objects/batch":
            href = f"https://{LFS_HOST}/alambic/media/1/{self.oid}?X-Amz-Expires=3600&X-Amz-Signature={self.signature}"
            asked = json.loads(request.body)["objects"][0]
            return Answer(200, {"Content-Type": "application/vnd.git-lfs+json; charset=utf-8"}, json.dumps({
                "transfer": "basic", "objects": [{**asked, "authenticated": True, "actions": {
                    "download": {"href": href, "expires_in": 3600}}}]}).encode())
        return self.backend(request)

    def backend(self, request):
        fields = {"CONTENT_TYPE": "Content-Type", "HTTP_CONTENT_ENCODING": "Content-Encoding", "GIT_PROTOCOL": "Git-Protocol"}
        environment = {"PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": self.root, "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": request.path,
                       "REQUEST_METHOD": request.method, "QUERY_STRING": request.raw_query, "REMOTE_ADDR": "127.0.0.1",
                       "CONTENT_LENGTH": str(len(request.body)), "HOME": self.folder,
                       "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
                       **{name: request.fields[field] for name, field in fields.items() if field in request.fields}}
        done = subprocess.run(["git", "http-backend"], input=request.body, env=environment, capture_output=True)
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        lines = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        return Answer(int(lines.pop("Status", "200").split()[0]), lines, body)

    def lfs(self, request):
        if request.query.get("X-Amz-Signature") != self.signature or not request.path.endswith(self.oid):
            return Answer(403, {"Content-Type": "application/xml"}, b"<Error><Code>SignatureDoesNotMatch</Code></Error>")
        return content(request, self.large, {"Content-Type": "application/octet-stream"})

    def is_content(self, entry):
        return super().is_content(entry) and "/info/refs?" not in entry.url

    def pull(self, machine):
        machine.write("home/.gitconfig", CONFIG)
        machine.run("git", "clone", "-q", f"--bundle-uri={machine.url('https://github.com' + BUNDLE)}",
                    machine.url("https://github.com" + REPOSITORY), "project", GIT_TERMINAL_PROMPT="0")
        if machine.read("project", "large.bin") != self.large or machine.read("project", "code") != self.code:
            raise Failure("git got another file")


if __name__ == "__main__":
    scenario.main(Git)
