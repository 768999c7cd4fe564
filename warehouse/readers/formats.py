"""What a reader is: of files whose rows say what they are of, or of a layout whose files are one thing."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from warehouse.database.stage import Stage
from warehouse.readers.claims import Claim, Given
from warehouse.readers.contents import Content
from warehouse.readers.records import Records


class RecordReader(Protocol):
    """One file format whose rows say what they are of.

    name: also kept as provenance; it changes when the reader begins to read the same bytes differently.
    """

    name: str

    def claim(self, path: Path, head: Sequence[str], given: Given) -> Claim | str | None:
        """The claim; or why this reader knows the file but takes nothing from it; or None where it is not its own.

        head: the first lines, unpacked and decoded (no line ends); empty where the file is no text.
        """
        ...

    def parse(self, data: bytes, claim: Claim, given: Given) -> Records:
        """The rows of the whole file. data: its bytes, unpacked. Faults are in the answer; nothing is raised."""
        ...


class Reader(Protocol):
    """A layout whose files are one thing with many parts; it lays them out on the stage itself.

    name: also kept as provenance; it changes when the reader begins to read the same bytes differently.
    """

    name: str

    def claim(self, path: Path) -> Claim | str | None:
        """The claim; or why this reader knows the file but takes nothing from it; or None where it is not its own."""
        ...

    def read(self, contents: Sequence[Content], stage: Stage) -> None:
        """Lay what the files bring to `stage.evalset` out in the stage.

        contents: all files of this reader that are to be read, those with faults in their bytes included.
        Faults go to `stage.fault`; nothing is raised for them.
        """
        ...
