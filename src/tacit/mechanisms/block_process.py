"""Black boxes on blocks, each in a fresh process that has seen no other block. Private: the rows.

A server process loads the program once and holds no row. For every block it forks a child; the rows go to the child
through a socket of its own, and its numbers come back as raw bytes of a declared length. Whatever else a child prints,
raises or returns is discarded. Proof: proofs/mechanisms/block_process.md.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.contract.block_query import LARGEST, BlackBox
from tacit.errors import SettingError
from tacit.mechanisms.jackknife import jackknifed

Floats = NDArray[np.float64]
HEADER = struct.Struct("<qqqqdq")
"""Rows, columns, size of the result, groups of the jackknife, seconds, and bytes of memory."""
LENGTH = struct.Struct("<q")
WALL, EXTRA = 4.0, 1.0
"""A block may take WALL·seconds + EXTRA of time by the clock: a program that sleeps uses up no processor time."""
GRACE = 20.0
"""Seconds after which a child that ignores its alarm is given up."""
TRIES, PAUSE, BUSY = 3, 0.1, b"!"
"""How often a process is asked for, or a block run again whose server died. A server short of memory answers BUSY."""
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_SERVER = "import sys; from tacit.mechanisms.block_process import serve; serve(int(sys.argv[1]))"


def _receive(stream: socket.socket, count: int) -> bytes:
    """Read so many bytes, or fewer where the stream ends."""
    found = bytearray()
    while len(found) < count and (part := stream.recv(min(count - len(found), 1 << 20))):
        found += part
    return bytes(found)


class BlockProcesses:
    """Runs a program on blocks; a context manager, which ends every process that it started.

    Guarantee: a block's answer is `size` finite numbers: those of the program, or the default. Nothing that happens in
    one block's process reaches another's, unless the program itself leaves something behind.
    """

    def __init__(self, function: BlackBox) -> None:
        if not hasattr(os, "fork"):
            raise SettingError("Black boxes need an operating system with fork, such as Linux or macOS.")
        self._function, self._lock = function, threading.Lock()
        self._server: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._ended = 0

    def _start(self) -> None:
        """Start a server, and wait until it has loaded the program."""
        self._end()
        self._control, theirs = socket.socketpair()
        environment = {**os.environ, **dict.fromkeys(_ONE_THREAD, "1")}
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        nothing = subprocess.DEVNULL
        self._server = subprocess.Popen(  # noqa: S603 - the interpreter that runs this
            [sys.executable, "-c", _SERVER, str(theirs.fileno())],
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
            env=environment,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
        theirs.close()
        with contextlib.suppress(OSError):
            self._control.sendall(LENGTH.pack(len(self._function.program)) + self._function.program)
            if _receive(self._control, 1) == b"+":
                return
        self._end()
        raise SettingError(
            "The program cannot be loaded in a process of its own. Its classes must be importable there, or defined in "
            "the script itself."
        )

    def _child(self) -> socket.socket:
        """A stream to a fresh process; a server that died is started again."""
        with self._lock:
            for _ in range(TRIES):
                if self._control is None:
                    self._start()
                ours, theirs = socket.socketpair()
                reply = b""
                with contextlib.suppress(OSError):
                    assert self._control is not None  # noqa: S101 - for the type checker
                    socket.send_fds(self._control, [b"."], [theirs.fileno()])
                    reply = _receive(self._control, 1)
                theirs.close()
                if reply == b".":
                    return ours
                ours.close()
                if reply == BUSY:
                    time.sleep(PAUSE)
                else:
                    self._end()
        raise OSError("no process")

    def answer(self, X: Floats, y: Floats) -> Floats:
        """The program's numbers for one block, or the default; run again where the server died meanwhile."""
        function, found = self._function, b""
        for _ in range(TRIES):
            ended = self._ended
            found = self._run(X, y)
            if len(found) == 8 * function.size or self._ended == ended:
                break
        numbers = np.frombuffer(found if len(found) == 8 * function.size else b"", dtype=np.float64)
        usable = len(numbers) > 0 and bool((np.abs(numbers) <= LARGEST).all())
        return numbers if usable else np.array(function.default)

    def _run(self, X: Floats, y: Floats) -> bytes:
        """What comes back from a process of one block."""
        function = self._function
        header = HEADER.pack(*X.shape, function.size, function.groups, function.seconds, function.memory)
        # After the charge nothing is refused: a server that cannot be started again gives nothing back.
        with contextlib.suppress(OSError, SettingError), self._child() as stream:
            stream.settimeout(WALL * function.seconds + EXTRA + GRACE)
            stream.sendall(header + np.ascontiguousarray(X).tobytes() + np.ascontiguousarray(y).tobytes())
            stream.shutdown(socket.SHUT_WR)
            return _receive(stream, 8 * function.size + 1)
        return b""

    def _end(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
            self._ended += 1
        if self._server is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                # Its children too, which are in its group.
                os.killpg(self._server.pid, signal.SIGKILL)
            self._server.wait()
            self._server = None

    def __enter__(self) -> Self:
        with self._lock:
            self._start()
        return self

    def __exit__(self, *error: object) -> None:
        self._end()


def serve(descriptor: int) -> None:
    """Load a program, and fork a child for every stream that is handed over."""
    control = socket.socket(fileno=descriptor)
    (length,) = LENGTH.unpack(_receive(control, LENGTH.size))
    program = pickle.loads(_receive(control, length))  # noqa: S301 - the user's own program, from this session
    # Children are not waited for: the system reaps them.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    loaded = address_space()
    control.sendall(b"+")
    while True:
        message, descriptors, *_ = socket.recv_fds(control, 1, 1)
        if not message:
            return
        try:
            child = os.fork()
        except OSError:
            # No memory or no process is free at this moment: the others go on.
            os.close(descriptors[0])
            control.sendall(BUSY)
            continue
        if child == 0:
            try:
                control.close()
                run_block(program, socket.socket(fileno=descriptors[0]), loaded)
            finally:
                os._exit(0)
        os.close(descriptors[0])
        control.sendall(b".")


def address_space() -> int | None:
    """Bytes of this process's address space; None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def run_block(program: Any, stream: socket.socket, loaded: int | None = None) -> None:
    """Read a block, run the program on it and send its numbers back; nothing else leaves, whatever happens.

    `loaded` is the address space of a process that has the program and no row.
    """
    import resource

    rows, columns, size, groups, seconds, memory = HEADER.unpack(_receive(stream, HEADER.size))
    if loaded is not None:
        # Before the rows are read: they count too. An allocation beyond it fails, in this process alone.
        resource.setrlimit(resource.RLIMIT_AS, (loaded + memory, loaded + memory))
    most = int(np.ceil(seconds))
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.setitimer(signal.ITIMER_REAL, WALL * seconds + EXTRA)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    warnings.simplefilter("ignore")
    try:
        X = np.frombuffer(bytearray(_receive(stream, 8 * rows * columns))).reshape(rows, columns)
        y = np.frombuffer(bytearray(_receive(stream, 8 * rows)))
        found = jackknifed(lambda mask: np.asarray(program(X[mask], y[mask]), dtype=np.float64).ravel(), rows, groups)
        if found.shape == (size,):
            stream.sendall(found.tobytes())
    except BaseException:  # noqa: BLE001, S110 - an exception would tell of the block: the default is its answer
        pass
