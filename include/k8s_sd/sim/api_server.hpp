#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/sim/custom_resource.hpp"
#include "k8s_sd/sim/memory_connector.hpp"
#include "k8s_sd/sim/message.hpp"

#include <boost/json/object.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::sim {

/// The behaviour of a simulated server.
struct ApiServerOptions {
    /// Time between two bookmarks of a watch. A last one is sent two seconds before the end.
    Duration bookmark_interval = std::chrono::seconds(60);
    bool bookmarks = true;  ///< false: never sends any, like some aggregated servers
    /// Whether a watch may begin with all objects and a bookmark at their end (sendInitialEvents).
    /// false: 422, as from servers without the WatchList feature (Kubernetes before 1.34).
    bool watch_list = true;
    /// true: ignores sendInitialEvents, and resourceVersionMatch of a watch, like servers much
    /// older than Kubernetes 1.27 and some aggregated ones.
    bool ignore_initial_events = false;
    bool initial_events_end = true;  ///< false: never marks their end; sends other bookmarks
    /// false: no protobuf (406, or another acceptable encoding), like aggregated servers and custom
    /// resources.
    bool protobuf = true;
    /// false: no partial objects (as=PartialObjectMetadata) (406, or another acceptable form), as
    /// before Kubernetes 1.15.
    bool metadata_only = true;
    /// false: ignores Accept-Encoding, as before Kubernetes 1.16.
    bool gzip = true;
    /// Whether a watch that begins with all objects (sendInitialEvents) may be compressed, each
    /// write as a gzip member (WatchListCompression, KEP-3157). false: as before Kubernetes 1.37.
    /// Other watches are never compressed.
    bool gzip_watch_lists = true;
    /// Whether objects are sent without managedFields on request (`drop=metadata.managedFields` in
    /// Accept, KEP-5958). false: ignores the parameter, as before Kubernetes 1.38.
    bool drop_managed_fields = false;
    /// true: 406 for any unknown parameter in Accept, as from a strict proxy. Servers ignore it.
    bool refuse_accept_parameters = false;
    std::size_t gzip_threshold = 128 * 1024;  ///< bodies up to this many bytes are not compressed
    std::size_t history = 10'000;  ///< events kept of each resource; older versions get 410
    /// A watch ends when its client has left this number of events unread.
    std::size_t max_unread_events = 10'000;
    std::size_t max_open_connections = 10'000;  ///< further ones are closed at once
    /// Offers HTTP/2: by ALPN with a certificate, in memory to https. Needs a library built with
    /// nghttp2; without, it has no effect. See set_http2().
    bool http2 = false;
    std::string token = {};             ///< the required bearer token; empty: none required
    std::string path_prefix = {};       ///< "/k8s/cluster-1": requests elsewhere get 404
    std::string tls_certificate = {};   ///< PEM chain; with tls_key: listen() uses TLS
    std::string tls_key = {};           ///< PEM
    std::string tls_client_ca = {};     ///< PEM; if set, the required CA of client certificates
    std::shared_ptr<Clock> clock = {};  ///< for bookmarks and timeouts; null: system_clock()
};

/// The behaviour of a simulated server by HTTP/2.
struct Http2Behavior {
    std::uint32_t max_streams = 100;  ///< of a connection; the server refuses further ones
    bool answer_pings = true;         ///< false: as if the network had stalled
    bool refuse_streams = false;      ///< REFUSED_STREAM for every new request
    bool require_http1 = false;       ///< HTTP_1_1_REQUIRED for every new request
    bool omit_end_stream = false;     ///< complete responses end without END_STREAM
    /// RST_STREAM with this error code for every new request; 0: none. Such requests are not
    /// recorded.
    std::uint32_t reset_streams = 0;
};

