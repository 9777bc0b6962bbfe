"""Vectors of 64 bytes in kernels: 16 numbers in single precision, or 8 in double precision.

A loop is vectorised only if the compiler finds out that it may, and then it begins and ends with
code for all that may happen. For loops over a few numbers, that costs more than the arithmetic.
Here an operation on a vector is an instruction, or two or four on a processor with shorter vectors.
The result is the same, bit for bit, wherever a product and a sum can be fused.

A vector exists within a kernel only. ``load(array, row, at)`` reads one from a row of a matrix
whose rows are consecutive in memory, ``store`` writes it. Neither checks where a row ends.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.typing.templates import ConcreteTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, models, register_model

BYTES = 64
LANES = BYTES // 4
"""Numbers of single precision in a vector."""

Vector = Any


class VectorType(types.Type):
    """The type of a vector of one kind of numbers."""

    def __init__(self, dtype: Any) -> None:
        self.dtype, self.lanes = dtype, BYTES * 8 // dtype.bitwidth
        super().__init__(name=f"Vector({dtype})")


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: VectorType) -> None:
        element = ir.FloatType() if kind.dtype == types.float32 else ir.DoubleType()
        super().__init__(manager, kind, ir.VectorType(element, kind.lanes))  # type: ignore[no-untyped-call]


def _emitted(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function for kernels that emits instructions."""
    emitted: Any = intrinsic(function)
    return cast("Callable[..., Any]", emitted)


SINGLE, DOUBLE = VectorType(types.float32), VectorType(types.float64)
_KINDS = {SINGLE.dtype: SINGLE, DOUBLE.dtype: DOUBLE}
_FUSED = ("contract",)  # a product and a sum may be one instruction, rounded once


def _lower_operator(operation: Any, emit: Callable[[Any, Any, Any], Any]) -> None:
    @infer_global(operation)  # type: ignore[no-untyped-call]
    class _Typed(ConcreteTemplate):
        cases = [kind(kind, kind) for kind in _KINDS.values()]  # noqa: RUF012

    for kind in _KINDS.values():
        lowered = lower_builtin(operation, kind, kind)  # type: ignore[no-untyped-call]
        lowered(lambda context, builder, signature, args: emit(builder, *args))


_lower_operator(operator.add, lambda builder, a, b: builder.fadd(a, b, flags=_FUSED))
_lower_operator(operator.sub, lambda builder, a, b: builder.fsub(a, b, flags=_FUSED))
_lower_operator(operator.mul, lambda builder, a, b: builder.fmul(a, b, flags=_FUSED))
_lower_operator(operator.truediv, lambda builder, a, b: builder.fdiv(a, b))


def _address(context: Any, builder: Any, sig: Any, args: Any, to: Any) -> Any:
    """The address of a number of a matrix."""
    array = context.make_array(sig.args[0])(context, builder, args[0])
    down, along = cgutils.unpack_tuple(builder, array.strides)  # type: ignore[no-untyped-call]
    if sig.args[0].layout == "C":
        along = along.type(sig.args[0].dtype.bitwidth // 8)
    offset = builder.add(builder.mul(args[1], down), builder.mul(args[2], along))
    where: Any = cgutils.pointer_add  # untyped
    return where(builder, array.data, offset, to.as_pointer())


def _spread(builder: Any, number: Any, kind: Any) -> Any:
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), number, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), None)
    return builder.shuffle_vector(one, ir.Constant(kind, ir.Undefined), zeros)


def _demand_rows(array: Any) -> None:
    if array.layout != "C" or array.ndim != 2:
        raise TypingError(f"A vector is in a matrix whose rows are consecutive, not in {array}.")


@_emitted
def load(typing: Any, array: Any, row: Any, at: Any) -> Any:
    """The vector at a place of a row."""
    _demand_rows(array)

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = context.get_value_type(sig.return_type)
        return builder.load(_address(context, builder, sig, args, kind), align=4)

    return _KINDS[array.dtype](array, types.intp, types.intp), emit


@_emitted
def store(typing: Any, array: Any, row: Any, at: Any, vector: Any) -> Any:
    """Write a vector to a place of a row."""
    _demand_rows(array)

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = context.get_value_type(sig.args[3])
        builder.store(args[3], _address(context, builder, sig, args, kind), align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, vector), emit


@_emitted
def load_spread(typing: Any, array: Any, row: Any, at: Any) -> Any:
    """The number at a place of a row, in all lanes."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = context.get_value_type(sig.return_type)
        number = builder.load(_address(context, builder, sig, args, kind.element))
        return _spread(builder, number, kind)

    return _KINDS[array.dtype](array, types.intp, types.intp), emit


@_emitted
def spread(typing: Any, number: Any) -> Any:
    """A number, in all lanes."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _spread(builder, args[0], context.get_value_type(sig.return_type))

    return _KINDS[number](number), emit


@_emitted
def highest_of(typing: Any, a: Any, b: Any) -> Any:
    """The higher number of each lane; a if one is no number."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered("<", *args), args[1], args[0])

    return a(a, b), emit


@_emitted
def lowest_of(typing: Any, a: Any, b: Any) -> Any:
    """The lower number of each lane; a if one is no number."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *args), args[1], args[0])

    return a(a, b), emit


@_emitted
def total(typing: Any, vector: Any) -> Any:
    """The sum of all lanes: of halves, of halves of these, and so on."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        sums, word = args[0], ir.IntType(32)
        while sums.type.count > 1:
            half = sums.type.count // 2
            low, high = (
                builder.shuffle_vector(
                    sums,
                    sums,
                    ir.Constant(ir.VectorType(word, half), [word(begin + i) for i in range(half)]),
                )
                for begin in (0, half)
            )
            sums = builder.fadd(low, high)
        return builder.extract_element(sums, word(0))

    return vector.dtype(vector), emit


_EXPONENTS = {SINGLE: (32, 127, 23), DOUBLE: (64, 1023, 52)}  # bits, bias, place of the exponent


@_emitted
def power_of_two(typing: Any, exponents: Any) -> Any:
    """2 to the power of the whole numbers that are in the lowest bits."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        bits, bias, place = _EXPONENTS[sig.args[0]]
        whole = ir.VectorType(ir.IntType(bits), sig.args[0].lanes)
        biased = builder.add(builder.bitcast(args[0], whole), _all(whole, bias))
        return builder.bitcast(builder.shl(biased, _all(whole, place)), args[0].type)

    return exponents(exponents), emit


def _all(kind: Any, number: int) -> Any:
    return ir.Constant(kind, [number] * kind.count)
