#ifndef K8S_SD_C_H
#define K8S_SD_C_H

/**
 * \file
 * Kubernetes service discovery for C and for every language that calls C: discovered targets,
 * scrape targets, objects of any kind, and single Secrets and ConfigMaps. The events are those of
 * the C++ library: first the complete state, then true changes only; an error removes nothing.
 *
 * \par Ownership
 * A context owns its watches. k8s_sd_next() passes an event to the host, which frees it with
 * k8s_sd_event_free(), also after the context is freed. Views (k8s_sd_string, k8s_sd_pair) are
 * valid as long as their event. Texts of type `char*` are freed with k8s_sd_text_free(), errors
 * with k8s_sd_error_free(). The library copies its arguments. Every function that frees accepts
 * NULL.
 *
 * \par Threads
 * All functions with a context may be called from any thread, except k8s_sd_free(), which must not
 * overlap with any other call for the same context. Different events may be used by different
 * threads; one event by one thread at a time.
 *
 * \par Errors
 * A function that can fail returns a k8s_sd_code, which is negative for an error, and fills `error`
 * unless that is NULL. `*error` must be NULL before the call. No function throws, and
 * none raises, blocks or handles a signal: the threads of the library block all. When memory is
 * exhausted, such a function returns K8S_SD_OUT_OF_MEMORY; in some places, such as k8s_sd_close(),
 * the process ends instead.
 *
 * \par Processes
 * A child made by fork() must not drive the context of its parent: functions with this context
 * return K8S_SD_FORKED (k8s_sd_next(): NULL), and k8s_sd_free() closes the child's copy of
 * k8s_sd_fd() only. The child may use and free the events taken before, and open contexts of its
 * own. exec closes all descriptors of the library.
 *
 * \par Versions
 * The major version of k8s_sd_abi_version() changes with the name of the library. Within one, no
 * function changes, and structs grow at their end only: the host sets `struct_size` to the size it
 * was compiled with (see K8S_SD_INIT), and omitted members have their defaults, zero or NULL. New
 * event types, operations and codes can appear: a host ignores those it does not know.
 */

#include <stddef.h>
#include <stdint.h>

/** Exports a function of the library. */
#if defined(__GNUC__)
#define K8S_SD_API __attribute__((visibility("default")))
#else
#define K8S_SD_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The version of this header: major version in the high 16 bits, minor version in the low ones. */
#define K8S_SD_ABI_VERSION 0x00010000u

/**
 * Initializes an options struct: `k8s_sd_options options = K8S_SD_INIT(k8s_sd_options);`
 * Members set to zero or NULL have their defaults.
 */
#ifdef __cplusplus
#define K8S_SD_INIT(type) (k8s_sd_sized<type>())
#else
#define K8S_SD_INIT(type) \
    { .struct_size = sizeof(type) }
#endif

/** A view of bytes, in general UTF-8 text, not terminated by a zero. `data` is NULL: no value. */
typedef struct k8s_sd_string {
    const char* data; /**< the first byte */
    size_t size;      /**< number of bytes */
} k8s_sd_string;

/** A label, an annotation, or a key of a Secret or ConfigMap, with its value. */
typedef struct k8s_sd_pair {
    k8s_sd_string name;  /**< the name or key */
    k8s_sd_string value; /**< the value; bytes for a Secret or ConfigMap */
} k8s_sd_pair;

/** A loop: the watches, their events and the means to drive them. */
typedef struct k8s_sd_context k8s_sd_context;
/** The changes of one watch since its previous event. Immutable for the host. */
typedef struct k8s_sd_event k8s_sd_event;
/** The code and the text of a failed call. */
typedef struct k8s_sd_error k8s_sd_error;
/** The number of a watch in its context, from 1; never reused. */
typedef uint64_t k8s_sd_id;

/* ------------------------------------------------------------------------------------- errors */

