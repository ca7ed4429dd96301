#!/usr/bin/env bash
# Runs a command with a private Slurm: controller and daemon on this machine, with a temporary folder and own ports.
# Both end with the command.
#
#   slurm.sh COMMAND...     status 77: no Slurm here, or not root
set -uo pipefail
((EUID == 0)) && command -v slurmctld slurmd sbatch >/dev/null || exit 77
folder=$(mktemp -d) || exit 77
host=$(hostname)
port=$((20000 + $$ % 20000))
mkdir "$folder/state" "$folder/spool"
cat >"$folder/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1
KillWait=20
NodeName=$host NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$folder/slurm.conf
slurmctld -D -c >"$folder/slurmctld.log" 2>&1 &
controller=$!
slurmd -D >"$folder/slurmd.log" 2>&1 &
daemon=$!
trap 'kill $controller $daemon; wait $controller $daemon; rm -rf "$folder"' EXIT
for ((i = 0; i < 100; i++)); do
  [[ $(sinfo -h -o %T 2>/dev/null) == idle ]] && break
  sleep 0.2
done
[[ $(sinfo -h -o %T 2>/dev/null) == idle ]] || {
  cat "$folder"/*.log >&2
  exit 77
}
"$@"