/// A Kubernetes API server in the process: LIST, WATCH and GET of the resources for service
/// discovery (and a few more for completeness), with resource versions, paging, selectors,
/// bookmarks, discovery documents and tables for kubectl. It stores objects unchanged; there are no
/// controllers. HTTP requests can write nothing but Leases (create, update, delete), deleted
/// together with their owner as by the garbage collector.
///
/// Made for tests of programs with k8s_sd, and for demonstrations. It listens on 127.0.0.1 only, or
/// is reached in memory through connector(). It supports JSON and Kubernetes' protobuf, and
/// compresses long responses with gzip.
///
/// All members are thread-safe. The server works on the executor's context, which must outlive
/// it; the destructor ends every connection (as soon as the context runs) and does not wait.
class K8S_SD_EXPORT ApiServer {
 public:
    /// An empty server, reachable through connector() only until listen().
    explicit ApiServer(asio::any_io_executor, ApiServerOptions = {});
    ~ApiServer();
    ApiServer(const ApiServer&) = delete;
    ApiServer& operator=(const ApiServer&) = delete;

    // ---- Transports ------------------------------------------------------------------------
    /// Listens on 127.0.0.1. \param port 0: any free one. \returns the port
    /// \throws boost::system::system_error if the port is taken,
    ///         ConfigError for an invalid certificate or key
    unsigned short listen(unsigned short port = 0);
    /// "http://127.0.0.1:34567" after listen() (https with a certificate), before it
    /// "http://sim.invalid", reachable through connector() only; with the path prefix.
    std::string url() const;
    /// A transport in memory from every target to this server.
    std::shared_ptr<MemoryConnector> connector(TransportFaults = {});

    // ---- Content: visible to the next request and, at once, to running watches ----------------
    /// Creates or updates the object identified by kind, apiVersion, metadata.namespace and
    /// metadata.name. Assigns a resource version, and a uid if there is none (an update keeps the
    /// object's). An object equal to the stored one changes nothing.
    /// \returns its resource version
    /// \throws std::invalid_argument for an unknown kind or an object without a name
    std::string apply(boost::json::object);
    /// The same from JSON text. \throws boost::system::system_error if it is not JSON
    std::string apply(std::string_view json);
    /// \param resource  plural name or kind \returns false if there is no such object
    bool remove(std::string_view resource, std::string_view ns, std::string_view name);
    /// Replaces the content of a resource by the items of a recorded List body, with their
    /// versions. Later versions continue from the list's; running watches of the resource end with
    /// a 410.
    /// \throws as apply()
    void load(std::string_view list_json);
    /// Applies a recorded watch event, {"type": ..., "object": ...}, with its versions. BOOKMARK
    /// and ERROR go to the running watches of the resource as they are; ERROR ends them.
    /// \throws as apply()
    void replay(std::string_view resource, std::string_view event_json);
    /// Adds a custom resource. Its objects are stored and served like others. The discovery
    /// documents include it. It is served in JSON, its metadata also in protobuf.
    /// \throws std::invalid_argument for missing members, and for a name of another resource of the
    ///         server
    void add_resource(const CustomResource&);
    /// Removes a custom resource, as if its CustomResourceDefinition was deleted: its objects are
    /// dropped, its running watches end, and requests for it get 404.
    /// \throws std::invalid_argument for an unknown resource
    void remove_resource(std::string_view plural);
    /// Drops the history: watches, lists and continue tokens from before now get 410.
    void compact();
    std::string resource_version() const;  ///< version of the latest change
    /// The stored object with kind and apiVersion; nullopt if there is none.
    std::optional<boost::json::object> get(std::string_view resource, std::string_view ns,
                                           std::string_view name) const;
    /// The stored objects with kind and apiVersion, by namespace and name, as in a list response.
    /// \param ns  empty: all namespaces \throws std::invalid_argument for an unknown resource
    std::vector<boost::json::object> list(std::string_view resource,
                                          std::string_view ns = {}) const;
    /// Calls `visit` with each object of list(), in all namespaces, without keeping them all. It
    /// sees one state of the resource, and may call the server and change it.
    /// \throws as list(), and any exception of `visit`
    void for_each(std::string_view resource,
                  const std::function<void(const boost::json::object&)>& visit) const;
    std::size_t count(std::string_view resource) const;  ///< objects in all namespaces

