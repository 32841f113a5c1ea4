"""The functions of libk8s_sd_c, by ctypes."""

from __future__ import annotations

import ctypes
import os
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int32, c_size_t, c_uint32,
                    c_uint64, c_void_p)

ABI_VERSION = 0x00010000

NO_THREAD = 1
EVENTS_AS_JSON = 2
FIND_SERVER = 4

INVALID_ARGUMENT, INVALID_CONFIG, NOT_FOUND, CLOSED, FORKED = -1, -2, -3, -4, -5

LogFunction = CFUNCTYPE(None, c_void_p, c_int, c_char_p)


class String(Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]

    def bytes(self) -> bytes:
        return ctypes.string_at(self.data, self.size) if self.data else b""


class Options(Structure):
    _fields_ = [("struct_size", c_size_t), ("flags", c_uint64), ("log", LogFunction),
                ("log_user", c_void_p), ("log_level", c_int32), ("reserved", c_int32)]


class Config(Structure):
    _fields_ = [("struct_size", c_size_t), ("yaml", c_char_p), ("file_name", c_char_p),
                ("prometheus_version", c_char_p), ("user", c_void_p), ("dialect", c_int32),
                ("min_interval_ms", c_uint32), ("max_changes", c_uint32), ("reserved", c_uint32)]


class Query(Structure):
    _fields_ = [("struct_size", c_size_t), ("server", c_char_p), ("group", c_char_p),
                ("kind", c_char_p), ("name_space", c_char_p), ("name", c_char_p),
                ("label_selector", c_char_p), ("field_selector", c_char_p),
                ("fields", POINTER(c_char_p)), ("user", c_void_p), ("min_interval_ms", c_uint32),
                ("reserved", c_uint32)]


_ERROR = POINTER(c_void_p)
_PROTOTYPES = {
    "k8s_sd_abi_version": (c_uint32, []),
    "k8s_sd_version": (c_char_p, []),
    "k8s_sd_error_code": (c_int, [c_void_p]),
    "k8s_sd_error_text": (c_char_p, [c_void_p]),
    "k8s_sd_error_free": (None, [c_void_p]),
    "k8s_sd_open": (c_void_p, [POINTER(Options), _ERROR]),
    "k8s_sd_close": (None, [c_void_p]),
    "k8s_sd_free": (None, [c_void_p]),
    "k8s_sd_discover": (c_int, [c_void_p, POINTER(Config), POINTER(c_uint64), _ERROR]),
    "k8s_sd_scrape": (c_int, [c_void_p, POINTER(Config), POINTER(c_uint64), _ERROR]),
    "k8s_sd_reload": (c_int, [c_void_p, c_uint64, POINTER(Config), _ERROR]),
    "k8s_sd_watch": (c_int, [c_void_p, POINTER(Query), POINTER(c_uint64), _ERROR]),
    "k8s_sd_follow": (c_int, [c_void_p, POINTER(Query), POINTER(c_uint64), _ERROR]),
    "k8s_sd_cancel": (c_int, [c_void_p, c_uint64, _ERROR]),
    "k8s_sd_fd": (c_int, [c_void_p]),
    "k8s_sd_poll": (c_int, [c_void_p, c_int, _ERROR]),
    "k8s_sd_next": (c_void_p, [c_void_p]),
    "k8s_sd_event_free": (None, [c_void_p]),
    "k8s_sd_event_json": (String, [c_void_p]),
    "k8s_sd_status_json": (c_void_p, [c_void_p, _ERROR]),
    "k8s_sd_metrics_text": (c_void_p, [c_void_p, _ERROR]),
    "k8s_sd_text_free": (None, [c_void_p]),
}


def _load() -> ctypes.CDLL:
    name = os.environ.get("K8S_SD_LIBRARY", "libk8s_sd_c.so.1")
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise ImportError(f"{error}; install libk8s_sd_c, or set K8S_SD_LIBRARY to its path"
                          ) from error
    library.k8s_sd_abi_version.restype = c_uint32
    version = library.k8s_sd_abi_version()
    if version >> 16 != ABI_VERSION >> 16 or version < ABI_VERSION:
        raise ImportError(f"{name} has version {version:#010x} of the interface; this package needs "
                          f"{ABI_VERSION:#010x} or a later minor version")
    for function, (result, arguments) in _PROTOTYPES.items():
        prototype = getattr(library, function)
        prototype.restype, prototype.argtypes = result, arguments
    return library


library = _load()
