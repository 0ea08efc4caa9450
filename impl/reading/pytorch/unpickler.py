"""Read a pickle without running anything that it names.

The opcodes are those of `pickletools`, which decodes their arguments and executes nothing; here
they move plain values on a stack. A name of code becomes an `Inert` object, which cannot be called:
to reduce, create or build one gives another inert object, unless the caller rebuilds it by that
name. Of the keys of dictionaries only text and numbers are hashed: a tuple of tuples could take
exponential time, or the stack of C. Source: Python's pickletools, which documents every opcode.
"""

import pickletools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import IO, Any

from torch import Tensor

from rnnbounds.impl.reading.recognition.inert import Inert

MOST_OPCODES = 2**22  # some seconds
_VALUES = frozenset(
    "INT BININT BININT1 BININT2 LONG LONG1 LONG4 FLOAT BINFLOAT STRING BINSTRING SHORT_BINSTRING "
    "UNICODE BINUNICODE SHORT_BINUNICODE BINUNICODE8 BINBYTES SHORT_BINBYTES BINBYTES8 "
    "BYTEARRAY8".split()
)
_NEW: dict[str, Callable[[], object]] = {
    "NONE": lambda: None, "NEWTRUE": lambda: True, "NEWFALSE": lambda: False,
    "EMPTY_TUPLE": tuple, "EMPTY_LIST": list, "EMPTY_DICT": dict,
    "EMPTY_SET": lambda: Inert("builtins.set"),
}  # fmt: skip
_LONGEST_KEY = 2**63  # a larger whole number takes long to print
_SCRIPTED, _PACKED = "__torch__.", "__torch__.torch.classes."  # modules, but not packed weights
_RUNS = {"os", "posix", "nt", "sys", "subprocess", "importlib", "runpy", "pty", "shutil", "socket"}
_BUILTINS = {"eval", "exec", "compile", "open", "print", "input", "__import__", "breakpoint"}


class CodeError(Exception):
    """A pickle that names a function which no weights need, say os.system: args[0] is the name."""


class Scripted(dict[str, object]):
    """A module of TorchScript: its tensors and its modules by the names of their attributes."""


def run_pickle(
    data: bytes | IO[bytes],
    rebuild: Mapping[str, Callable[..., object]],
    load: Callable[[Any], object],
) -> object:
    """The object of a pickle, with `rebuild[name](*args)` for what is reduced by that name and
    `load(id)` for persistent ids; a stream is read up to the end of the pickle. Raises CodeError,
    and any exception for a damaged pickle."""
    return _Machine(rebuild, load).run(data)


class _Machine:
    """A stack machine for the opcodes of a pickle."""

    def __init__(
        self, rebuild: Mapping[str, Callable[..., object]], load: Callable[[Any], object]
    ) -> None:
        self._rebuild, self._load = rebuild, load
        self._stack: list[Any] = []
        self._marked: list[list[Any]] = []
        self._memo: dict[int, Any] = {}

    def run(self, data: bytes | IO[bytes]) -> object:
        for count, (opcode, arg, _) in enumerate(pickletools.genops(data)):
            if count == MOST_OPCODES:
                raise ValueError(f"more than {MOST_OPCODES} opcodes")
            if opcode.name in _VALUES:
                self._stack.append(arg)
            elif opcode.name in _NEW:
                self._stack.append(_NEW[opcode.name]())
            elif opcode.name not in ("PROTO", "FRAME", "STOP"):
                self._act(opcode.name, arg)
        return self._stack.pop()

    def _act(self, name: str, arg: Any) -> None:
        stack, pop = self._stack, self._stack.pop
        match name:
            case "PUT" | "BINPUT" | "LONG_BINPUT":
                self._memo[arg] = stack[-1]
            case "MEMOIZE":
                self._memo[len(self._memo)] = stack[-1]
            case "GET" | "BINGET" | "LONG_BINGET":
                stack.append(self._memo[arg])
            case "MARK":
                self._marked.append(stack)
                self._stack = []
            case "TUPLE" | "LIST" | "DICT" | "FROZENSET":
                held = self._since_mark()
                self._stack.append(_COLLECTED[name](held))
            case "TUPLE1" | "TUPLE2" | "TUPLE3":
                size = int(name[-1])
                stack[-size:] = [(*_last(stack, size),)]
            case "APPEND" | "SETITEM":
                size = 1 if name == "APPEND" else 2
                items = _last(stack, size)
                del stack[-size:]
                _ADD[name](stack[-1], items)
            case "APPENDS" | "SETITEMS" | "ADDITEMS":
                held = self._since_mark()
                _ADD[name.removesuffix("S")](self._stack[-1], held)
            case "POP":
                self._stack = self._marked.pop() if not stack else stack[:-1]
            case "POP_MARK":
                self._since_mark()
            case "DUP":
                stack.append(stack[-1])
            case "GLOBAL":
                stack.append(_named(*arg.split(" ", 1)))
            case "STACK_GLOBAL":
                own, module = pop(), pop()
                stack.append(_named(str(module), str(own)))
            case "INST" | "OBJ":
                held = self._since_mark()
                named = _named(*arg.split(" ", 1)) if name == "INST" else held[0]
                self._stack.append(_created(named))
            case "REDUCE":
                args, function = pop(), pop()
                stack.append(self._reduced(function, args))
            case "NEWOBJ" | "NEWOBJ_EX":
                del stack[-1 if name == "NEWOBJ" else -2 :]
                stack.append(_created(pop()))
            case "BUILD":
                state = pop()
                if type(stack[-1]) is Scripted:
                    stack[-1].update(_attributes(state))
            case "BINPERSID":
                stack.append(self._load(pop()))
            case _:
                raise ValueError(f"opcode {name}")

    def _since_mark(self) -> list[Any]:
        """Remove and return what was pushed since the last mark."""
        items, self._stack = self._stack, self._marked.pop()
        return items

    def _reduced(self, function: object, args: object) -> object:
        if type(function) is not Inert or type(args) is not tuple:
            raise ValueError("a call of what is no function")
        rebuild = self._rebuild.get(function.name)
        return Inert(function.name) if rebuild is None else rebuild(*args)


