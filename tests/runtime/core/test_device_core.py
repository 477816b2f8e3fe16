"""Lanes and sinks: what records print becomes pairs as the C program's stdout is cut into lines, in any order of lanes."""

from __future__ import annotations

import random

import pytest

from .core_module import ORDERS, Module, Order, Task, Written, struct, u32, u64, zeros

OK, ARENA_FULL, PAIRS_FULL, EXIT_CALLED, UNTERMINATED, CARRIAGE_RETURN = 0, 1, 2, 3, 5, 6
ARENA_CHUNK, SLOT_CHUNK = 32768, 256  # runtime/device/steps/kernels.h

Call = tuple[str, bytes]


def script(*calls: Call) -> bytes:
    return b"".join(call.encode() + len(data).to_bytes(2, "little") + data for call, data in calls)


def number(value: int) -> bytes:
    return b"n" + value.to_bytes(2, "little")


def expected(records: list[list[Call]]) -> list[Written]:
    """Line by line, as Hadoop Streaming would cut each record's output."""
    found = []
    for item, calls in enumerate(records):
        sequence, waiting = 0, b""
        for call, data in calls:
            if call == "w":
                lines = [(data, True)] if data else []
            else:
                *whole, waiting = (waiting + data).split(b"\n")
                lines = [(line, False) for line in whole]
            for line, stderr in lines:
                key = len(line) if stderr else len(line.split(b"\t")[0])
                found.append(Written(item, sequence, line, key, stderr))
                sequence += 1
        assert not waiting
    return found


def run(
    core: Module, task: Task, order: Order = ORDERS[0], sink: str = "cursor", *, blocks: int = 3, threads: int = 32,
) -> Task:
    core.launch(f"print_by_{sink}", task.argument(), blocks=blocks, threads=threads, order=order)
    task.check_memory()
    return task


