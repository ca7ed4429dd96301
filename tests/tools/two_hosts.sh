#!/usr/bin/env bash
# Runs a command on the first of two hosts, node1 and node2, connected by one wire. Each has its own network, name and
# shared memory; files and processors are this machine's. The hosts are namespaces and end with the command.
#
#   two_hosts.sh COMMAND...           status 77: this machine or this user has no namespaces
#   two_hosts.sh --agent HOST WORD... started by mpirun to run processes on a host, as rsh would
set -uo pipefail
self=$(readlink -f "$0")

case "${1:-}" in
  --agent)
    host=$2
    shift 2
    # Like rsh, passes the words to a shell, without an environment.
    enter=()
    [[ "$host" == node2 ]] && enter=(nsenter --target "$TWO_HOSTS_SECOND" --net --uts --ipc --mount "--wd=/")
    exec "${enter[@]}" env -i PATH="$PATH" HOME="${HOME:-/}" TWO_HOSTS_SECOND="$TWO_HOSTS_SECOND" \
      OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 sh -c "$*"
    ;;
  --first)
    shift
    scratch=$(mktemp -d) || exit 77
    printf '127.0.0.1 localhost\n10.77.0.1 node1\n10.77.0.2 node2\n' >"$scratch/hosts"
    mount --bind "$scratch/hosts" /etc/hosts && mount -t tmpfs none /dev/shm && mount -t sysfs none /sys && hostname node1 && ip link set lo up || exit 77
    mkfifo "$scratch/ready"
    unshare --net --uts --ipc --mount sh -c "mount -t tmpfs none /dev/shm && mount -t sysfs none /sys && hostname node2 && ip link set lo up && echo \$\$ >'$scratch/ready'; exec sleep infinity" &
    read -r TWO_HOSTS_SECOND <"$scratch/ready" || exit 77
    rm -r "$scratch"
    ip link add eth0 type veth peer name eth0 netns "$TWO_HOSTS_SECOND" && ip address add 10.77.0.1/24 dev eth0 &&
      ip link set eth0 up || exit 77
    nsenter --target "$TWO_HOSTS_SECOND" --net sh -c 'ip address add 10.77.0.2/24 dev eth0 && ip link set eth0 up' || exit 77
    export TWO_HOSTS_SECOND
    "$@"
    exit $?
    ;;
esac

for tool in unshare nsenter ip; do
  command -v "$tool" >/dev/null || exit 77
done
user=()
((EUID == 0)) || user=(--user --map-root-user)
unshare "${user[@]}" --net true 2>/dev/null || exit 77
# The first process of the namespaces ends all others with it.
exec unshare "${user[@]}" --net --uts --ipc --mount --pid --fork --kill-child --mount-proc "$self" --first "$@"
