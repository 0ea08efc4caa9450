"""Messages of Arrow's formats, of which the library does not say whether they are compressed.

A message is a FlatBuffer: a table begins with the distance back to its vtable, which holds the
place of each field as u16, 0 if it is absent. Source: Arrow columnar format, Message.fbs.
"""

import struct

_HEADER_TYPE, _HEADER = 1, 2  # fields of Message
_DICTIONARY, _BATCH = 2, 3  # values of MessageHeader
_DATA, _COMPRESSION = 1, 3  # fields of DictionaryBatch and of RecordBatch


def is_compressed(message: bytes) -> bool:
    """True if the body of a batch of rows, or of a dictionary, is compressed; raises struct.error
    or IndexError for what is no message."""
    table = struct.unpack_from("<I", message)[0]
    kind = _field(message, table, _HEADER_TYPE)
    if kind is None or message[kind] not in (_DICTIONARY, _BATCH):
        return False
    batch = _table(message, table, _HEADER)
    if batch is not None and message[kind] == _DICTIONARY:
        batch = _table(message, batch, _DATA)
    return batch is not None and _field(message, batch, _COMPRESSION) is not None


def _field(data: bytes, table: int, number: int) -> int | None:
    """Find the position of a field of a table; None if it is absent."""
    vtable = table - struct.unpack_from("<i", data, table)[0]
    if vtable < 0 or 4 + 2 * number >= struct.unpack_from("<H", data, vtable)[0]:
        return None
    at = struct.unpack_from("<H", data, vtable + 4 + 2 * number)[0]
    return table + at if at else None


def _table(data: bytes, table: int, number: int) -> int | None:
    """Find the position of the table that a field refers to; None if it is absent."""
    at = _field(data, table, number)
    return None if at is None else at + int(struct.unpack_from("<I", data, at)[0])
