"""The organisers' folder layout: documents, texts, human and metric scores of a test set, one file each."""

from collections.abc import Sequence
from pathlib import Path

from warehouse.database.stage import Stage
from warehouse.facts.languages import language_pair_called
from warehouse.names import LanguagePair
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.contents import Content
from warehouse.readers.mtme.lines import lines_alone, note_system, read_documents, read_texts
from warehouse.readers.mtme.place import (
    SCORE_FOLDERS,
    TEXT_FOLDERS,
    Place,
    counts_segments,
    declared_systems,
    locate,
    places,
    testset_of,
)
from warehouse.readers.mtme.ratings import read_ratings
from warehouse.readers.mtme.scores import read_scores

NAME = "mtme/1"


class MtmeReader:
    """Reader of the organisers' layout."""

    name = NAME

    def claim(self, path: Path, given: LoadHints) -> Claim | str | None:
        located = locate(path)
        if located is None:
            return None
        root, folder = located
        if folder == "metadata":
            return "metadata of the organisers' layout: holds no scores"
        try:
            all_places = places(root, path)
            lps = [str(LanguagePair.parse(place.lp)) for place in all_places]
        except ValueError as error:
            return str(error)
        place = all_places[0]
        testset = testset_of(root)
        companion = place.companion
        documents = (root / "documents" / f"{one.lp}.docs" for one in all_places)
        needs = [*documents, *([root / companion] if companion else [])]
        return Claim(
            path,
            self.name,
            f"{testset}/{path.relative_to(root).as_posix()}",
            tuple((testset, lp) for lp in lps),
            human=place.name if place.folder == "human-scores" else None,
            needs=tuple(needed for needed in needs if needed != path and needed.is_file()),
            is_text=place.folder in TEXT_FOLDERS,
            declares=place.declares,
            companion=f"{testset}/{companion.as_posix()}" if companion else None,
            is_annotation=place.is_annotation,
            folder=root,
        )

    def read(self, contents: Sequence[Content], stage: Stage) -> None:
        placed = [(content, _place_in(content, stage)) for content in contents]
        for root, lp in {(content.claim.root, place.lp) for content, place in placed}:
            stage.declare_systems(declared_systems(root, lp))
        for content, place in placed:
            if place.folder in ("references", "system-outputs"):
                note_system(content, place, stage)  # the system exists, even where its text turns out faulty
        documents = read_documents([content for content, place in placed if place.folder == "documents"], stage)
        sound = [(content, place) for content, place in placed if not content.faults]
        if documents == () and not stage.evalset.is_declared:
            documents = lines_alone((content for content, place in sound if counts_segments(place)), stage)
        for content, place in sound:
            if place.folder in TEXT_FOLDERS:
                read_texts(content, place, documents, stage)
        in_folders = [(content, place) for content, place in sound if place.folder in SCORE_FOLDERS]
        read_scores([(content, place) for content, place in in_folders if not place.is_annotation], documents, stage)
        for content, place in in_folders:
            if place.is_annotation:
                read_ratings(content, place, documents, stage)


def _place_in(content: Content, stage: Stage) -> Place:
    """A file's place in the layout, for the evaluation set of a stage."""
    found = places(content.claim.root, content.claim.path)
    return next((one for one in found if language_pair_called(one.lp) == stage.evalset.lp), found[0])


__all__ = ["NAME", "MtmeReader"]
