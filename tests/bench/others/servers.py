"""hearsay and the servers beside it: one worker each, their caches in memory, one origin behind all of them. Linux.

A server listens on an address of its own, in the clear and with TLS. It runs as `nobody` where root starts it, so that no
package's user or folder is needed, and files go to temporary folders. `store` is for caches that are files, on tmpfs
where there is room. Only processes started here are ended.
"""
import dataclasses
import json
import os
import pathlib
import shutil

from .process import Process

PORT, TLS_PORT = 8080, 8443
CACHE_MIB = 256
TITLES = {"hearsay": "hearsay", "nginx": "nginx", "haproxy": "HAProxy", "squid": "Squid", "varnish": "Varnish",
          "trafficserver": "Traffic Server", "h2o": "h2o (files)"}
OTHERS = [name for name in TITLES if name != "hearsay"]  # names of Debian packages, too
# h2o has no cache for a proxy's responses. It serves files of the same bytes, which bounds what a hit can cost.
CANNOT = {("h2", "squid"): "no HTTP/2", ("h2", "varnish"): "no TLS", ("miss", "h2o"): "no cache"}


@dataclasses.dataclass
class Place:
    """Where a server runs. `files` has /SIZE/NUMBER for each object that hits ask for."""
    host: str
    origin: str  # HOST:PORT
    folder: pathlib.Path
    store: pathlib.Path
    tls: pathlib.Path  # has cert.pem, key.pem and both.pem
    files: pathlib.Path
    program: str  # hearsay

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)


def hearsay(at):
    config = {"node": "bench", "listen": f"{at.host}:{PORT}", "workers": 1, "admin": {"listen": f"{at.host}:9128"},
              "tls": {"listen": f"{at.host}:{TLS_PORT}", "certificate": f"{at.tls}/cert.pem", "key": f"{at.tls}/key.pem"},
              "origins": [{"host": "*", "url": f"http://{at.origin}"}], "cache": {"memory": f"{CACHE_MIB}MiB"},
              "log": {"access": "off"}}
    return [at.program, "run", at.write("hearsay.json", json.dumps(config))]


