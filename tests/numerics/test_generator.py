"""Random numbers by counter."""

import numpy as np
import pytest

from gradcli.engine.numerics.generator import generator


@pytest.mark.parametrize("seed", [0, 7, 2**64 + 5, 2**128 - 1])
@pytest.mark.parametrize("stream", [0, 1, 2**64 - 1])
def test_a_stream_is_philox_with_the_seed_as_key_and_the_stream_in_its_counter(seed, stream):
    known = np.random.Generator(np.random.Philox(key=seed, counter=stream << 192))
    made = generator(seed, stream)
    for draw in ("random", "standard_normal"):
        assert getattr(made, draw)(9).tolist() == getattr(known, draw)(9).tolist()
    assert made.integers(0, 5, 3, np.uint32).tolist() == known.integers(0, 5, 3, np.uint32).tolist()