/** The result of a call. */
typedef enum k8s_sd_code {
    K8S_SD_OK = 0,
    K8S_SD_INVALID_ARGUMENT = -1, /**< NULL, a wrong struct_size, an unknown flag or value */
    K8S_SD_INVALID_CONFIG = -2,   /**< the text names the line and key, and the allowed values */
    K8S_SD_NOT_FOUND = -3,        /**< the context has no watch of this number */
    K8S_SD_CLOSED = -4,           /**< k8s_sd_close() was called */
    K8S_SD_FORKED = -5,           /**< the context belongs to the parent process */
    K8S_SD_BUSY = -6,             /**< another thread, or the caller itself, is in k8s_sd_poll() */
    K8S_SD_UNSUPPORTED = -7,      /**< the library was built without this part */
    K8S_SD_OUT_OF_MEMORY = -8,    /**< memory is exhausted; the call has no effect */
    K8S_SD_SYSTEM = -9,           /**< the system refuses a thread or descriptor */
    K8S_SD_INTERNAL = -10         /**< any other failure; the text has details */
} k8s_sd_code;

/** The code of the error; K8S_SD_OK for NULL. */
K8S_SD_API k8s_sd_code k8s_sd_error_code(const k8s_sd_error* error);
/** The problem and its remedy, without secrets; "" for NULL. Valid as long as the error. */
K8S_SD_API const char* k8s_sd_error_text(const k8s_sd_error* error);
/** Frees the error. */
K8S_SD_API void k8s_sd_error_free(k8s_sd_error* error);
/** The name of the enumerator, such as "K8S_SD_CLOSED"; "K8S_SD_UNKNOWN" for other numbers. */
K8S_SD_API const char* k8s_sd_code_name(int code);

/** K8S_SD_ABI_VERSION of the library. A host with a greater minor version needs a newer library. */
K8S_SD_API uint32_t k8s_sd_abi_version(void);
/** The version of the library as text, such as "0.1.0". */
K8S_SD_API const char* k8s_sd_version(void);

/* ------------------------------------------------------------------------------------ context */

/** The severity of a log line; each level includes those before it. */
typedef enum k8s_sd_log_level {
    K8S_SD_LOG_DEFAULT = 0, /**< as K8S_SD_LOG_WARNING */
    K8S_SD_LOG_OFF = 1,
    K8S_SD_LOG_ERROR = 2,
    K8S_SD_LOG_WARNING = 3,
    K8S_SD_LOG_INFO = 4,
    K8S_SD_LOG_DEBUG = 5
} k8s_sd_log_level;

/**
 * Receives a log line, without line break and without secrets; `line` is valid during the call.
 * Called in the library's thread. With K8S_SD_NO_THREAD: in k8s_sd_poll(), and in k8s_sd_close(),
 * k8s_sd_free() and exit(), which run what the watches have left. Must not block, and must not call
 * a function with the context.
 */
typedef void (*k8s_sd_log)(void* user, k8s_sd_log_level level, const char* line);

/** Flags of k8s_sd_options. */
enum {
    /**
     * No thread of the library runs the context: it runs while the host is in k8s_sd_poll(), and
     * for the last time in k8s_sd_close(), k8s_sd_free() or exit(), whichever is first.
     */
    K8S_SD_NO_THREAD = 1,
    /** Makes k8s_sd_event_json() of each event ahead, in the thread that runs the context. */
    K8S_SD_EVENTS_AS_JSON = 2,
    /**
     * A configuration without a server means, in this order: $KUBECONFIG, the service account of
     * the program's pod, ~/.kube/config. Without the flag: the service account.
     */
    K8S_SD_FIND_SERVER = 4
};

/** Options of a context. */
typedef struct k8s_sd_options {
    size_t struct_size; /**< sizeof(k8s_sd_options) */
    uint64_t flags;     /**< sum of the flags above */
    k8s_sd_log log;     /**< NULL: lines go to standard error */
    void* log_user;     /**< the first argument of `log` */
    int32_t log_level;  /**< a k8s_sd_log_level */
    int32_t reserved;   /**< zero */
} k8s_sd_options;

/**
 * Makes a context, and starts its thread unless K8S_SD_NO_THREAD is set.
 * \param options  NULL: the defaults
 * \return NULL with an error
 */
K8S_SD_API k8s_sd_context* k8s_sd_open(const k8s_sd_options* options, k8s_sd_error** error);
/**
 * Stops all watches and the thread, drops the queued events, and ends a k8s_sd_poll() of another
 * thread with K8S_SD_CLOSED. Idempotent. The descriptor of k8s_sd_fd() stays open, and becomes
 * readable. Afterwards the context has no use but k8s_sd_free().
 */