def random_calls(rng: random.Random, longest: int) -> list[Call]:
    calls: list[Call] = []
    for _ in range(rng.randrange(6)):
        alphabet = rng.choice([b"ab\t", b"ab\t\n\0\xff ", b"\n", b"x\n", bytes(b for b in range(256) if b != 13)])
        data = bytes(rng.choices(alphabet, k=rng.randrange(rng.choice([2, 8, longest]))))
        calls.append((rng.choice("ppp2w"), data))
    calls.append((rng.choice("p2"), rng.choice([b"\n", b"end\n", b"k\tv\tw\n"])))
    return calls


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_output_is_one_stream_cut_at_newlines(core: Module, order: Order) -> None:
    rng = random.Random(str(order))
    records = [random_calls(rng, 300) for _ in range(200)]
    task = run(core, Task([script(*calls) for calls in records], pair_slots=len(expected(records)) + 3 * SLOT_CHUNK), order)
    assert task.status == OK
    assert task.written() == expected(records)


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_thread_areas_give_the_same_pairs(core: Module, order: Order) -> None:
    rng = random.Random(str(order))
    records = [random_calls(rng, 50) for _ in range(50)]
    slots = max(len(expected(records)), sum(len(calls) for calls in records))  # one lane may do them all
    task = Task([script(*calls) for calls in records], slots_per_thread=slots, slot_bytes=512,
                arena_bytes=6 * slots * 512, pair_slots=6 * slots)
    run(core, task, order, "thread", blocks=2, threads=3)
    assert task.status == OK
    assert task.written() == expected(records)


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("items", [0, 1, 2, 7, 100])
def test_a_block_s_threads_take_its_share_and_no_other(core: Module, order: Order, items: int) -> None:
    records = [[("p", b"%d\n" % i)] for i in range(items)]
    blocks, threads, slots = 3, 4, 100
    task = Task([script(*calls) for calls in records], slots_per_thread=slots, slot_bytes=16, pair_slots=12 * slots,
                areas=12)
    core.launch("print_in_blocks", task.argument(), blocks=blocks, threads=threads, order=order)
    task.check_memory()
    assert task.status == OK and task.written() == expected(records) and task.next.items[0] == 0
    used = task.area_slots.list() if task.area_slots else []
    for block in range(blocks):
        share = range(items * block // blocks, items * (block + 1) // blocks)
        first = block * threads * slots
        found = {pair.item for pair in task.pairs.list()[first : first + threads * slots]} - {0xFFFFFFFF}
        assert found == set(share) and sum(used[block * threads : (block + 1) * threads]) == len(share)


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_one_thread_of_a_warp_works_in_the_warp_s_area(core: Module, order: Order) -> None:
    records = [[("p", b"%d\n" % i)] * 3 for i in range(40)]
    task = Task([script(*calls) for calls in records], slots_per_thread=120, slot_bytes=16, pair_slots=480, areas=4)
    core.launch("print_by_warp", task.argument(), blocks=2, threads=64, order=order)
    task.check_memory()
    assert task.status == OK and task.written() == expected(records)
    assert task.area_slots is not None and sum(task.area_slots.list()) == 120
    assert task.next.items[0] == 40 + 4, "four threads asked, no others"


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_many_chunks_are_handed_out_without_overlap(core: Module, order: Order) -> None:
    rng = random.Random(7)
    records = [random_calls(rng, 9000) for _ in range(80)] + [[("p", b"x" * 40000 + b"\n")], [("p", b"y" * 4063 + b"\n")]]
    lines = expected(records)
    task = Task([script(*calls) for calls in records], arena_bytes=24 << 20, pair_slots=len(lines) + 3 * SLOT_CHUNK)
    run(core, task, order)
    assert task.status == OK and task.arena_used.items[0] > 12 * ARENA_CHUNK and task.pairs_used.items[0] >= 6 * SLOT_CHUNK
    assert task.written() == lines


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_a_chunk_that_all_lanes_want_is_fetched_once(core: Module, order: Order) -> None:
    records = [[("p", b"%d\t" % i + b"z" * 1000 + b"\n")] * 3 for i in range(256)]
    task = Task([script(*calls) for calls in records], arena_bytes=4 << 20, pair_slots=5 * SLOT_CHUNK)
    run(core, task, order, blocks=1, threads=256)
    size = sum(len(data) for calls in records for _, data in calls)
    assert task.status == OK and size <= task.arena_used.items[0] <= size * 32 // 31 + ARENA_CHUNK
    assert task.pairs_used.items[0] == 3 * SLOT_CHUNK
    assert task.written() == expected(records)


def test_what_print_returns_and_numbers(core: Module) -> None:
    task = run(core, Task([number(0) + number(65535), number(7)]))
    assert [(w.item, w.line) for w in task.written()] == [(0, b"0"), (0, b"65535"), (1, b"7")]


def test_text_that_waits_is_joined_however_often(core: Module) -> None:
    pieces = [bytes([97 + i % 26]) * (i % 40) for i in range(400)]
    calls = [("p", piece) for piece in pieces] + [("p", b"\tvalue\nnext\t"), ("w", b"aside"), ("p", b"line\n")]
    task = run(core, Task([script(*calls)]))
    assert task.status == OK and task.written() == expected([calls])
    assert task.arena_used.items[0] <= 3 * ARENA_CHUNK  # the room doubles: moved text costs no more than the text


@pytest.mark.parametrize("sink", ["cursor", "thread"])
@pytest.mark.parametrize(("calls", "status"), [
    ([("p", b"no end")], UNTERMINATED),
    ([("p", b"line\nno end")], UNTERMINATED),
    ([("p", b"a"), ("p", b"\n"), ("2", b"xy")], UNTERMINATED),
    ([("p", b"dos\r\n")], CARRIAGE_RETURN),
    ([("2", b"d\ros\n")], CARRIAGE_RETURN),
    ([("p", b"a"), ("p", b"b\r"), ("p", b"\n")], CARRIAGE_RETURN),
    ([("w", b"dos\r\n"), ("w", b"open")], OK),
    ([("p", b""), ("2", b""), ("w", b"")], OK),
])
@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_records_that_are_left_to_the_cpu(core: Module, sink: str, calls: list[Call], status: int, order: Order) -> None:
    plain = script(("p", b"fine\n"))
    records = [plain] * 20 + [script(*calls)] + [plain] * 20
    task = Task(records, slots_per_thread=64, slot_bytes=64, arena_bytes=96 * 64 * 64, pair_slots=96 * 64)
    run(core, task, order, sink)
    assert task.status == status
    assert task.failure.items[1] == (20 if status else 0)


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_the_first_failure_wins_and_the_launch_ends(core: Module, order: Order) -> None:
    records = [script(("p", b"before\n")) + b"f" + (1000 + i).to_bytes(2, "little") + script(("p", b"after\n"))
               for i in range(500)]
    task = run(core, Task(records), order)
    status, item, detail = task.failure.items[:3]
    assert status == EXIT_CALLED and detail == 1000 + item
    assert {w.line for w in task.written()} == {b"before"}
    assert task.next.items[0] <= 96  # the lanes do not go on to other records


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_no_room_for_text(core: Module, order: Order) -> None:
    records = [script(*[("p", b"x" * 100 + b"\n")] * 20) for _ in range(200)]
    task = run(core, Task(records, arena_bytes=6 * ARENA_CHUNK), order)
    assert task.status == ARENA_FULL and task.arena_used.items[0] > 6 * ARENA_CHUNK
    small = run(core, Task(records, arena_bytes=100), order)
    assert small.status == ARENA_FULL and small.written() == []
    large = run(core, Task([script(("p", b"y" * 50000 + b"\n"))], arena_bytes=ARENA_CHUNK), order)
    assert large.status == ARENA_FULL and large.arena_used.items[0] >= 50000


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_no_room_for_pairs(core: Module, order: Order) -> None:
    records = [script(("p", b"\n" * 20)) for _ in range(100)]
    task = run(core, Task(records, pair_slots=4 * SLOT_CHUNK), order)
    assert task.status == PAIRS_FULL and task.pairs_used.items[0] > 4 * SLOT_CHUNK
    none = run(core, Task(records, pair_slots=0), order)
    assert none.status == PAIRS_FULL


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_an_exact_fit_is_enough(core: Module, order: Order) -> None:
    records = [[("p", b"k\tv\n")]] * 64
    task = Task([script(*calls) for calls in records], arena_bytes=2 * ARENA_CHUNK, pair_slots=2 * SLOT_CHUNK)
    run(core, task, order, blocks=2)
    assert task.status == OK and task.written() == expected(records)


def test_thread_areas_hold_slots_of_one_size(core: Module) -> None:
    def area(record: bytes) -> int:
        task = Task([record], slots_per_thread=3, slot_bytes=16, arena_bytes=192, pair_slots=12)
        return run(core, task, sink="thread", blocks=2, threads=2).status

    assert area(script(("p", b"123456789012345\n"))) == OK
    assert area(script(("p", b"1234567890123456\n"))) == ARENA_FULL
    assert area(script(*[("p", b"a\n")] * 3)) == OK
    assert area(script(*[("p", b"a\n")] * 4)) == PAIRS_FULL
    assert area(script(*[("p", b"a")] * 15, ("p", b"\n"))) == OK
    assert area(script(*[("p", b"a")] * 16, ("p", b"\n"))) == ARENA_FULL
    assert area(script(("p", b"a\nb\nc\n"))) == OK
    assert area(script(("p", b"a\nb\nc\nd\n"))) == PAIRS_FULL


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_items_are_taken_in_the_given_order_and_numbered_by_place(core: Module, order: Order) -> None:
    records = [[("p", b"%d\n" % i)] for i in range(50)]
    taken = list(range(50))
    random.Random(3).shuffle(taken)
    task = run(core, Task([script(*calls) for calls in records], taken=taken), order)
    assert task.status == OK and task.written() == expected(records)
    one = Task([script(*calls) for calls in records], taken=taken)
    run(core, one, order, blocks=1, threads=1)
    assert [pair.item for pair in one.pairs.list(50)] == taken  # a single lane: slots in the order of work


def test_a_combine_item_reads_its_range(core: Module) -> None:
    records = [[("p", b"%d\n" % i)] for i in range(10)]
    task = run(core, Task([script(*calls) for calls in records], begin=[0, 3, 4, 10]))
    lines = [(w.item, w.sequence, int(w.line)) for w in task.written()]
    assert task.status == OK
    assert lines == [(0, 0, 0), (0, 1, 1), (0, 2, 2), (1, 0, 3)] + [(2, i, 4 + i) for i in range(6)]


def test_no_items_at_all(core: Module) -> None:
    task = run(core, Task([]))
    assert task.status == OK and task.written() == [] and task.pairs_used.items[0] == 0


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("threads", [1, 33, 200])
def test_a_cursor_never_gives_a_place_twice(core: Module, order: Order, threads: int) -> None:
    """Chunks of 64 are used up so fast that lanes come too late for theirs."""
    chunk, turns, blocks = 64, 20, 3
    takes = blocks * threads * turns
    places, used, failure = zeros(u64, takes, 0xFF), zeros(u64, 1), zeros(u32, 4)
    size = takes * chunk  # more than enough, but for what late lanes forget
    core.launch("take_all", struct((u64, places), (u64, used), (u64, 2 * size), (u64, failure), (u32, turns), (u32, 0)),
                blocks=blocks, threads=threads, order=order)
    assert failure.items[0] == OK
    taken = bytearray(used.items[0])
    for number, place in enumerate(places.list()):
        wanted = 1 + number * 7 % chunk
        assert place % chunk + wanted <= chunk and not any(taken[place : place + wanted])
        taken[place : place + wanted] = b"\1" * wanted
