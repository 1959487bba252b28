"""A Slurm with accounting, in a folder, from the system's packages; nothing under /etc is used.

Its nodes n1, n2, ... are daemons on this machine. It has a `cpu` and a `gpu` partition. The one GPU of each node is a
name only (/dev/null): Slurm hands it out and counts it as it would a real one, and nothing can be computed on it.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from patience import PATIENCE

PROGRAMS = (
    "munged", "slurmctld", "slurmd", "slurmdbd", "sbatch", "srun", "sacct", "mariadbd", "mariadb-install-db", "mariadb",
)  # fmt: skip
"""Of Debian's packages munge, slurmctld, slurmd, slurmdbd, slurm-client and mariadb-server."""
PLUGIN = Path(sys.prefix) / "slurm" / ".installed"
"""There once the executor for Slurm is installed beside the environment."""
HAS_PLUGIN = ("--assume-old", "slurm")
"""Words for make: that one is installed."""
SEARCH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
CPUS, MEMORY_MB = 6, 64000
"""What each node says it has. Jobs are granted it, not held to it: the tiny project uses less than rules ask for."""


def missing() -> list[str]:
    """The programs that a cluster needs and that are not installed."""
    return [name for name in PROGRAMS if shutil.which(name, path=SEARCH) is None]


ON_SLURM = [
    pytest.mark.deep,
    pytest.mark.slurm,
    pytest.mark.skipif(bool(missing()), reason=f"not installed: {', '.join(missing())}"),
    pytest.mark.skipif(not PLUGIN.exists(), reason="the executor for Slurm is not installed: make slurm"),
]
"""Marks of a test that starts a cluster."""


