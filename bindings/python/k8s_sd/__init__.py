"""Kubernetes service discovery: the targets of a cluster, and every change.

    import k8s_sd

    for diff in k8s_sd.discover(role="pod"):
        for group in diff.changes:
            print(group.op, group.source, [target["__address__"] for target in group.targets])

The first diff is the complete state; later ones have true changes only. Errors remove nothing: they
are logged (logger "k8s_sd") and retried. `async for` works, too. The package needs the library
libk8s_sd_c, and no compiler.
"""

from . import _library
from .context import Closed, ConfigError, Context, Error, NotFound, Yaml
from .events import (Data, Diff, Event, Group, GroupDiff, Object, ObjectDiff, Op, Status, Target,
                     TargetDiff)
from .streams import Stream, discover, follow, scrape, watch

__all__ = ["Closed", "ConfigError", "Context", "Data", "Diff", "Error", "Event", "Group",
           "GroupDiff", "NotFound", "Object", "ObjectDiff", "Op", "Status", "Stream", "Target",
           "TargetDiff", "Yaml", "discover", "follow", "scrape", "watch"]
#: The version of the library.
__version__: str = _library.library.k8s_sd_version().decode()