    // ---- Faults --------------------------------------------------------------------------
    /// Called for every request, on the server's strand; nullopt: the normal response. It must not
    /// call back into the server's fault members. Empty: none.
    using Intercept = std::function<std::optional<Response>(const Request&)>;
    void set_intercept(Intercept);  ///< replaces the previous one; for requests from now on
    /// Answers the next `times` requests whose path begins with `path` with this response. Takes
    /// precedence over the intercept; several calls queue up.
    void fail_next(Response, unsigned times = 1, std::string path = {});
    /// Answers every request of this resource with 403, as for missing permissions. Running
    /// watches continue, as on a real server.
    void deny(std::string_view plural);
    void allow(std::string_view plural);  ///< ends deny()
    /// Sets the versions of its API group in which the server has a resource, {"v1"} at first.
    /// {"v1beta1"}: as on old servers. Empty: the server does not have the resource, as if it were
    /// another server. The discovery documents change accordingly. Running watches of the resource
    /// end; its objects stay.
    /// \throws std::invalid_argument for an unknown resource
    void set_served(std::string_view plural, std::vector<std::string> versions);
    /// Faults in the encoding of lists and objects, and of watches where applicable, contrary to
    /// content negotiation.
    enum class EncodingFault {
        none,
        refuse_protobuf,         ///< 406 for negotiated protobuf, although JSON is acceptable too
        unsupported_media_type,  ///< 415 for negotiated protobuf
        json_for_protobuf,       ///< JSON for negotiated protobuf; the Content-Type says so
        cut_gzip,                ///< compressed bodies lack their second half; the length is right
        gzip_members,            ///< compressed bodies are three gzip members
        plain_gzip,              ///< Content-Encoding says gzip, but the body is not compressed
        hidden_gzip,             ///< compressed, but Content-Encoding is missing
        garbage_after_gzip,      ///< garbage follows each compressed part
    };
    void set_encoding_fault(EncodingFault);  ///< for requests from now on
    /// Whether the server supports shardSelector (KEP-5866), by its feature gate
    /// ShardedListAndWatch.
    enum class ShardGate {
        off,    ///< the parameter is ignored, as by default
        on,     ///< lists and watches are restricted to the shard
        mixed,  ///< lists are restricted, watches are not: as during an upgrade of several servers
    };
    void set_shard_gate(ShardGate);  ///< for requests from now on
    void set_token(std::string);     ///< see ApiServerOptions::token; for requests from now on

    /// The state of a watch after send_to_watches().
    enum class After { go_on, end, drop };
    /// Sends raw bytes on the running watches of a resource, as one chunk of the body: garbage,
    /// half an event, an ERROR event. Then the watch continues, ends cleanly, or its connection is
    /// closed.
    void send_to_watches(std::string_view plural, std::string bytes, After = After::go_on);
    /// Ends all running watches cleanly, as a server does at shutdown, after they have sent all
    /// events so far.
    void end_watches();
    /// Closes all connections at once, regardless of pending requests.
    void disconnect_all();
    /// false: new connections are refused (existing ones stay). true: accepts again, on the same
    /// port.
    void accept_connections(bool);

    void set_http2(Http2Behavior);  ///< from now on; a new limit is reported to open connections
    /// The forms of GOAWAY. Streams in progress go on unless stated otherwise.
    enum class GoAway {
        announced,    ///< takes no further stream: the first of two, with the largest identifier
        graceful,     ///< the second one, or the only one: with the latest stream
        unprocessed,  ///< the latest stream is ignored: the client may send it again elsewhere
        calm,         ///< ENHANCE_YOUR_CALM
    };
    void send_goaway(GoAway);  ///< on all connections by HTTP/2
    /// Sends bytes on all connections by HTTP/2, as if they were frames: floods, for example.
    void send_http2_frames(std::string bytes);

    // ---- Observation ---------------------------------------------------------------------
    std::vector<RequestRecord> requests() const;  ///< oldest first; the last 10 000
    void clear_requests();                        ///< drops the records
    std::size_t open_connections() const;   ///< connections of clients, in memory and over TCP
    std::size_t http2_connections() const;  ///< those by HTTP/2
    std::size_t open_watches() const;       ///< running WATCH requests

    class Impl;

 private:
    std::shared_ptr<Impl> impl_;
};

}  // namespace k8s_sd::inline v0::sim
