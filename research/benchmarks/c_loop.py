"""A plain loop in C, compiled on the spot, to hold compiled policies against."""

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from boundit.bandit.ids import Floats, Ints

SOURCE = Path(__file__).with_name("c_loop.c")
Pull = Callable[[Ints, Floats], Ints]
"""What is pulled for visitors with some luck, runs x rounds."""


class NoCompiler(Exception):
    """There is no gcc."""


def compile_loop(
    folder: Path,
    x: Floats,
    means: Floats,
    caps: Floats,
    *,
    alpha: float,
    flags: Sequence[str] = (),
) -> Pull:
    """Compile the loop for rows ``x`` (contexts x arms x features) and give it as a call."""
    if not (gcc := shutil.which("gcc")):
        raise NoCompiler
    _, arms, features = x.shape
    library = folder / f"loop{arms}x{features}{len(flags)}.so"
    sizes = [f"-DK={arms}", f"-DD={features}"]
    command = [gcc, "-O3", *flags, *sizes, "-shared", "-fPIC", str(SOURCE), "-o", str(library)]
    subprocess.run([*command, "-lm"], check=True)
    play = ctypes.CDLL(str(library)).play
    play.restype = None

    def pulls(visitors: Ints, luck: Floats) -> Ints:
        found = np.empty_like(visitors)
        sizes = map(ctypes.c_long, visitors.shape)
        data = (ctypes.c_void_p(part.ctypes.data) for part in (x, means, caps, visitors, luck))
        play(*sizes, *data, ctypes.c_double(alpha), ctypes.c_void_p(found.ctypes.data))
        return found

    return pulls
