"""Assign codes to labels stored as rows of 32-bit words (fixed-width text, integers), and to 64-bit keys."""

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels import UNIT_64

SEED, MIX, HASH_SHIFT = (np.uint64(0x243F6A8885A308D3), np.uint64(0x9E3779B97F4A7C15), np.uint64(32))


@kernel
def number_words(words, slots, first, codes):
    """Write a code for each row of words[n, w], in order of first occurrence; return the number of codes.

    `slots` is a hash table with linear probing, initially all -1. The length of `slots` is a power of two above the
    length of `first`, which receives the first row of each code. Returns -1 if `first` is too short.
    """
    mask = np.uint64(slots.size) - UNIT_64
    n = 0
    for i in range(words.shape[0]):
        repeated = i > 0
        for w in range(words.shape[1]):
            repeated = repeated and words[i, w] == words[i - 1, w]
        if repeated:  # rows often come group by group
            codes[i] = codes[i - 1]
            continue
        hashed = SEED
        for w in range(words.shape[1]):
            hashed = (hashed ^ np.uint64(words[i, w])) * MIX
        at = (hashed ^ (hashed >> HASH_SHIFT)) & mask
        while True:
            code = slots[at]
            if code < 0:
                if n == first.size:
                    return -1
                code = n
                slots[at], first[n] = n, i
                n += 1
                break
            same = True
            for w in range(words.shape[1]):
                same &= words[first[code], w] == words[i, w]
            if same:
                break
            at = (at + UNIT_64) & mask
        codes[i] = code
    return n


@kernel
def slot_of(key, slots, keys, first):
    """Return the slot that holds a key in a hash table, or is free for it; keys[first[code]] is the key of a code."""
    mask = np.uint64(slots.size) - UNIT_64
    hashed = np.uint64(key) * MIX
    at = (hashed ^ (hashed >> HASH_SHIFT)) & mask
    while slots[at] >= 0 and keys[first[slots[at]]] != key:
        at = (at + UNIT_64) & mask
    return at


@kernel
def number_keys(keys, start, stop, slots, first, n, codes):
    """Assign codes n, n + 1, ... to new keys in keys[start : stop]; return where numbering stopped, and the new n.

    Numbering stops early when `first`, which receives the first row of each code, is full. The length of `slots` is a
    power of two above the length of `first`.
    """
    for i in range(start, stop):
        if i > 0 and keys[i] == keys[i - 1]:
            codes[i] = codes[i - 1]
            continue
        at = slot_of(keys[i], slots, keys, first)
        if slots[at] < 0:
            if n == first.size:
                return i, n
            slots[at], first[n] = n, i
            n += 1
        codes[i] = slots[at]
    return stop, n


@kernel
def enter_keys(keys, first, n, slots):
    """Put the keys of n codes into free slots."""
    for code in range(n):
        slots[slot_of(keys[first[code]], slots, keys, first)] = code


@kernel
def note_first(codes, start, first):
    """Where first[code] is still -1, write the code's first row to it; codes[0] is the code of row `start`."""
    for i in range(codes.size):
        if first[codes[i]] < 0:
            first[codes[i]] = start + i