def nginx(at):
    temporary = "".join(f"{kind}_temp_path {at.folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    config = at.write("nginx.conf", f"""
daemon off;
worker_processes 1;
pid {at.folder}/pid;
events {{ worker_connections 4096; }}
http {{
  access_log off; sendfile on; keepalive_requests 1000000000; {temporary}
  open_file_cache max=10000;
  proxy_cache_path {at.store} keys_zone=c:64m levels=1:2 max_size={CACHE_MIB}m inactive=1d use_temp_path=off;
  upstream origin {{ server {at.origin}; keepalive 64; keepalive_requests 1000000000; }}
  server {{
    listen {at.host}:{PORT} backlog=4096;
    listen {at.host}:{TLS_PORT} ssl http2;
    ssl_certificate {at.tls}/cert.pem; ssl_certificate_key {at.tls}/key.pem;
    location / {{ proxy_cache c; proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ""; }}
  }}
}}
""")
    return ["nginx", "-p", str(at.folder), "-e", f"{at.folder}/error.log", "-c", config]


def haproxy(at):
    config = at.write("haproxy.cfg", f"""
global
  nbthread 1
  maxconn 4000
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  http-reuse always
cache c
  total-max-size {CACHE_MIB}
  max-object-size 4194304
  max-age 86400
frontend clients
  bind {at.host}:{PORT} backlog 4096
  bind {at.host}:{TLS_PORT} ssl crt {at.tls}/both.pem alpn h2,http/1.1
  http-request cache-use c
  http-response cache-store c
  default_backend origin
backend origin
  server origin {at.origin}
""")
    return ["haproxy", "-db", "-f", config]


def squid(at):
    origin_host, origin_port = at.origin.split(":")
    config = at.write("squid.conf", f"""
http_port {at.host}:{PORT} accel no-vhost defaultsite={at.origin}
cache_peer {origin_host} parent {origin_port} 0 no-query no-digest originserver
never_direct allow all
http_access allow all
cache_mem {CACHE_MIB} MB
maximum_object_size_in_memory 4 MB
access_log none
cache_log {at.folder}/cache.log
pid_filename none
coredump_dir {at.folder}
netdb_filename none
pinger_enable off
shutdown_lifetime 1 second
visible_hostname bench
""")
    return ["squid", "-N", "-n", "hearsaybench", "-f", config]  # the name is that of its shared memory


def varnish(at):
    host, port = at.origin.split(":")
    config = at.write("default.vcl", f'vcl 4.1;\nbackend origin {{ .host = "{host}"; .port = "{port}"; }}\n')
    return ["varnishd", "-F", "-n", f"{at.folder}/work", "-a", f"{at.host}:{PORT}", "-f", config,
            "-s", f"malloc,{CACHE_MIB}m", "-p", "thread_pools=1", "-p", "thread_pool_min=100"]


def trafficserver(at):
    settings = at.folder / "etc"
    shutil.copytree("/etc/trafficserver", settings)
    (at.folder / "run").mkdir()
    (settings / "remap.config").write_text(f"map http://{at.host}:{PORT}/ http://{at.origin}/\n"
                                           f"map https://{at.host}:{TLS_PORT}/ http://{at.origin}/\n")
    (settings / "storage.config").write_text(f"{at.store} {CACHE_MIB}M\n")
    (settings / "ssl_multicert.config").write_text("dest_ip=* ssl_cert_name=cert.pem ssl_key_name=key.pem\n")
    ram = "proxy.config.cache.ram_cache"
    (settings / "records.config").write_text("".join(f"CONFIG {name} {value}\n" for name, value in {
        "proxy.config.http.server_ports": f"STRING {PORT}:ip-in={at.host} {TLS_PORT}:ssl:ip-in={at.host}",
        "proxy.config.ssl.server.cert.path": f"STRING {at.tls}",
        "proxy.config.ssl.server.private_key.path": f"STRING {at.tls}",
        "proxy.config.exec_thread.autoconfig": "INT 0",
        "proxy.config.exec_thread.limit": "INT 1",
        "proxy.config.accept_threads": "INT 0",
        "proxy.config.task_threads": "INT 1",
        "proxy.config.http.wait_for_cache": "INT 1",
        f"{ram}.size": f"INT {CACHE_MIB << 20}",
        f"{ram}_cutoff": "INT 4194304",
        f"{ram}.use_seen_filter": "INT 0",
        "proxy.config.log.logging_enabled": "INT 0",
        "proxy.config.log.logfile_dir": f"STRING {at.folder}/run",
    }.items()))
    return ["env", f"PROXY_CONFIG_CONFIG_DIR={settings}", f"PROXY_CONFIG_LOCAL_STATE_DIR={at.folder}/run", "traffic_server"]


def h2o(at):
    config = at.write("h2o.yaml", f"""
num-threads: 1
listen: {{host: {at.host}, port: {PORT}}}
listen: {{host: {at.host}, port: {TLS_PORT}, ssl: {{certificate-file: {at.tls}/cert.pem, key-file: {at.tls}/key.pem}}}}
hosts: {{default: {{paths: {{/: {{file.dir: {at.files}}}}}}}}}
""")
    return ["h2o", "-c", config]


COMMANDS = {each.__name__: each for each in (hearsay, nginx, haproxy, squid, varnish, trafficserver, h2o)}


class Server(Process):
    """One of the servers of TITLES, listening."""

    def __init__(self, name, place, cores):
        user = "nobody" if os.geteuid() == 0 and name != "hearsay" else None
        argv = COMMANDS[name](place)
        if user:
            for folder in (place.folder, place.store):
                for path in (folder, *folder.rglob("*")):
                    shutil.chown(path, user, "nogroup")
        super().__init__(argv, (place.host, PORT), cores, place.folder, user)
        self.name, self.host = name, place.host
