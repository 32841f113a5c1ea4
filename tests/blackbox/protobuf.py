"""Objects in protobuf. The field numbers come from generated.proto of Kubernetes 1.36."""

import json
import struct

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\0"
TEXT, INTEGER, BOOLEAN, MAP = "text", "integer", "boolean", "map"
# Members without a field number get this one, with their JSON as the value: clients skip it.
UNKNOWN = 4000

# {member: (number, type)}; the type is a scalar, MAP (of texts), a message, or a list of one.
OBJECT_REFERENCE = {"kind": (1, TEXT), "namespace": (2, TEXT), "name": (3, TEXT), "uid": (4, TEXT),
                    "apiVersion": (5, TEXT), "resourceVersion": (6, TEXT), "fieldPath": (7, TEXT)}
METADATA = {"name": (1, TEXT), "generateName": (2, TEXT), "namespace": (3, TEXT), "uid": (5, TEXT),
            "resourceVersion": (6, TEXT), "generation": (7, INTEGER), "labels": (11, MAP),
            "annotations": (12, MAP)}
LIST_METADATA = {"resourceVersion": (2, TEXT), "continue": (3, TEXT)}
CONDITION = {"type": (1, TEXT), "status": (2, TEXT)}
CONTAINER = {"name": (1, TEXT), "image": (2, TEXT), "ports": (6, [{
    "name": (1, TEXT), "hostPort": (2, INTEGER), "containerPort": (3, INTEGER),
    "protocol": (4, TEXT)}])}
POD = {
    "metadata": (1, METADATA),
    "spec": (2, {"containers": (2, [CONTAINER]), "nodeName": (10, TEXT),
                 "initContainers": (20, [CONTAINER])}),
    "status": (3, {"phase": (1, TEXT), "conditions": (2, [CONDITION]), "message": (3, TEXT),
                   "reason": (4, TEXT), "hostIP": (5, TEXT), "podIP": (6, TEXT)}),
}
NODE = {"metadata": (1, METADATA), "spec": (2, {"providerID": (3, TEXT)}),
        "status": (3, {"addresses": (5, [{"type": (1, TEXT), "address": (2, TEXT)}])})}
SERVICE = {
    "metadata": (1, METADATA),
    "spec": (2, {"ports": (1, [{"name": (1, TEXT), "protocol": (2, TEXT), "port": (3, INTEGER)}]),
                 "clusterIP": (3, TEXT), "type": (4, TEXT)}),
}
ADDRESS = {"ip": (1, TEXT), "targetRef": (2, OBJECT_REFERENCE), "hostname": (3, TEXT),
           "nodeName": (4, TEXT)}
ENDPOINTS = {
    "metadata": (1, METADATA),
    "subsets": (2, [{"addresses": (1, [ADDRESS]), "notReadyAddresses": (2, [ADDRESS]),
                     "ports": (3, [{"name": (1, TEXT), "port": (2, INTEGER),
                                    "protocol": (3, TEXT)}])}]),
}
STATUS = {
    "metadata": (1, LIST_METADATA), "status": (2, TEXT), "message": (3, TEXT), "reason": (4, TEXT),
    "details": (5, {"name": (1, TEXT), "group": (2, TEXT), "kind": (3, TEXT),
                    "causes": (4, [{"reason": (1, TEXT), "message": (2, TEXT),
                                    "field": (3, TEXT)}]),
                    "retryAfterSeconds": (5, INTEGER)}),
    "code": (6, INTEGER),
}
MESSAGES = {"Pod": POD, "Node": NODE, "Service": SERVICE, "Endpoints": ENDPOINTS, "Status": STATUS}
OTHER = {"metadata": (1, METADATA)}


class NotEncodable(Exception):
    """JSON can express the value, but protobuf cannot."""


def _varint(value):
    value &= (1 << 64) - 1
    data = bytearray()
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    data.append(value)
    return bytes(data)


def _field(number, data):
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _text(value):
    if not isinstance(value, str):
        raise NotEncodable(f"{value!r} is no text")
    return value.encode("utf-8", "surrogatepass")


def _value(number, kind, value):
    if isinstance(kind, list):
        return b"".join(_value(number, kind[0], item) for item in value)
    if isinstance(kind, dict):
        if not isinstance(value, dict):
            raise NotEncodable(f"{value!r} is no message")
        return _field(number, message(kind, value))
    if kind == TEXT:
        return _field(number, _text(value))
    if kind == MAP:
        return b"".join(_field(number, _field(1, _text(name)) + _field(2, _text(text)))
                        for name, text in sorted(value.items()))
    if not isinstance(value, int):
        raise NotEncodable(f"{value!r} is no number")
    return _varint(number << 3) + _varint(int(value))


def message(kind, members):
    """The bytes of a message, in the order of field numbers, as Go writes them."""
    parts = []
    for name, value in members.items():
        if name in kind:
            number, type_of = kind[name]
            if value is not None:
                parts.append((number, _value(number, type_of, value)))
        elif name not in ("kind", "apiVersion"):
            parts.append((UNKNOWN, _field(UNKNOWN, json.dumps(value).encode())))
    return b"".join(data for _, data in sorted(parts, key=lambda part: part[0]))


def _envelope(api_version, kind, data):
    types = _field(1, api_version.encode()) + _field(2, kind.encode())
    return MAGIC + _field(1, types) + _field(2, data) + _field(3, b"") + _field(4, b"")


def body(item):
    """The body of an object or a list; both name their kinds."""
    kind = item["kind"]
    if "items" not in item:
        return _envelope(item["apiVersion"], kind, message(MESSAGES.get(kind, OTHER), item))
    of = MESSAGES.get(kind.removesuffix("List"), OTHER)
    data = message({"metadata": (1, LIST_METADATA), "items": (2, [of])}, item)
    return _envelope(item["apiVersion"], kind, data)


def frame(change, item):
    """An event of a watch."""
    data = _field(1, change.encode()) + _field(2, _field(1, body(item)))
    return struct.pack(">I", len(data)) + data
