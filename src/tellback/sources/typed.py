"""The source of classes that were typed: in a notebook, at a prompt, in a doctest.

IPython, doctest and Python's newer prompts keep what was typed where tracebacks find it. A class
depends on the functions, classes and plain constants that it names too, and these on others.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import json
import linecache
import symtable
import sys
from collections.abc import Mapping
from functools import lru_cache
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from tellback.errors import SettingError
from tellback.sources.classes import codes, file_of, function_in, named
from tellback.sources.reach import is_library, is_ours
from tellback.sources.tree import digest_of

ADVICE = "Put it into a file and import it."


class Typed(NamedTuple):
    """What typed classes depend on: a text that changes with it, and modules in files."""

    text: str
    modules: frozenset[str]


def typed_source(classes: list[type]) -> Typed:
    """The source of classes and of all that they name."""
    found = _Collected(classes[0].__qualname__)
    for one in reversed(classes):  # bases as they were, even if their names now mean others
        found.add_class(one)
    lines = [f"{name} {text}" for name, text in sorted(found.parts.items())]
    return Typed("\n".join(lines), frozenset(found.modules))


class _Collected:
    """What was found, starting from a class."""

    def __init__(self, wanted: str) -> None:
        self.parts: dict[str, str] = {}
        self.modules: set[str] = set()
        self._wanted = wanted

    def add_class(self, defined: type) -> None:
        if (name := named(defined)) in self.parts:
            return
        self.parts[name] = ""
        functions = [value for value in map(_plain, vars(defined).values()) if value is not None]
        for code in codes(defined):
            segment = _segment(code.co_filename, code.co_firstlineno, defined.__name__)
            if segment is not None:
                scope = next((f.__globals__ for f in functions if f.__code__ is code), {})
                self._add(name, segment, scope)
                self._add_members(name, defined)
                return
        raise SettingError(
            f"{self._wanted} has no identity by which its results could be kept: the source of "
            f"{defined.__qualname__}, which was typed and not imported from a file, cannot be "
            f"found. {ADVICE}"
        )

    def _add_members(self, name: str, defined: type) -> None:
        """What a class has got from names that may mean something else since it was defined."""
        for member, value in vars(defined).items():
            if not member.startswith("__") and not member.startswith("_abc_"):
                self._add_value(f"{name}.{member}", _plain(value) or value)

    def _add_function(self, function: FunctionType, name: str) -> None:
        if (key := f"{name}()") in self.parts:
            return
        self.parts[key] = ""
        code = function.__code__
        segment = _segment(code.co_filename, code.co_firstlineno, function.__name__)
        if segment is None or set(code.co_freevars) - {"__class__"}:
            raise self._unknown(name, function)
        self._add(key, segment, function.__globals__)
        defaults = (function.__defaults__, function.__kwdefaults__)
        self.parts[f"{key} defaults"] = self._plain_text(name, defaults)

    def _add(
        self, name: str, segment: tuple[str, frozenset[str]], scope: Mapping[str, Any]
    ) -> None:
        self.parts[name] = segment[0]
        for used in sorted(segment[1]):
            if used in scope:
                self._add_value(used, scope[used])
            elif not hasattr(builtins, used):
                raise self._unknown(used, "nothing that can be found")

    def _add_value(self, name: str, value: Any) -> None:
        value = inspect.unwrap(getattr(value, "py_func", value))  # a compiled or wrapped function
        if isinstance(value, ModuleType):
            self.modules.add(value.__name__)
        elif isinstance(value, type):
            self._add_by_file(name, value, file_of(value))
        elif isinstance(value, FunctionType):
            module = sys.modules.get(value.__module__)
            file = getattr(module, "__file__", None)
            self._add_by_file(name, value, file if file == value.__code__.co_filename else None)
        else:
            self.parts[f"{name}="] = self._plain_text(name, value)

    def _add_by_file(self, name: str, value: Any, file: str | None) -> None:
        if file is not None:
            if not is_ours(file) and not is_library(file):
                self.modules.add(value.__module__)
        elif isinstance(value, FunctionType):
            self._add_function(value, name)
        elif value.__module__.split(".")[0] not in sys.stdlib_module_names:
            self.add_class(value)

    def _plain_text(self, name: str, value: Any) -> str:
        if value is None or isinstance(value, bool | int | float | complex | str | bytes):
            return repr(value)
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
        if isinstance(value, np.generic):
            return repr(value)
        if isinstance(value, tuple | list):
            return f"[{', '.join(self._plain_text(name, one) for one in value)}]"
        if isinstance(value, set | frozenset):
            return f"{{{', '.join(sorted(self._plain_text(name, one) for one in value))}}}"
        if isinstance(value, dict):
            pairs = (
                f"{self._plain_text(name, key)}: {self._plain_text(name, one)}"
                for key, one in value.items()
            )
            return f"{{{', '.join(pairs)}}}"
        if hasattr(value, "to_data"):  # a spec
            return json.dumps(value.to_data(), sort_keys=True)
        called = getattr(value, "__name__", "")
        home = sys.modules.get(str(getattr(value, "__module__", "")))
        if called and getattr(home, called, None) is value:  # a library's function in C
            return f"{value.__module__}:{called}"
        raise self._unknown(name, value)

    def _unknown(self, name: str, value: object) -> SettingError:
        shown = value if isinstance(value, str) else f"a {type(value).__name__}"
        return SettingError(
            f"{self._wanted} has no identity by which its results could be kept: it was typed, and "
            f"uses {name}, which is {shown} whose content cannot be pinned down. {ADVICE}"
        )


def _plain(value: object) -> FunctionType | None:
    plain = function_in(value)
    return plain if isinstance(plain, FunctionType) else None


def _segment(file: str, line: int, name: str) -> tuple[str, frozenset[str]] | None:
    """A digest of the definition of that name around a line, and the global names that it uses."""
    text = "".join(linecache.getlines(file))
    return _parsed_segment(text, line, name) if text else None


@lru_cache(maxsize=1000)
def _parsed_segment(text: str, line: int, name: str) -> tuple[str, frozenset[str]] | None:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if getattr(node, "name", None) != name or not isinstance(node, ast.stmt):
            continue
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
        if first <= line <= (node.end_lineno or 0):
            table = symtable.symtable(ast.unparse(node), "typed", "exec")
            return digest_of(node), frozenset(_used(table) - {name})
    return None


def _used(table: symtable.SymbolTable) -> set[str]:
    """The global names that some code uses."""
    top = table.get_type() == "module"
    used = {
        one.get_name()
        for one in table.get_symbols()
        if one.is_referenced() and (one.is_global() or top)
    }
    return used.union(*(map(_used, table.get_children())))