K8S_SD_API void k8s_sd_close(k8s_sd_context* context);
/** Closes the context and frees it. Close the host's registration of k8s_sd_fd() first. */
K8S_SD_API void k8s_sd_free(k8s_sd_context* context);

/* ------------------------------------------------------------------------------------ watches */

/** The labels and rules of a program. */
typedef enum k8s_sd_dialect {
    K8S_SD_PROMETHEUS = 0,
    K8S_SD_VICTORIAMETRICS = 1
} k8s_sd_dialect;

/** What k8s_sd_discover() and k8s_sd_scrape() read. */
typedef struct k8s_sd_config {
    size_t struct_size;             /**< sizeof(k8s_sd_config) */
    const char* yaml;               /**< the text; required */
    const char* file_name;          /**< for errors and relative paths; NULL: "<yaml>" */
    const char* prometheus_version; /**< such as "3.14"; NULL: "3.5" */
    void* user;                     /**< k8s_sd_event_user() of the events */
    int32_t dialect;                /**< a k8s_sd_dialect */
    uint32_t min_interval_ms;       /**< minimum time between two events; 0: none */
    /**
     * Maximum number of changes in one event, so that a host with a loop can do other work between
     * the parts of a large diff, see k8s_sd_event_more(). 0: no limit.
     */
    uint32_t max_changes;
    uint32_t reserved; /**< zero */
} k8s_sd_config;

/**
 * Discovers targets: K8S_SD_GROUPS events.
 * `config->yaml` is one entry of `kubernetes_sd_configs`, as of Prometheus or vmagent. Reads the
 * files named there; no network I/O.
 * \param id  receives the number of the watch; may be NULL
 */
K8S_SD_API k8s_sd_code k8s_sd_discover(k8s_sd_context* context, const k8s_sd_config* config,
                                       k8s_sd_id* id, k8s_sd_error** error);
/**
 * Discovers the targets of all jobs of a configuration file, and relabels them: K8S_SD_TARGETS
 * events, each of one job. `config->yaml` has `scrape_configs` and perhaps `global`. A job with a
 * mistake makes the text unusable. Other mechanisms than Kubernetes, static lists, files and HTTP
 * are ignored; so is everything about samples.
 */
K8S_SD_API k8s_sd_code k8s_sd_scrape(k8s_sd_context* context, const k8s_sd_config* config,
                                     k8s_sd_id* id, k8s_sd_error** error);
/**
 * Replaces the configuration of a k8s_sd_scrape(). Equal parts continue: events name only the
 * targets that differ. With an error, the previous configuration stays in force. Ignores
 * `config->user`.
 */
K8S_SD_API k8s_sd_code k8s_sd_reload(k8s_sd_context* context, k8s_sd_id id,
                                     const k8s_sd_config* config, k8s_sd_error** error);

/** What k8s_sd_watch() and k8s_sd_follow() watch, and where. */
typedef struct k8s_sd_query {
    size_t struct_size; /**< sizeof(k8s_sd_query) */
    /**
     * The server: lines of an entry of `kubernetes_sd_configs`, of which `api_server`,
     * `kubeconfig_file`, the keys of the HTTP client and `namespaces` are allowed. NULL: none.
     */
    const char* server;
    const char* group; /**< API group of the kind, such as "apps"; NULL: the core group */
    const char* kind;  /**< such as "Deployment"; required */
    const char* name_space; /**< of a followed object; required for k8s_sd_follow(), else NULL */
    const char* name;       /**< the same */
    const char* label_selector; /**< such as "app=web"; NULL: all objects */
    const char* field_selector; /**< such as "spec.nodeName=node-1"; NULL: all objects */
    /**
     * Paths of the fields to keep, such as "metadata.labels" and "status.podIP", ended by NULL.
     * Other fields take no memory and cause no events. NULL: all fields.
     */
    const char* const* fields;
    void* user;               /**< k8s_sd_event_user() of the events */
    uint32_t min_interval_ms; /**< minimum time between two events; 0: none */
    uint32_t reserved;        /**< zero */
} k8s_sd_query;

/** Watches the objects of any kind, custom ones too: K8S_SD_OBJECTS events. */
K8S_SD_API k8s_sd_code k8s_sd_watch(k8s_sd_context* context, const k8s_sd_query* query,
                                    k8s_sd_id* id, k8s_sd_error** error);
