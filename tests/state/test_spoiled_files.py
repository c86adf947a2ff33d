"""Spoiled files: each is refused with one error, within the memory that is allowed."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load

from okspca import OKSPCA, StateError
from okspca.estimators.saving import model_bytes, model_from
from okspca.state.container import sealed, unpack
from okspca_lab.ordeals.fuzzing import run, seeds
from okspca_lab.ordeals.mutations import assembled, fields_of, header_of, resealed


def test_two_thousand_spoiled_files_are_refused(tmp_path: Path) -> None:
    tally = run(range(2_000), tmp_path)
    assert tally.failures == []
    assert tally.refused.total() == 2_000


@pytest.mark.parametrize("number", range(len(seeds())))
def test_what_is_spoiled_was_valid_before(number: int) -> None:
    whole = seeds()[number]
    assert resealed(whole) == whole
    assert model_bytes(*model_from(OKSPCA, whole)) == whole


def test_every_single_byte_counts() -> None:
    whole = seeds()[0]
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 0x20  # the bit that turns capitals into small letters
        with pytest.raises(StateError):
            unpack(bytes(changed))


def test_a_newer_format_says_so() -> None:
    whole = seeds()[0]
    newer = whole.replace(rb"{\"format\":3,", rb"{\"format\":4,", 1)
    newer = sealed(newer.replace(header_of(whole)["sha256"].encode(), b"0" * 64, 1))
    with pytest.raises(StateError, match="not of format version 1 to 3; use the okspca"):
        unpack(newer)


def test_every_field_counts() -> None:
    """Also those that files need not have: one that is lost must not pass for one never written."""
    for whole in seeds():
        n_places = len(list(fields_of(header_of(whole)["state"])))
        for place in range(n_places):
            header = header_of(whole)
            holder, key = list(fields_of(header["state"]))[place]
            del holder[key]
            with pytest.raises(StateError):
                model_from(OKSPCA, assembled(header, load(whole)))


def test_a_newer_file_cannot_pass_for_an_older_one() -> None:
    whole = seeds()[0]
    header = {**header_of(whole), "format": 1}
    with pytest.raises(StateError, match="incomplete"):
        unpack(assembled(header, load(whole)))


def test_a_header_made_to_be_deep_is_refused_in_one_sentence() -> None:
    whole = seeds()[0]
    header = header_of(whole)
    holder = header["state"]
    for _ in range(900):
        holder["deeper"] = {}
        holder = holder["deeper"]
    with pytest.raises(StateError):
        model_from(OKSPCA, assembled(header, load(whole)))


@pytest.mark.parametrize("number", range(len(seeds())))
def test_every_array_has_one_shape(number: int) -> None:
    whole = seeds()[number]
    for name in sorted(load(whole)):
        array = load(whole)[name]
        wider = np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, 1)])
        for other in (array[np.newaxis].copy(), wider):
            tensors = {**load(whole), name: other}
            with pytest.raises(StateError):
                model_from(OKSPCA, assembled(header_of(whole), tensors))