def _named(module: str, name: str) -> Inert:
    """The inert object of a name of code; raises CodeError for one that could only do harm."""
    home = module.partition(".")[0]
    if home in ("builtins", "__builtin__"):
        if name in _BUILTINS:
            raise CodeError(name)
    elif home in _RUNS:
        raise CodeError(f"{module}.{name}")
    return Inert(f"{module}.{name}")


def _created(kind: object) -> Inert | Scripted:
    if type(kind) is not Inert:
        raise ValueError("an object of what is no class")
    scripted = kind.name.startswith(_SCRIPTED) and not kind.name.startswith(_PACKED)
    return Scripted() if scripted else Inert(kind.name)


def _last(stack: Sequence[Any], size: int) -> Sequence[Any]:
    if len(stack) < size:
        raise ValueError("an empty stack")
    return stack[-size:]


def _append(target: object, items: Iterable[object]) -> None:
    """Add to a list; an inert object takes anything and keeps nothing."""
    if type(target) is list:
        target.extend(items)
    elif type(target) is not Inert:
        raise ValueError("an item of what is no list")


def _set_items(target: object, items: Sequence[object]) -> None:
    """Set keys of a dictionary to values, each key followed by its value."""
    if type(target) is dict:
        for key, value in zip(items[::2], items[1::2], strict=True):
            target[_key(key, len(target))] = value
    elif type(target) is not Inert:
        raise ValueError("a key of what is no dictionary")


def _key(key: object, place: int) -> object:
    """A key that is text or a number as it is, another one as text that has no dot."""
    if type(key) in (str, bool, float, bytes, type(None)):
        return key
    if type(key) is int and abs(key) < _LONGEST_KEY:
        return key
    return f"<{type(key).__name__} {place}>"


def dictionary(items: Sequence[object]) -> dict[Any, object]:
    """The dictionary of keys, each followed by its value."""
    made: dict[Any, object] = {}
    _set_items(made, items)
    return made


def _attributes(state: object) -> dict[str, object]:
    """Attributes of a module of TorchScript that are weights, or may be.

    Left out are flags, whole numbers, texts, and the lists of torch's layers that repeat their
    tensors or name them.
    """
    if type(state) is not dict:
        raise ValueError("a module without attributes")
    held = {id(value) for value in state.values() if isinstance(value, Tensor)}
    return {
        str(name): value
        for name, value in state.items()
        if not (
            type(value) in (bool, int, str, type(None))
            or name in ("_flat_weights_names", "_all_weights")
            or (name == "_flat_weights" and type(value) is list and {*map(id, value)} <= held)
        )
    }


_COLLECTED: dict[str, Callable[[list[Any]], object]] = {
    "TUPLE": tuple, "LIST": list, "DICT": dictionary,
    "FROZENSET": lambda _: Inert("builtins.frozenset"),
}  # fmt: skip
_ADD: dict[str, Callable[[Any, Sequence[Any]], None]] = {
    "APPEND": _append, "SETITEM": _set_items, "ADDITEM": _append,
}  # fmt: skip