def free_ports(count: int) -> list[int]:
    """Ports of the loopback interface that nothing listens on."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class SlurmCluster:
    """The cluster in `folder`: `start`, use `environment` for its clients, `stop`.

    A node whose name is in `slow` waits three seconds before each job.
    """

    def __init__(self, folder: Path, nodes: int = 1, slow: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self.user = pwd.getpwuid(os.getuid()).pw_name
        self.host = socket.gethostname().partition(".")[0]
        self.controller_port, self.books_port, self.database_port, *ports = free_ports(3 + nodes)
        self.node_ports = {f"n{number}": port for number, port in enumerate(ports, 1)}
        self.slow = slow
        self.environment = {
            **os.environ,
            "SLURM_CONF": str(folder / "slurm.conf"),
            "PATH": f"{folder / 'bin'}:{SEARCH}",
        }
        self._daemons: list[subprocess.Popen[bytes]] = []
        self._nodes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        """Start all daemons; return when a job would be taken."""
        for name in ("state", "log", "run", "bin", *(f"spool-{node}" for node in self.node_ports)):
            (self.folder / name).mkdir(parents=True)
        self._write_configuration()
        self._start_munge()
        self._start_database()
        self._daemon("slurmdbd", "-D")
        self._wait("slurmdbd", lambda: self._succeeds("sacctmgr", "-n", "show", "cluster"))
        self.run("sacctmgr", "-i", "add", "cluster", "one")
        self._daemon("slurmctld", "-D", "-i")
        self._wait("slurmctld", lambda: self._succeeds("scontrol", "ping"))
        self._nodes = {node: self._daemon("slurmd", "-D", "-N", node) for node in self.node_ports}
        idle = ["idle"] * len(self.node_ports)
        self._wait(
            "idle nodes", lambda: self.run("sinfo", "-h", "-N", "-p", "gpu", "-o", "%t").split() == idle
        )

    def kill_node(self, node: str) -> None:
        """End a node as a loss of power would: its daemon and every process of its jobs, at once."""
        jobs = self.run("squeue", "-h", "-w", node, "-t", "RUNNING", "-o", "%A").split()
        self._nodes[node].kill()
        self._nodes[node].wait()
        steps = tuple(f"slurmstepd: [{job}.".encode() for job in jobs)
        # Another cluster's node on this machine may have the same name, and its jobs the same numbers.
        of_this_cluster, of_the_node = f"{self.folder}/".encode(), f"SLURMD_NODENAME={node}".encode()
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                settings = (entry / "environ").read_bytes()
                a_step = bool(steps) and (entry / "cmdline").read_bytes().startswith(steps)
                if of_this_cluster in settings and (a_step or of_the_node in settings.split(b"\0")):
                    os.kill(int(entry.name), signal.SIGKILL)

    def stop(self) -> None:
        """End all jobs and all daemons, the last started first."""
        with suppress(Exception):
            self.run("scancel", "--user", self.user)
            self._wait("an empty queue", lambda: not self.run("squeue", "-h"))
        for daemon in reversed(self._daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(timeout=60)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def run(self, *command: str) -> str:
        """What a client of the cluster prints."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}{done.stdout}"
        return done.stdout

    def _succeeds(self, *command: str) -> bool:
        done = subprocess.run(command, env=self.environment, capture_output=True, timeout=PATIENCE)
        return done.returncode == 0

    def _daemon(self, *command: str) -> subprocess.Popen[bytes]:
        with open(self.folder / "log" / f"{command[0]}-{len(self._daemons)}.out", "wb") as log:
            daemon = subprocess.Popen(
                command,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._daemons.append(daemon)
        return daemon

    def _wait(self, what: str, there: Callable[[], bool], seconds: float = PATIENCE) -> None:
        end = time.monotonic() + seconds
        while not there():
            assert time.monotonic() < end, f"no {what} after {seconds:.0f} s; see {self.folder / 'log'}"
            time.sleep(0.2)

    def _start_munge(self) -> None:
        key, sock = self.folder / "munge.key", self.folder / "run" / "munge.socket"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        files = {
            "key-file": key,
            "socket": sock,
            "pid-file": self.folder / "run" / "munged.pid",
            "log-file": self.folder / "log" / "munged.log",
            "seed-file": self.folder / "state" / "munge.seed",
        }
        options = [f"--{name}={path}" for name, path in files.items()]
        self._daemon("munged", "--foreground", "--force", "--num-threads=2", *options)
        self._wait("munge", lambda: self._succeeds("munge", "-n", f"--socket={sock}"))

    def _start_database(self) -> None:
        data, sock = self.folder / "database", self.folder / "run" / "database.socket"
        self.run(
            "mariadb-install-db", "--no-defaults", f"--user={self.user}", f"--datadir={data}",
            "--auth-root-authentication-method=normal", "--skip-test-db",
        )  # fmt: skip
        self._daemon(
            "mariadbd", "--no-defaults", f"--user={self.user}", f"--datadir={data}", f"--socket={sock}",
            f"--port={self.database_port}", "--bind-address=127.0.0.1", "--innodb-buffer-pool-size=64M",
            "--innodb-lock-wait-timeout=900", f"--pid-file={self.folder / 'run' / 'mariadbd.pid'}",
        )  # fmt: skip
        client = ("mariadb", "--no-defaults", "--user=root", f"--socket={sock}", "--execute")
        self._wait("database", lambda: self._succeeds(*client, "select 1"))
        accounts = [f"'slurm'@'{host}'" for host in ("localhost", "127.0.0.1")]
        statements = ["create database books"]
        statements += [f"create user {account} identified by 'slurm'" for account in accounts]
        statements += [f"grant all on books.* to {account}" for account in accounts]
        self.run(*client, "; ".join(statements))

    def _write_configuration(self) -> None:
        munge, nodes = self.folder / "run" / "munge.socket", ",".join(self.node_ports)
        self._write("slurm.conf", {
            "ClusterName": "one",
            "SlurmctldHost": f"{self.host}(127.0.0.1)",
            "SlurmUser": self.user,
            "SlurmdUser": self.user,
            "AuthType": "auth/munge",
            "AuthInfo": f"socket={munge}",
            "CredType": "cred/munge",
            "SlurmctldPort": self.controller_port,
            "StateSaveLocation": self.folder / "state",
            "SlurmdSpoolDir": self.folder / "spool-%n",
            "SlurmctldPidFile": self.folder / "run/slurmctld.pid",
            "SlurmdPidFile": self.folder / "run/slurmd-%n.pid",
            # A machine that is busy answers late: only where a node is to die is it taken for dead within the test.
            "SlurmdTimeout": 300 if len(self.node_ports) == 1 else 30,
            "Prolog": self.folder / "bin/prolog",
            "ProctrackType": "proctrack/linuxproc",
            "TaskPlugin": "task/none",
            "SwitchType": "switch/none",
            "MpiDefault": "none",
            "JobAcctGatherType": "jobacct_gather/linux",
            "ReturnToService": 2,
            "KillWait": 3,
            "MinJobAge": 600,
            "SchedulerType": "sched/backfill",
            "SchedulerParameters": "sched_interval=2,bf_interval=2,batch_sched_delay=0",
            "SelectType": "select/cons_tres",
            "SelectTypeParameters": "CR_Core_Memory",
            "AccountingStorageType": "accounting_storage/slurmdbd",
            "AccountingStorageHost": "localhost",
            "AccountingStoragePort": self.books_port,
            "AccountingStoragePass": munge,
            "AccountingStoreFlags": "job_comment",
            "AccountingStorageTRES": "gres/gpu",
            "SlurmdParameters": "config_overrides",
            "GresTypes": "gpu",
            **{
                f"NodeName={node} NodeHostname={self.host} Port={port} NodeAddr": (
                    f"127.0.0.1 CPUs={CPUS} Boards=1 SocketsPerBoard=1 CoresPerSocket={CPUS} ThreadsPerCore=1 "
                    f"RealMemory={MEMORY_MB} Gres=gpu:1"
                )
                for node, port in self.node_ports.items()
            },
            "PartitionName=cpu Nodes": f"{nodes} Default=YES State=UP",
            "PartitionName=gpu Nodes": f"{nodes} State=UP",
        })  # fmt: skip
        self._write("gres.conf", {"AutoDetect": "off", f"NodeName={nodes} Name=gpu File": "/dev/null"})
        self._write("slurmdbd.conf", {
            "AuthType": "auth/munge",
            "AuthInfo": f"socket={munge}",
            "DbdHost": "localhost",
            "DbdPort": self.books_port,
            "SlurmUser": self.user,
            "PidFile": self.folder / "run/slurmdbd.pid",
            "StorageType": "accounting_storage/mysql",
            "StorageHost": "127.0.0.1",
            "StoragePort": self.database_port,
            "StorageUser": "slurm",
            "StoragePass": "slurm",
            "StorageLoc": "books",
        })  # fmt: skip
        # The executor's step inside a job drops SLURM_CONF; a cluster whose configuration is under /etc needs none.
        srun = f'SLURM_CONF={self.folder}/slurm.conf exec {shutil.which("srun", path=SEARCH)} "$@"'
        waits = "".join(f"{node}) sleep 3 ;; " for node in self.slow)
        for program, text in (("srun", srun), ("prolog", f"case $SLURMD_NODENAME in {waits}*) ;; esac")):
            (self.folder / "bin" / program).write_text(f"#!/bin/sh\n{text}\n")
            (self.folder / "bin" / program).chmod(0o755)

    def _write(self, name: str, entries: dict[str, object]) -> None:
        path = self.folder / name
        path.write_text("".join(f"{key}={value}\n" for key, value in entries.items()))
        path.chmod(0o600)  # slurmdbd refuses a password that others can read
