#!/usr/bin/env bash
# Installs, runs, reloads, upgrades and purges the Debian package in a container with systemd as its first process, and
# says what it saw: container.sh OLD.deb NEW.deb   (NEW: the same with a higher version, cpack -R 0.1.1)
# Needs Docker, and in it the image debian:bookworm-slim and a way to Debian's mirrors. Takes about two minutes.
set -euo pipefail
old=$1 new=$2
image=hearsay-packaging name=hearsay-packaging-$$
failures=0
said=$(mktemp)

in_it() { docker exec "$name" "$@"; }
run() { in_it bash -c "$1"; }
check() { # DESCRIPTION COMMAND
    if run "$2" >"$said" 2>&1; then printf 'ok    %s\n' "$1"; else
        printf 'FAIL  %s\n' "$1"
        sed 's/^/      /' "$said"
        failures=$((failures + 1))
    fi
}
soon() { check "$1" "for i in {1..200}; do if $2; then exit 0; fi; sleep 0.05; done; exit 1"; }
install() { run "apt-get install -y -qq --no-install-recommends -o Dpkg::Options::=--force-confold $1" >"$said" 2>&1 || cat "$said"; }

docker build -q -t "$image" - >/dev/null 2>&1 <<'DOCKERFILE'
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends systemd systemd-sysv dbus logrotate
CMD ["/lib/systemd/systemd"]
DOCKERFILE
# What systemd needs of the host, also where cgroups are still of version 1.
docker run -d --name "$name" --cap-add SYS_ADMIN --cap-add SYS_PTRACE --security-opt seccomp=unconfined \
    --security-opt apparmor=unconfined --cgroupns=host -v /sys/fs/cgroup:/sys/fs/cgroup --tmpfs /run --tmpfs /run/lock \
    --tmpfs /tmp "$image" >/dev/null
trap 'docker rm -f "$name" >/dev/null; rm -f "$said"' EXIT
soon "systemd runs" "systemctl is-system-running --wait | grep -q running"
docker cp -q "$old" "$name:/root/old.deb" 2>/dev/null || docker cp "$old" "$name:/root/old.deb"
docker cp -q "$new" "$name:/root/new.deb" 2>/dev/null || docker cp "$new" "$name:/root/new.deb"
run "find / -xdev -path /proc -prune -o -path /root -prune -o -print | sort >/root/before; getent passwd >/root/users"

install /root/old.deb
check "it is enabled and serves at once, by its own word" \
    "systemctl is-enabled hearsay && systemctl is-active hearsay && systemctl show -p StatusText hearsay | grep -q 'Serving at 127.0.0.1:3128'"
soon "it is ready" "hearsay healthcheck"
check "as its own user, without a right" \
    "pid=\$(systemctl show -P MainPID hearsay); ps -o user= -p \$pid | grep -qx hearsay || grep -q \"^Uid:.*\$(id -u hearsay)\" /proc/\$pid/status; grep -qx 'CapBnd:.0*' /proc/\$pid/status && grep -qx 'NoNewPrivs:.1' /proc/\$pid/status"
run "systemd-analyze security hearsay --no-pager | tail -n 1"
get="exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: 127.0.0.1:1\r\nConnection: close\r\n\r\n' >&3; head -n 1 <&3"
check "it answers, and logs that" "$get | grep -q 403; for i in {1..100}; do grep -q 127.0.0.1:1 /var/log/hearsay/access.log && exit 0; sleep 0.05; done; exit 1"
check "its log is rotated, and it writes a new one" \
    "logrotate -f /etc/logrotate.d/hearsay && for i in {1..100}; do [ -e /var/log/hearsay/access.log ] && break; sleep 0.05; done; $get; for i in {1..100}; do grep -q 127.0.0.1:1 /var/log/hearsay/access.log && exit 0; sleep 0.05; done; exit 1"
check "what only root may know, only root reads" "[ \$(stat -c %a:%U /etc/hearsay/environment) = 600:root ]"

run "sed -i 's/256MiB/300MiB/' /etc/hearsay/hearsay.json; systemctl reload hearsay"
soon "a reload takes effect" "journalctl -u hearsay | grep -q 'configuration reloaded, changed: \$.cache.memory'"
run "sed -i 's/300MiB/lots/' /etc/hearsay/hearsay.json; systemctl reload hearsay"
soon "a refused one is told" "systemctl show -p StatusText hearsay | grep -q 'the last reload was refused: \$.cache.memory'"
check "and costs nothing" "systemctl is-active hearsay && hearsay healthcheck"
run "sed -i 's/lots/300MiB/' /etc/hearsay/hearsay.json; systemctl reload hearsay"

run "mkdir -p /run/systemd/system/hearsay.service.d; printf '[Service]\nWatchdogSec=2\nTimeoutAbortSec=1\n' >/run/systemd/system/hearsay.service.d/w.conf; systemctl daemon-reload; systemctl restart hearsay"
run "sleep 4"
check "the watchdog leaves it alone while it turns" "[ \$(systemctl show -P NRestarts hearsay) = 0 ] && systemctl is-active hearsay"
run "kill -STOP \$(systemctl show -P MainPID hearsay)"
soon "the watchdog restarts it when it hangs" "[ \$(systemctl show -P NRestarts hearsay) = 1 ] && systemctl is-active -q hearsay"
run "rm -r /run/systemd/system/hearsay.service.d; systemctl daemon-reload; systemctl restart hearsay"

before=$(run "systemctl show -P MainPID hearsay")
install /root/new.deb
check "an upgrade restarts it, and keeps the configuration that was changed" \
    "[ \$(systemctl show -P MainPID hearsay) != $before ] && systemctl is-active hearsay && grep -q 300MiB /etc/hearsay/hearsay.json && [ \$(dpkg-query -W -f '\${Version}' hearsay) != \$(dpkg-deb -f /root/old.deb Version) ]"
run "systemctl stop hearsay"
check "a stop drains and ends well" "systemctl show hearsay | grep -qx Result=success && systemctl show hearsay | grep -qx ExecMainStatus=0 && journalctl -u hearsay | grep -q 'draining'"
run "systemctl disable -q hearsay"
install "--reinstall /root/new.deb"
check "what was switched off stays so" "! systemctl is-enabled -q hearsay && ! systemctl is-active -q hearsay"
run "systemctl enable -q --now hearsay"
run "apt-get remove -y -qq hearsay" >/dev/null 2>&1
check "removed: it has ended, its configuration is left" "! systemctl is-active -q hearsay && [ -e /etc/hearsay/hearsay.json ] && [ ! -e /usr/bin/hearsay ]"
install /root/old.deb
check "installed again: it serves, with that configuration" "systemctl is-active hearsay && grep -q 300MiB /etc/hearsay/hearsay.json"
run "apt-get purge -y -qq hearsay" >/dev/null 2>&1
run "find / -xdev -path /proc -prune -o -path /root -prune -o -print | sort >/root/after"
check "purged: no user, no unit, no file is left" \
    "! getent passwd hearsay && ! comm -13 /root/before /root/after | grep hearsay && ! systemctl cat hearsay 2>/dev/null"
check "and the system is well" "systemctl is-system-running"

((!failures)) || exit 1
