"""The events of a watch. All of them are immutable."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any, Literal, Optional, Union

Op = Literal["added", "changed", "replaced", "removed"]


@dataclass(frozen=True)
class Group:
    """A changed target group. `op` "replaced": another Kubernetes object of the same name, so none
    of its targets continue. "removed": without labels and targets."""
    op: Op
    source: str  #: identity of the group, such as "pod/shop/web-0"
    labels: dict[str, str]  #: common to all targets
    targets: list[dict[str, str]]  #: labels of each target; they override `labels`

    def merged(self) -> list[dict[str, str]]:
        """The labels of each target together with those of the group, without empty ones."""
        return [{name: value for name, value in {**self.labels, **target}.items() if value}
                for target in self.targets]


@dataclass(frozen=True)
class GroupDiff:
    """The changes of a discovery. `full`: the complete state, forget everything else. `more`: the
    rest follows in the next diffs, see `max_changes` of Context.discover()."""
    watch: int
    full: bool
    changes: list[Group]
    more: bool = False


@dataclass(frozen=True)
class Target:
    """A changed scrape target, after relabelling. "removed": without the other members."""
    op: Op
    id: int  #: number within the job
    labels: dict[str, str]
    url: str
    scrape_interval: float  #: seconds
    scrape_timeout: float  #: seconds


@dataclass(frozen=True)
class TargetDiff:
    """The changed targets of one job. `full`: the complete state of the job. `more`: the rest
    follows in the next diffs of the job."""
    watch: int
    job: str
    full: bool
    changes: list[Target]
    more: bool = False


@dataclass(frozen=True)
class Object:
    """A changed object of any kind. "removed": `object` is empty."""
    op: Op
    key: str  #: "namespace/name", or "name"
    object: dict[str, Any]  #: as JSON of the Kubernetes API, with the chosen fields


@dataclass(frozen=True)
class ObjectDiff:
    """The changed objects of a watch. `full`: the complete state."""
    watch: int
    full: bool
    changes: list[Object]


@dataclass(frozen=True)
class Data:
    """The state of a followed Secret or ConfigMap. "removed": there is none."""
    watch: int
    op: Op
    key: str  #: "namespace/name"
    type: str  #: of a Secret
    immutable: bool
    data: dict[str, bytes]

    def __repr__(self) -> str:  # without the values
        return f"Data(op={self.op!r}, key={self.key!r}, data={sorted(self.data)!r})"


@dataclass(frozen=True)
class Status:
    """The latest status of a watch. Errors never remove anything."""
    watch: int
    synced: bool  #: whether the complete state is known
    message: str  #: the error of the last attempt and its remedy; "": none
    job: str = ""  #: of a scrape()


Diff = Union[GroupDiff, TargetDiff, ObjectDiff, Data]
Event = Union[Diff, Status]


def _group(change: dict[str, Any]) -> Group:
    return Group(change["op"], change["key"], change.get("labels", {}), change.get("targets", []))


def _target(change: dict[str, Any]) -> Target:
    return Target(change["op"], int(change["key"]), change.get("labels", {}),
                  change.get("url", ""), change.get("interval_ms", 0) / 1000,
                  change.get("timeout_ms", 0) / 1000)


def _object(change: dict[str, Any]) -> Object:
    return Object(change["op"], change["key"], change.get("object", {}))


def _data(event: dict[str, Any]) -> Data:
    change = event["changes"][0]
    data = {name: base64.b64decode(value) for name, value in change.get("data", {}).items()}
    return Data(event["watch"], change["op"], change["key"], change.get("type", ""),
                change.get("immutable", False), data)


def read_event(text: bytes) -> Optional[Event]:
    """The event of k8s_sd_event_json(); None for a type that this version does not know."""
    event = json.loads(text)
    watch, kind = event["watch"], event["type"]
    if kind == "groups":
        return GroupDiff(watch, event["full"], [_group(change) for change in event["changes"]],
                         event["more"])
    if kind == "targets":
        return TargetDiff(watch, event["job"], event["full"],
                          [_target(change) for change in event["changes"]], event["more"])
    if kind == "objects":
        return ObjectDiff(watch, event["full"], [_object(change) for change in event["changes"]])
    if kind == "object":
        return _data(event)
    if kind == "status":
        return Status(watch, event["synced"], event["message"], event.get("job", ""))
    return None
