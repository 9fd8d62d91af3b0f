"""What workers print is bounded, whatever they print."""

from hypothesis import given
from hypothesis import strategies as st

from runtime.output import LINE_LIMIT_BYTES, LOGGED_BYTES_PER_SECOND, OUTPUT_TAIL_BYTES, BoundedOutput


@given(st.lists(st.tuples(st.binary(max_size=9000), st.floats(min_value=0, max_value=0.99)), max_size=20))
def test_a_second_logs_so_much_and_no_more(printed: list[tuple[bytes, float]]) -> None:
    output = BoundedOutput()
    lines = [line for data, moment in printed for line in output.receive(data, 5 + moment)]
    everything = b"".join(data for data, _ in printed)
    assert sum(len(line) for line in lines) <= LOGGED_BYTES_PER_SECOND
    assert all(len(line) <= LINE_LIMIT_BYTES for line in lines)
    assert output.received_bytes == len(everything)
    assert output.dropped_bytes == max(0, len(everything) - LOGGED_BYTES_PER_SECOND)
    assert output.tail == everything[-OUTPUT_TAIL_BYTES:].decode(errors="replace").strip()


def test_the_next_second_logs_again() -> None:
    output = BoundedOutput()
    assert output.receive(b"x\n" * LOGGED_BYTES_PER_SECOND, 1.0)
    assert output.receive(b"lost\n", 1.5) == []
    assert output.receive(b"heard\n", 2.0) == ["heard"]
