"""Sums over features for some responses at once, kept in the processor's vector registers.

A compiled loop over features would read and write each sum in memory, once for each feature. All
sums are in the order of the features. Matrices are in the order of C.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16
"""Responses that are worked on together."""

ROWS = 4
"""Sums of each response: with the lanes, they fill the registers."""

_DOUBLE, _SIZE, _INT = ir.DoubleType(), types.intp, ir.IntType(32)
_BYTES = ir.IntType(8).as_pointer()
_VECTOR = ir.VectorType(_DOUBLE, LANES)


class _Matrix:
    """The instructions that read and write the rows of an array."""

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any) -> None:
        array = context.make_array(kind)(context, builder, value)
        self._builder, self._data = builder, array.data
        self._step = builder.extract_value(array.shape, kind.ndim - 1)
        self._type, self._bytes = context.get_data_type(kind.dtype), kind.dtype.bitwidth // 8

    def _place(self, i: Any, j: Any) -> Any:
        if isinstance(i, int):
            i = j.type(i)
        return self._builder.gep(
            self._data, [self._builder.add(self._builder.mul(i, self._step), j)]
        )

    def _vector(self, i: Any, j: Any) -> Any:
        kind = ir.VectorType(self._type, LANES).as_pointer()
        return self._builder.bitcast(self._place(i, j), kind)

    def load(self, i: Any, j: Any) -> Any:
        """The numbers at [i, j : j + LANES], in double precision."""
        numbers = self._builder.load(self._vector(i, j), align=self._bytes)
        return numbers if self._type == _DOUBLE else self._builder.fpext(numbers, _VECTOR)

    def store(self, numbers: Any, i: Any, j: Any) -> None:
        """Write such numbers."""
        self._builder.store(numbers, self._vector(i, j), align=self._bytes)

    def spread(self, i: Any, j: Any) -> Any:
        """The number at [i, j], in every lane."""
        number = self._builder.load(self._place(i, j))
        return _spread(self._builder, number)

    def ask(self, i: Any, j: Any) -> None:
        """Have the memory at [i, j : j + LANES] brought to the cache; it need not exist."""
        kind = ir.FunctionType(ir.VoidType(), [_BYTES, _INT, _INT, _INT])
        call = _function(self._builder, kind, "llvm.prefetch.p0")
        for line in range(0, LANES, 64 // self._bytes):
            place = self._place(i, self._builder.add(j, j.type(line)))
            place = self._builder.bitcast(place, _BYTES)
            self._builder.call(call, [place, _INT(0), _INT(3), _INT(1)])


def _unpacked(context: Any, builder: Any, signature: Any, arguments: Any) -> list[Any]:
    """The arguments of a function, arrays as matrices."""
    return [
        _Matrix(context, builder, kind, value) if isinstance(kind, types.Array) else value
        for kind, value in zip(signature.args, arguments, strict=True)
    ]


def _taking(*kinds: Any) -> Any:
    """The signature with these arguments; None if an array is not in the order of C."""
    in_order = all(getattr(kind, "layout", "C") == "C" for kind in kinds)
    return types.void(*kinds) if in_order else None


def _function(builder: Any, kind: Any, name: str) -> Any:
    """A function of the compiler itself."""
    return cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
        builder.module, kind, name
    )


def _spread(builder: Any, number: Any) -> Any:
    one = builder.insert_element(_VECTOR(ir.Undefined), number, _INT(0))
    return builder.shuffle_vector(one, one, ir.VectorType(_INT, LANES)(None))


def _add_products(
    builder: Any,
    columns: _Matrix,
    at: Any,
    weights: _Matrix,
    totals: dict[Any, Any],
    span: tuple[Any, Any],
    fused: bool = False,
    later: Any = None,
) -> list[Any]:
    """Add weights[row, i] columns[i, at + y] to the total of each row, for i in a span and lane y.

    The features of the lanes from ``later`` on are asked for, if given.
    """
    flags = ("contract",) if fused else ()
    places = [
        cgutils.alloca_once(builder, _VECTOR)  # type: ignore[no-untyped-call]
        for _ in totals
    ]
    for total, place in zip(totals.values(), places, strict=True):
        builder.store(total, place)
    with cgutils.for_range_slice(builder, *span, at.type(1)) as (i, _):
        g = columns.load(i, at)
        if later is not None:
            columns.ask(i, later)
        for row, place in zip(totals, places, strict=True):
            product = builder.fmul(weights.spread(row, i), g, flags=flags)
            builder.store(builder.fadd(builder.load(place), product, flags=flags), place)
    return [builder.load(place) for place in places]


def _adding_forms(fused: bool) -> Callable[..., None]:
    @intrinsic
    def add_forms(
        _: Any, columns: Any, matrix: Any, row: Any, begin: Any, end: Any, out: Any, to: Any
    ) -> Any:
        """Add to out[to + y] what some rows of a matrix contribute to g' A g, for each lane y.

        The rows are ``row`` to ``row + ROWS``; of these, the numbers from ``begin`` to ``end``
        count.
        ``columns`` has just as many columns as there are lanes.
        """

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            unpacked = _unpacked(context, builder, signature, arguments)
            columns, matrix, row, begin, end, out, to = unpacked
            rows, zero = [builder.add(row, row.type(p)) for p in range(ROWS)], to.type(0)
            found = out.load(0, to)
            nothing = dict.fromkeys(rows, _VECTOR(None))
            sums = _add_products(builder, columns, zero, matrix, nothing, (begin, end), fused)
            for p, total in zip(rows, sums, strict=True):
                found = builder.fadd(found, builder.fmul(total, columns.load(p, zero)))
            out.store(found, 0, to)
            return context.get_dummy_value()

        return _taking(columns, matrix, _SIZE, _SIZE, _SIZE, out, _SIZE), code

    return add_forms


add_forms = _adding_forms(fused=False)
add_fused_forms = _adding_forms(fused=True)


def _scoring(rows: int, finish: bool) -> Callable[..., None]:
    @intrinsic
    def score(
        _: Any,
        columns: Any,
        at: Any,
        weights: Any,
        begin: Any,
        end: Any,
        sums: Any,
        to: Any,
        factors: Any,
        widths: Any,
        k: Any,
        most: Any,
        ahead: Any,
    ) -> Any:
        """Add weights[row, i] columns[i, at + y] to sums[row, to + y], for i in a span and lane y.

        To finish, shrink widths[at + y] by some updates: the first row of weights is f, and the
        others are their u. Each subtracts its factor times (u . g)^2. ``most`` has a row for the
        highest f . g plus k times the width so far, one for the largest squared width, and one that
        becomes NaN if any number is not finite.
        """

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            unpacked = _unpacked(context, builder, signature, arguments)
            columns, at, weights, begin, end, sums, to, factors, widths, k, most, ahead = unpacked
            later = builder.add(at, ahead)
            totals = {at.type(row): sums.load(row, to) for row in range(rows)}
            found = _add_products(builder, columns, at, weights, totals, (begin, end), later=later)
            if not finish:
                for row, total in enumerate(found):
                    sums.store(total, row, to)
                return context.get_dummy_value()
            widths.ask(0, later)
            f, *along = found
            zero, width = _VECTOR(None), widths.load(0, at)
            for n, total in enumerate(along):
                less = builder.fmul(builder.fmul(total, total), factors.spread(0, at.type(n)))
                width = builder.fsub(width, less)
                width = builder.select(builder.fcmp_ordered("<", width, zero), zero, width)
            widths.store(width, 0, at)
            kind = ir.FunctionType(_VECTOR, [_VECTOR])
            root = _function(builder, kind, f"llvm.sqrt.v{LANES}f64")
            wide = builder.fmul(_spread(builder, k), builder.call(root, [width]))
            for n, found in enumerate((builder.fadd(f, wide), width)):
                before = most.load(n, at.type(0))
                higher = builder.fcmp_ordered(">", found, before)
                most.store(builder.select(higher, found, before), n, at.type(0))
            both = builder.fadd(f, width)
            odd = builder.fadd(most.load(2, at.type(0)), builder.fsub(both, both))
            most.store(odd, 2, at.type(0))
            return context.get_dummy_value()

        n = _SIZE
        kinds = columns, n, weights, n, n, sums, n, factors, widths, types.float64, most, n
        return _taking(*kinds), code

    return score


add_two, score_two = (_scoring(2, finish) for finish in (False, True))
add_rows, score_rows = (_scoring(ROWS, finish) for finish in (False, True))
