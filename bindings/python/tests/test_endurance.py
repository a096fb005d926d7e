"""Kills, shared syncs, memory."""

from __future__ import annotations

import multiprocessing
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import absent

from boswell_store import Store, text_of

# More of them run in a soak.
KILLS = int(os.environ.get("BOSWELL_KILLS", "12"))
CALLS = int(os.environ.get("BOSWELL_CALLS", "20000"))
WRITES = int(os.environ.get("BOSWELL_WRITES", "20"))

APPENDING = """
import asyncio, sys
from boswell_store import aio

async def main(home, start):
    store = await aio.Store.open(home)
    writer = await store.open_session("killed")
    async def one(number):
        receipt = await writer.append(
            {"role": "user", "content": f"number {number} " + "x" * 500, "id": f"e{number}"}
        )
        print(receipt.entry, flush=True)
    number = start
    while True:
        await asyncio.gather(*(one(number + at) for at in range(8)))
        number += 8

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


def test_no_acknowledged_entry_is_lost_when_the_process_is_killed(home: Path) -> None:
    rng = random.Random(int(os.environ.get("BOSWELL_SEED", "11")))
    acknowledged: set[str] = set()
    start = 0
    for _ in range(KILLS):
        command = [sys.executable, "-c", APPENDING, str(home), str(start)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        first = child.stdout.readline()
        time.sleep(rng.random() * 0.05)
        child.send_signal(signal.SIGKILL)
        lines = (first + child.stdout.read()).split("\n")
        child.wait()
        # The last line may have been cut by the kill.
        acknowledged.update(line for line in lines[:-1] if line)
        found = [entry.id for entry in Store.open(home).session("killed").entries()]
        assert len(found) == len(set(found))
        assert acknowledged <= set(found)
        start = 1 + max(int(id[1:]) for id in found if re.fullmatch(r"e\d+", id or ""))
    assert len(acknowledged) >= KILLS
    print(f"soak: Python, {KILLS} kills, {len(acknowledged)} acknowledged, 0 lost")


PROCESSES, THREADS = 3, 3


def write_from_threads(home: str, process: int) -> None:
    """Appends from threads of a process; the entries say who wrote them."""
    store = Store.open(home)

    def run(thread: int) -> None:
        writer = store.writer("shared", shared=True)
        for number in range(WRITES):
            text = f"{process}.{thread}.{number}"
            receipt = writer.append({"role": "user", "content": text})
            assert receipt.durability == "fsync"

    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(run, range(THREADS)))


def test_threads_of_several_processes_write_to_one_session(home: Path) -> None:
    Store.open(home).create(id="shared").release()
    context = multiprocessing.get_context("spawn")
    numbers = range(PROCESSES)
    writers = [context.Process(target=write_from_threads, args=(str(home), it)) for it in numbers]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(3600)
    assert [writer.exitcode for writer in writers] == [0] * PROCESSES
    texts = [text_of(message) for message in Store.open(home).session("shared").messages()]
    assert len(texts) == PROCESSES * THREADS * WRITES == len(set(texts))
    # Each thread's own entries are in its order.
    for writer in {text.rsplit(".", 1)[0] for text in texts}:
        own = [int(text.rsplit(".", 1)[1]) for text in texts if text.startswith(f"{writer}.")]
        assert own == list(range(WRITES))
    print(f"soak: Python, {PROCESSES} processes of {THREADS} threads, {len(texts)} entries, 0 lost")


AWAITING = """
import asyncio, sys
from boswell_store import aio

async def main(home, count):
    store = await aio.Store.open(home)
    writer = await store.create(id="s")
    await writer.append({"role": "user", "content": "first"})
    await asyncio.gather(
        *(writer.append({"role": "user", "content": str(n)}) for n in range(count))
    )

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


def syncs(home: Path, count: int) -> int:
    """How often a program syncs that awaits so many appends together."""
    trace = home.with_suffix(".trace")
    command = ["strace", "-f", "-qq", "-e", "trace=fsync,fdatasync", "-o", str(trace)]
    command += [sys.executable, "-c", AWAITING, str(home), str(count)]
    subprocess.run(command, check=True, timeout=120)
    return len(re.findall(r"\bf(?:data)?sync\(", trace.read_text()))


def test_appends_that_are_awaited_together_share_syncs(tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        absent("strace")
    alone = syncs(tmp_path / "alone", 0)
    together = syncs(tmp_path / "together", 64) - alone
    # One by one, 64 appends need 64 syncs.
    assert 1 <= together <= 64 // 4


FILLING = """
import sys
from boswell_store import BoswellError, Store

def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096

store = Store.open(sys.argv[1])
calls = int(sys.argv[2])
writer = store.create(id="s")
follower = store.follow("s")
sizes = []
for call in range(calls):
    writer.append({"role": "user", "content": "x" * 100}, durability="os")
    follower.poll()
    try:
        store.blobs.get("nonsense")
    except BoswellError:
        pass
    if call % 1000 == 999:
        # The writer keeps the ids of entries that were not synced yet.
        writer.flush()
    if call in (calls // 4, calls - 1):
        sizes.append(resident())
print(sizes[1] - sizes[0])
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="there is no /proc here")
def test_memory_does_not_grow_with_calls(home: Path) -> None:
    command = [sys.executable, "-c", textwrap.dedent(FILLING), str(home), str(CALLS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=3600)
    print(f"soak: Python, {CALLS} calls, {int(done.stdout)} bytes more after the first quarter")
    # Less than 20 bytes a call: nothing is kept for each of them.
    assert int(done.stdout) < max(20 * CALLS, 1 << 20)
