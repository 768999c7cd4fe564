"""Files read in pieces of whole lines."""

from warehouse.readers.text.bytes import whole_lines


def test_pieces_are_whole_lines_and_together_all_of_it() -> None:
    data = b"one\ntwo and more\n\nthree"
    for size in range(1, len(data) + 1):
        pieces = list(whole_lines(data[start : start + size] for start in range(0, len(data), size)))
        assert b"".join(pieces) == data
        assert all(piece.endswith(b"\n") for piece in pieces[:-1])
