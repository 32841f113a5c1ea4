"""Clusters of any size from recorded LIST bodies, as bytes of JSON or protobuf.

A larger cluster consists of copies of the recorded objects. Names and addresses are replaced by
others of equal length, so no length prefix changes.
"""

import gzip
import json
import struct
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data"
PODS_A_NAMESPACE = 500
# The label of a pod and of a node changed by events, and the length of its value.
POD_LABEL, POD_VALUE = b"bench.example.com/rev", 9
NODE_LABEL, NODE_VALUE = b"node-pool", 7

KINDS = {
    "pods": ("v1", "Pod", "/api/v1/pods"),
    "nodes": ("v1", "Node", "/api/v1/nodes"),
    "services": ("v1", "Service", "/api/v1/services"),
    "endpoints": ("v1", "Endpoints", "/api/v1/endpoints"),
    "endpointslices": ("discovery.k8s.io/v1", "EndpointSlice",
                       "/apis/discovery.k8s.io/v1/endpointslices"),
}
VERSION = b"23537"


# --- the wire format of protobuf ------------------------------------------------------------------

def varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def read_varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, at


def fields(data):
    """The fields of a message with length-delimited fields only."""
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        length, at = read_varint(data, at)
        yield tag >> 3, data[at:at + length]
        at += length


def envelope(api_version, kind, content):
    type_meta = field(1, api_version.encode()) + field(2, kind.encode())
    return b"k8s\0" + field(1, type_meta) + field(2, content) + field(3, b"") + field(4, b"")


# --- encodings ------------------------------------------------------------------------------------

class Json:
    content_type = watch_type = "application/json"

    @staticmethod
    def read(name):
        """The recorded objects, one bytes object each, unchanged."""
        text = gzip.decompress((DATA / f"{name}.json.gz").read_bytes()).decode()
        decoder = json.JSONDecoder()
        at = text.index('"items":[') + len('"items":[')
        items = []
        while text[at] != "]":
            at += text[at] == ","
            end = decoder.raw_decode(text, at)[1]
            items.append(text[at:end].encode())
            at = end
        return items

    @staticmethod
    def text(value):
        return b'"' + value + b'"'

    @staticmethod
    def label(key, value):
        return b'"' + key + b'":"' + value + b'"'

    @staticmethod
    def listing(api_version, kind, items):
        head = f'{{"kind":"{kind}List","apiVersion":"{api_version}",' \
               f'"metadata":{{"resourceVersion":"{VERSION.decode()}"}},"items":['
        return head.encode() + b",".join(items) + b"]}\n"

    @staticmethod
    def event(type_, api_version, kind, item):
        return f'{{"type":"{type_}","object":{{"kind":"{kind}","apiVersion":"{api_version}",' \
            .encode() + item[1:] + b"}\n"

    @staticmethod
    def end_of_list():
        return b'"metadata":{"resourceVersion":"' + VERSION + \
            b'","annotations":{"k8s.io/initial-events-end":"true"}}}'

    @classmethod
    def bookmark(cls, api_version, kind):
        return cls.event("BOOKMARK", api_version, kind, b"{" + cls.end_of_list())

    @staticmethod
    def expired():
        return json.dumps({"type": "ERROR", "object": status(410, "Expired")}).encode() + b"\n"


class Protobuf:
    content_type = "application/vnd.kubernetes.protobuf"
    watch_type = content_type + ";stream=watch"

    @staticmethod
    def read(name):
        body = gzip.decompress((DATA / f"{name}.pb.gz").read_bytes())
        raw = dict(fields(body[4:]))[2]
        return [content for number, content in fields(raw) if number == 2]

    @staticmethod
    def text(value):
        return varint(len(value)) + value

    @staticmethod
    def label(key, value):
        return field(1, key) + field(2, value)

    @staticmethod
    def listing(api_version, kind, items):
        content = [field(1, field(1, b"") + field(2, VERSION) + field(3, b""))]
        content += [field(2, item) for item in items]
        return envelope(api_version, kind + "List", b"".join(content))

    @staticmethod
    def event(type_, api_version, kind, item):
        event = field(1, type_.encode()) + field(2, field(1, envelope(api_version, kind, item)))
        return struct.pack(">I", len(event)) + event

    @classmethod
    def bookmark(cls, api_version, kind):
        meta = field(6, VERSION) + field(12, cls.label(b"k8s.io/initial-events-end", b"true"))
        return cls.event("BOOKMARK", api_version, kind, field(1, meta))

    @classmethod
    def expired(cls):
        # Code 410 is a separate varint in the Status.
        content = field(2, b"Failure") + field(3, b"expired") + field(4, b"Expired") + \
            varint(6 << 3) + varint(410)
        return cls.event("ERROR", "v1", "Status", content)


def status(code, reason):
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": reason, "reason": reason, "code": code}


# --- clusters -------------------------------------------------------------------------------------

def renamed(encoding, item, copy, recorded):
    """Copy number `copy` of an object; `recorded` is the number of recorded namespaces."""
    for i in range(recorded):
        old = b"ns-%03d" % i
        if encoding.text(old) in item:
            item = item.replace(encoding.text(old), encoding.text(b"ns-%03d" % (
                i + copy * recorded)))
            break
    return item


def enlarged(encoding, name, pods):
    """The objects of one resource in a cluster with this many pods."""
    items = encoding.read(name)
    if name == "nodes":
        return items
    namespaces = -(-pods // PODS_A_NAMESPACE)
    recorded = 4 if name == "pods" else 20
    # Objects outside these namespaces belong to the API server itself.
    items = [item for item in items if b"ns-0" in item]
    out = []
    for copy in range(-(-namespaces // recorded)):
        for item in items:
            item = renamed(encoding, item, copy, recorded)
            if name == "pods":
                item = item.replace(b"10.64.", b"10.%02d." % (64 + copy % 36))
            out.append(item)
    count = pods if name == "pods" else len(items) // recorded * namespaces
    return out[:count]


class Resource:
    """The objects of one kind in one encoding."""

    def __init__(self, encoding, name, pods):
        self.encoding = encoding
        self.api_version, self.kind, self.path = KINDS[name]
        self.items = enlarged(encoding, name, pods)
        if name == "pods":
            self.old = encoding.label(POD_LABEL, b"0" * POD_VALUE)
        elif name == "nodes":
            self.old = encoding.label(NODE_LABEL, b"general")
        self.bodies = {}

    def listing(self, changed=0, selector=None):
        """The LIST; the first `changed` objects differ from their previous state."""
        key = changed, selector
        if key not in self.bodies:
            items = [self.changed(i, b"r" * POD_VALUE) for i in range(changed)]
            items += self.items[changed:]
            if selector:
                wanted = [self.encoding.label(*pair) for pair in selector]
                items = [item for item in items if all(text in item for text in wanted)]
            self.bodies[key] = self.encoding.listing(self.api_version, self.kind, items)
        return self.bodies[key]

    def changed(self, number, value):
        key = POD_LABEL if self.kind == "Pod" else NODE_LABEL
        return self.items[number].replace(self.old, self.encoding.label(key, value), 1)

    def event(self, number, value):
        return self.encoding.event("MODIFIED", self.api_version, self.kind,
                                   self.changed(number, value))

    def initial_events(self):
        if "events" not in self.bodies:
            event = self.encoding.event
            events = [event("ADDED", self.api_version, self.kind, item) for item in self.items]
            events.append(self.encoding.bookmark(self.api_version, self.kind))
            self.bodies["events"] = b"".join(events)
        return self.bodies["events"]
