"""Eight numbers at a time: the two steps that linear kernels spend their time in.

A compiler may not regroup sums, so it cannot use a machine's vectors on a dot product; and it
does not unroll loops over rows as short as ours. These steps are therefore written as
operations on vectors of eight. Each of the eight is a sum of its own, in the order of the rows,
so that the result does not hang on how wide the machine's vectors are. Rows are padded with
zeros to a multiple of eight; arrays are flat, and places in them are offsets.
"""

from collections.abc import Callable
from typing import TypeAlias, cast

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.core.base import BaseContext
from numba.core.typing.templates import Signature
from numba.extending import intrinsic
from numpy.typing import NDArray

LANES = 8
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_INT = ir.IntType(32)
Kind: TypeAlias = types.Type
Step: TypeAlias = Callable[..., None]
Write: TypeAlias = Callable[
    [BaseContext, ir.IRBuilder, Signature, tuple[ir.Value, ...]], ir.Value
]


def pad_size(n: int) -> int:
    """Give the next multiple of eight: how long a padded row is.

    >>> pad_size(5), pad_size(8), pad_size(9)
    (8, 8, 16)
    """
    return -(-n // LANES) * LANES


def pad_rows(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Put zeros at the end of feature rows, up to a multiple of eight, as kernels need."""
    wide = np.zeros((*rows.shape[:-1], pad_size(rows.shape[-1])))
    wide[..., : rows.shape[-1]] = rows
    return wide


def _declare_step(build: Callable[..., tuple[Signature, Write]]) -> Step:
    """Let kernels call a step whose machine code is written by hand, and type it.

    A decorator of ``sum_rows`` and ``subtract_outer``.
    """
    return cast("Step", intrinsic(build))


@_declare_step
def sum_rows(
    _: object,
    out: Kind,
    _o: Kind,
    matrix: Kind,
    _at: Kind,
    _stride: Kind,
    x: Kind,
    _start: Kind,
    _twice: Kind,
    _n: Kind,
) -> tuple[Signature, Write]:
    """Add up weighted rows of a matrix, eight columns at once.

    ``out[o:o+8] = sum of x[start+i] matrix[at+i stride:][:8]`` over ``i < n``. Rows before
    ``twice`` count twice: of a symmetric matrix only half need be read.
    """
    size = types.intp
    signature = types.void(out, size, matrix, size, size, x, size, size, size)

    def write(
        context: BaseContext, builder: ir.IRBuilder, of: Signature, args: tuple[ir.Value, ...]
    ) -> ir.Value:
        out, o, matrix, at, stride, x, start, twice, n = args
        rows = _get_data(context, builder, of.args[2], matrix)
        weights = builder.gep(_get_data(context, builder, of.args[5], x), [start])
        nothing = ir.Constant(_VECTOR, [0.0] * LANES)
        half = _emit_weighted_sum(
            builder, nothing, (rows, at, stride), weights, (n.type(0), twice)
        )
        both = builder.fadd(half, half)
        whole = _emit_weighted_sum(builder, both, (rows, at, stride), weights, (twice, n))
        _store(builder, whole, _get_data(context, builder, of.args[0], out), o)
        return context.get_dummy_value()  # type: ignore[no-untyped-call]

    return signature, write


@_declare_step
def subtract_outer(
    _: object, matrix: Kind, _at: Kind, g: Kind, _i: Kind, _j: Kind, _s: Kind
) -> tuple[Signature, Write]:
    """Subtract eight numbers of a rank-one matrix: ``matrix[at:at+8] -= g[i] g[j:j+8] s``."""
    size = types.intp
    signature = types.void(matrix, size, g, size, size, types.float64)

    def write(
        context: BaseContext, builder: ir.IRBuilder, of: Signature, args: tuple[ir.Value, ...]
    ) -> ir.Value:
        matrix, at, g, i, j, s = args
        row = _get_data(context, builder, of.args[0], matrix)
        gain = _get_data(context, builder, of.args[2], g)
        one = _broadcast(builder, builder.load(builder.gep(gain, [i])))
        product = builder.fmul(one, _load(builder, gain, j))
        change = builder.fmul(product, _broadcast(builder, s))
        _store(builder, builder.fsub(_load(builder, row, at), change), row, at)
        return context.get_dummy_value()  # type: ignore[no-untyped-call]

    return signature, write


def _emit_weighted_sum(
    builder: ir.IRBuilder,
    total: ir.Value,
    matrix: tuple[ir.Value, ir.Value, ir.Value],
    weights: ir.Value,
    span: tuple[ir.Value, ir.Value],
) -> ir.Value:
    """Write the machine code of the loop that adds weighted rows to a vector."""
    (rows, at, stride), (start, stop), before = matrix, span, builder.block
    head, body, after = (
        builder.append_basic_block(f"rows.{name}") for name in ("head", "body", "after")
    )
    builder.branch(head)
    builder.position_at_end(head)
    i, sums = builder.phi(stop.type), builder.phi(_VECTOR)
    builder.cbranch(builder.icmp_signed("<", i, stop), body, after)
    builder.position_at_end(body)
    weight = _broadcast(builder, builder.load(builder.gep(weights, [i])))
    row = _load(builder, rows, builder.add(at, builder.mul(i, stride)))
    more = builder.fadd(sums, builder.fmul(weight, row))
    for value, first, then in ((i, start, builder.add(i, i.type(1))), (sums, total, more)):
        value.add_incoming(first, before)
        value.add_incoming(then, body)
    builder.branch(head)
    builder.position_at_end(after)
    return sums


def _get_data(
    context: BaseContext, builder: ir.IRBuilder, kind: Kind, array: ir.Value
) -> ir.Value:
    """Get the address of an array's numbers, while machine code is written."""
    made = context.make_array(kind)  # type: ignore[no-untyped-call]
    return made(context, builder, array).data


def _point_at(builder: ir.IRBuilder, data: ir.Value, place: ir.Value) -> ir.Value:
    """Write the machine code that points at eight numbers of an array, from some index on."""
    return builder.bitcast(builder.gep(data, [place]), _VECTOR.as_pointer())


def _load(builder: ir.IRBuilder, data: ir.Value, place: ir.Value) -> ir.Value:
    """Write the machine code that reads eight numbers of an array into a vector."""
    found = builder.load(_point_at(builder, data, place))
    found.align = 8  # of one number: rows need not start at a multiple of the vector's size
    return found


def _store(builder: ir.IRBuilder, vector: ir.Value, data: ir.Value, place: ir.Value) -> None:
    """Write the machine code that puts a vector of eight numbers into an array."""
    builder.store(vector, _point_at(builder, data, place)).align = 8


def _broadcast(builder: ir.IRBuilder, number: ir.Value) -> ir.Value:
    """Write the machine code of a vector with one number in all eight places."""
    blank = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(blank, number, _INT(0))
    zeros = ir.Constant(ir.VectorType(_INT, LANES), [0] * LANES)
    return builder.shuffle_vector(first, blank, zeros)
