"""OpenTelemetry's Target Allocator's choice of a collector for a target, written from its
description and with a separate XXH64: an independent check of k8s-sd."""

import bisect
import math
import struct

MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9,
                      0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def rotated(value, bits):
    return ((value << bits) | (value >> (64 - bits))) & MASK


def mixed(total, lane):
    return rotated((total + lane * P2) & MASK, 31) * P1 & MASK


def xxh64(data):
    """Source: the specification of XXH64, with seed 0."""
    rest = len(data) % 32
    if len(data) >= 32:
        lanes = [(P1 + P2) & MASK, P2, 0, -P1 & MASK]
        for block in range(0, len(data) - rest, 32):
            words = struct.unpack_from("<4Q", data, block)
            lanes = [mixed(lane, word) for lane, word in zip(lanes, words)]
        total = sum(rotated(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            total = ((total ^ mixed(0, lane)) * P1 + P4) & MASK
    else:
        total = P5
    total = (total + len(data)) & MASK
    tail = data[len(data) - rest:]
    while len(tail) >= 8:
        total ^= mixed(0, struct.unpack_from("<Q", tail)[0])
        total = (rotated(total, 27) * P1 + P4) & MASK
        tail = tail[8:]
    if len(tail) >= 4:
        total ^= struct.unpack_from("<I", tail)[0] * P1 & MASK
        total = (rotated(total, 23) * P2 + P3) & MASK
        tail = tail[4:]
    for byte in tail:
        total ^= byte * P5 & MASK
        total = rotated(total, 11) * P1 & MASK
    total ^= total >> 33
    total = total * P2 & MASK
    total ^= total >> 29
    total = total * P3 & MASK
    return total ^ (total >> 32)


class Allocation:
    """The owners of targets among these members."""

    PARTITIONS = 1061

    def __init__(self, members):
        ring = {}
        for member in sorted(members):
            for place in range(5):
                ring[xxh64(f"{place}:{member}".encode())] = member
        places = sorted(ring)
        most = math.ceil(self.PARTITIONS / len(members) * 1.1)
        loads = dict.fromkeys(members, 0)
        self.owners = []
        for partition in range(self.PARTITIONS):
            at = bisect.bisect_left(places, xxh64(struct.pack("<Q", partition))) % len(places)
            while loads[ring[places[at]]] + 1 > most:
                at = (at + 1) % len(places)
            self.owners.append(ring[places[at]])
            loads[self.owners[-1]] += 1

    def owner(self, address):
        return self.owners[xxh64(address.encode()) % self.PARTITIONS]