/**
 * Follows one Secret or ConfigMap by its name, with the permission for this object only:
 * K8S_SD_OBJECT events. The first one says whether the object exists.
 */
K8S_SD_API k8s_sd_code k8s_sd_follow(k8s_sd_context* context, const k8s_sd_query* query,
                                     k8s_sd_id* id, k8s_sd_error** error);

/** Ends a watch and drops its queued events: k8s_sd_next() returns none of them any more. */
K8S_SD_API k8s_sd_code k8s_sd_cancel(k8s_sd_context* context, k8s_sd_id id, k8s_sd_error** error);

/* -------------------------------------------------------------------------------------- drive */

/**
 * A descriptor that is readable while k8s_sd_next() has an event, and after k8s_sd_close(). Only
 * for waiting, as in poll(2); the host neither reads nor closes it. Valid until k8s_sd_free().
 * \return -1 for NULL, and with K8S_SD_NO_THREAD, since nothing runs while the host waits
 */
K8S_SD_API int k8s_sd_fd(const k8s_sd_context* context);
/**
 * Waits until there is an event. With K8S_SD_NO_THREAD, runs the context meanwhile, in this thread;
 * 0 runs what is ready.
 * \param timeout_ms  negative: no limit
 * \return 1: there is an event; 0: the time has passed; else a k8s_sd_code
 */
K8S_SD_API int k8s_sd_poll(k8s_sd_context* context, int timeout_ms, k8s_sd_error** error);
/**
 * Takes the oldest event; NULL: there is none. Never blocks.
 *
 * The queue has a bound: one event for each watch (of k8s_sd_scrape(): for each job) and one more
 * about its status. Until the host takes it, further changes are coalesced behind it: one entry for
 * each group, target or object with its latest state. So memory grows with the number of objects
 * that exist, or that the host knows, and not with the number of changes or the delay of the host.
 * When memory was exhausted, watches begin again with their complete state.
 */
K8S_SD_API k8s_sd_event* k8s_sd_next(k8s_sd_context* context);
/** Frees the event with all its views. Data of Secrets are overwritten. */
K8S_SD_API void k8s_sd_event_free(k8s_sd_event* event);

/** The status of all watches as JSON: k8s_sd_text_free(). NULL: see `error`. */
K8S_SD_API char* k8s_sd_status_json(k8s_sd_context* context, k8s_sd_error** error);
/**
 * The metrics of the context in Prometheus' text format: k8s_sd_text_free(). NULL: see `error`.
 * Metrics of single URLs have the label `watch`, the number of the watch.
 */
K8S_SD_API char* k8s_sd_metrics_text(k8s_sd_context* context, k8s_sd_error** error);
/** Frees a text. */
K8S_SD_API void k8s_sd_text_free(char* text);

/* ------------------------------------------------------------------------------------- events */

/** The content of an event. */
typedef enum k8s_sd_event_type {
    K8S_SD_GROUPS = 1,  /**< each change is a target group, with the labels of its targets */
    K8S_SD_TARGETS = 2, /**< each change is a target to scrape, after relabelling */
    K8S_SD_OBJECTS = 3, /**< each change is an object of k8s_sd_watch() */
    K8S_SD_OBJECT = 4,  /**< one change: the object of k8s_sd_follow() */
    /** No change: see k8s_sd_event_synced(). Of k8s_sd_scrape(): the status of one job. */
    K8S_SD_STATUS = 5
} k8s_sd_event_type;

/** The kind of a change. */
typedef enum k8s_sd_op {
    K8S_SD_ADDED = 1,
    K8S_SD_CHANGED = 2, /**< replaces the previous state of the same key */
    K8S_SD_REMOVED = 3, /**< the last delivered state; of K8S_SD_OBJECT: there is none */
    /** Of a group: another Kubernetes object of this name, so none of its targets continue. */
    K8S_SD_REPLACED = 4
} k8s_sd_op;

/** Sets of pairs of a change; smaller numbers are the targets of a group. */
enum {
    K8S_SD_LABELS = -1,      /**< labels of the group, the scrape target or the object */
    K8S_SD_ANNOTATIONS = -2, /**< annotations of an object of k8s_sd_watch() */
    K8S_SD_DATA = -3         /**< data of a Secret or ConfigMap */
};

