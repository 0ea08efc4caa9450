"""The blocks of an HDF5 file of the first format, which h5py and Keras write: read without a parser
in C, in which a damaged file may not end.

An object is a header of messages: of a group, where its table of links stands; of an array, its
shape, type and place; and its attributes. Every read is within the file, and no block is read
twice on one way. Source: HDF5 File Format Specification 3.0, superblock 0, II.A to IV.A.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from rnnbounds.impl.errors import InputError

MAGIC = b"\x89HDF\r\n\x1a\n"
_MOST = 2**14  # messages of one object, links of one group
_LARGEST = 2**20  # bytes of the messages of one object
_LONGEST = 2**10  # bytes of a name
_CONTINUED, _SOFT = 0x10, 2


class BlockError(InputError):
    """A file that is no HDF5 file of the first format, or is damaged."""

    def __init__(self, what: str) -> None:
        super().__init__(f"the HDF5 file {what}; save the model again with Keras")


@dataclass(frozen=True, eq=False)
class Blocks:
    """The bytes of a file, and how its blocks are read; raises BlockError."""

    data: bytes
    _texts: dict[int, dict[int, bytes]] = field(default_factory=dict)

    @cached_property
    def root(self) -> int:
        """The position of the header of the root group."""
        if not self.data.startswith(MAGIC):
            raise BlockError("does not begin as one")
        if self.unpack("<BxxxxBB", 8) != (0, 8, 8) or self.unpack("<Q", 24) != (0,):
            raise BlockError("is damaged, or not of the format that h5py writes by default")
        return self.unpack("<Q", 64)[0]

    def unpack(self, layout: str, at: int) -> tuple[int, ...]:
        """The numbers that stand there."""
        try:
            return struct.unpack_from(layout, self.data, at)
        except (struct.error, OverflowError):
            raise BlockError("ends too soon") from None

    def check(self, signature: bytes, at: int, what: str) -> None:
        """Raise BlockError unless a block begins there with that signature."""
        if self.data[at : at + 4] != signature:
            raise BlockError(what)

    def bytes_at(self, at: int, size: int) -> bytes:
        """So many bytes that stand there."""
        if at + size > len(self.data):
            raise BlockError("ends too soon")
        return self.data[at : at + size]

    def messages(self, at: int) -> list[tuple[int, int, bytes]]:
        """The messages (type, flags, content) of the object whose header stands there."""
        version, _, first = self.unpack("<BxHxxxxI", at)
        if version != 1:
            raise BlockError("has objects of a newer format than h5py writes by default")
        found, blocks, total = [], [(at + 16, first)], 0
        while blocks:
            at, size = blocks.pop(0)
            end = at + size
            while at + 8 <= end:
                kind, length, flags = self.unpack("<HHB", at)
                content = self.bytes_at(at + 8, length)
                if kind == _CONTINUED:
                    blocks.append(struct.unpack_from("<QQ", content.ljust(16, b"\0")))
                found.append((kind, flags, content))
                at += 8 + length
                total += length
                if total > _LARGEST or len(found) > _MOST:
                    raise BlockError("has a header without an end")
        return found

    def links(self, tree: int, heap: int) -> dict[str, int | None]:
        """The positions of the objects of a group, by name; None for a soft link."""
        self.check(b"HEAP", heap, "has a group without names")
        (segment,) = self.unpack("<Q", heap + 24)
        found: dict[str, int | None] = {}
        for node in self._leaves(tree):
            self.check(b"SNOD", node, "has a damaged group")
            (count,) = self.unpack("<H", node + 6)
            for i in range(count):
                name, header, kind = self.unpack("<QQI", node + 8 + 40 * i)
                held = self.data[segment + name : segment + name + _LONGEST]
                text = held.partition(b"\0")[0].decode()
                if text in found or len(found) > _MOST:
                    raise BlockError("has two objects of one name, or too many")
                found[text] = None if kind == _SOFT else header
        return found

    def _leaves(self, tree: int) -> Iterator[int]:
        """The tables of links under a node of a tree, in their order."""
        nodes, seen = [tree], 0
        while nodes:
            node = nodes.pop()
            seen += 1
            self.check(b"TREE", node, "has a damaged group")
            kind, level, count = self.unpack("<BBH", node + 4)
            if kind or seen > _MOST:
                raise BlockError("has a damaged group")
            children = [self.unpack("<Q", node + 32 + 16 * i)[0] for i in range(count)]
            if level:
                nodes += reversed(children)
            else:
                yield from children

    def text(self, at: int, index: int) -> bytes:
        """An object of the collection of the global heap that stands there, in which texts are."""
        if at not in self._texts:
            self._texts[at] = dict(self._collection(at))
        if index not in self._texts[at]:
            raise BlockError("has a text that is nowhere")
        return self._texts[at][index]

    def _collection(self, at: int) -> Iterator[tuple[int, bytes]]:
        """The objects of a collection, by their numbers."""
        self.check(b"GCOL", at, "has a text that is nowhere")
        end = min(at + self.unpack("<Q", at + 8)[0], len(self.data))
        at += 16
        while at + 16 <= end:
            index, length = self.unpack("<HxxxxxxQ", at)
            if not index:  # the rest is free
                return
            yield index, self.bytes_at(at + 16, length)
            at += 16 + (length + 7 & ~7)