/** The type; 0 for NULL. All accessors return zero, NULL or an empty view for wrong arguments. */
K8S_SD_API int k8s_sd_event_type_of(const k8s_sd_event* event);
/** The watch of the event. */
K8S_SD_API k8s_sd_id k8s_sd_event_watch(const k8s_sd_event* event);
/** `user` of the watch. */
K8S_SD_API void* k8s_sd_event_user(const k8s_sd_event* event);
/** 1: the complete state, forget everything else (of K8S_SD_TARGETS: of this job). */
K8S_SD_API int k8s_sd_event_full(const k8s_sd_event* event);
/**
 * 1: the rest of the same diff follows in the next events of the watch (of K8S_SD_TARGETS: of the
 * job). Only with `max_changes`. The first part of a complete state is `full`; the state is
 * complete with the first event for which this is 0, and that may have no changes.
 */
K8S_SD_API int k8s_sd_event_more(const k8s_sd_event* event);
/** Of K8S_SD_STATUS: 1 once the complete state is known. */
K8S_SD_API int k8s_sd_event_synced(const k8s_sd_event* event);
/** Of K8S_SD_STATUS: the error of the last attempt and its remedy; empty while there is none. */
K8S_SD_API k8s_sd_string k8s_sd_event_message(const k8s_sd_event* event);
/** Of K8S_SD_TARGETS, and of K8S_SD_STATUS of k8s_sd_scrape(): the name of the job. */
K8S_SD_API k8s_sd_string k8s_sd_event_job(const k8s_sd_event* event);
/** The event as JSON, as docs/guide/c-interface.md describes; ended by a zero. */
K8S_SD_API k8s_sd_string k8s_sd_event_json(k8s_sd_event* event);

/** The number of changes. */
K8S_SD_API size_t k8s_sd_event_size(const k8s_sd_event* event);
/** The k8s_sd_op of a change. */
K8S_SD_API int k8s_sd_change_op(const k8s_sd_event* event, size_t change);
/**
 * The identity within the watch: of a group its source, such as "pod/shop/web-0"; of a target its
 * number within the job; of an object "namespace/name", or "name" without a namespace.
 */
K8S_SD_API k8s_sd_string k8s_sd_change_key(k8s_sd_event* event, size_t change);
/** The number of targets of a group; 0 for a removed group and for other events. */
K8S_SD_API size_t k8s_sd_change_targets(const k8s_sd_event* event, size_t change);
/**
 * Copies views of the pairs of a set.
 * \param set       the index of a target of a group, or K8S_SD_LABELS and its neighbours
 * \param capacity  number of elements of `pairs`
 * \return the number of pairs of the set; greater than `capacity`: only the first are copied
 */
K8S_SD_API size_t k8s_sd_change_pairs(const k8s_sd_event* event, size_t change, int64_t set,
                                      k8s_sd_pair* pairs, size_t capacity);
/** The value of a name in a set; for a target of a group also among the labels of the group. */
K8S_SD_API k8s_sd_string k8s_sd_change_value(const k8s_sd_event* event, size_t change, int64_t set,
                                             const char* name);
/**
 * A field of an object of k8s_sd_watch() by its JSON pointer (RFC 6901), such as "/spec/nodeName"
 * or "/status/containerStatuses/0/name": the text of a string, the JSON of any other value.
 */
K8S_SD_API k8s_sd_string k8s_sd_change_field(k8s_sd_event* event, size_t change,
                                             const char* pointer);
/** Of a scrape target: its URL. */
K8S_SD_API k8s_sd_string k8s_sd_change_url(k8s_sd_event* event, size_t change);
/** Of a scrape target: the time between two scrapes. */
K8S_SD_API uint64_t k8s_sd_change_interval_ms(const k8s_sd_event* event, size_t change);
/** Of a scrape target: the time for one scrape. */
K8S_SD_API uint64_t k8s_sd_change_timeout_ms(const k8s_sd_event* event, size_t change);

#ifdef __cplusplus
}

extern "C++" {
template <class Options>
Options k8s_sd_sized() {
    Options options = Options();
    options.struct_size = sizeof(Options);
    return options;
}
}
#endif

#endif
