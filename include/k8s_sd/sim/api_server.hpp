#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/sim/custom_resource.hpp"
#include "k8s_sd/sim/memory_connector.hpp"
#include "k8s_sd/sim/message.hpp"

#include <boost/json/object.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::sim {

/// How a simulated server behaves.
struct ApiServerOptions {
    /// Time between two bookmarks of a watch. A last one is sent two seconds before the end.
    Duration bookmark_interval = std::chrono::seconds(60);
    bool bookmarks = true;  ///< false: never send any, as some aggregated servers
    /// A watch may begin with all objects and a bookmark that marks their end (sendInitialEvents).
    /// false: 422, as from servers without the WatchList feature (Kubernetes before 1.34).
    bool watch_list = true;
    /// true: sendInitialEvents, and resourceVersionMatch of a watch, are ignored, as by servers
    /// much older than Kubernetes 1.27 and by some aggregated ones.
    bool ignore_initial_events = false;
    bool initial_events_end = true;  ///< false: their end is never marked; other bookmarks are sent
    /// false: protobuf is not known (406, or what else a client accepts), as aggregated servers and
    /// custom resources have it.
    bool protobuf = true;
    /// false: partial objects (as=PartialObjectMetadata) are not known (406, or what else a client
    /// accepts), as before Kubernetes 1.15.
    bool metadata_only = true;
    /// false: Accept-Encoding is ignored, as before Kubernetes 1.16. Watches are never compressed.
    bool gzip = true;
    std::size_t gzip_threshold = 128 * 1024;  ///< bodies of so many bytes are not yet compressed
    std::size_t history = 10'000;  ///< events kept of each resource; older versions answer 410
    /// A watch whose client has left so many events unread is ended.
    std::size_t max_unread_events = 10'000;
    std::size_t max_open_connections = 10'000;  ///< further ones are closed at once
    std::string token = {};            ///< the bearer token requests must carry; empty: anybody may
    std::string path_prefix = {};      ///< "/k8s/cluster-1": requests elsewhere answer 404
    std::string tls_certificate = {};  ///< PEM chain; with tls_key: listen() speaks TLS
    std::string tls_key = {};          ///< PEM
    std::string tls_client_ca = {};    ///< PEM; if set, clients must show a certificate it signed
    std::shared_ptr<Clock> clock = {};  ///< of bookmarks and time-outs; null: system_clock()
};

/// A Kubernetes API server in the process: LIST, WATCH and GET of the resources that service
/// discovery uses (and a few that make a cluster complete), with resource versions, paging,
/// selectors, bookmarks, discovery documents and tables for kubectl. It stores what it is given;
/// there are no controllers. By HTTP nothing is written but Leases (create, update, delete), which
/// go with the object that owns them, as if there was a garbage collector.
///
/// Made for tests of programs that use k8s_sd, and for demonstrations. It listens on 127.0.0.1
/// only, or is reached in memory through connector(). It speaks JSON and Kubernetes' protobuf,
/// and compresses long answers with gzip.
///
/// All members are thread-safe. The server works on the executor's context, which must outlive
/// it; the destructor ends every connection (as soon as the context runs) and does not wait.
class K8S_SD_EXPORT ApiServer {
 public:
    /// Empty, and reached through connector() until listen().
    explicit ApiServer(asio::any_io_executor, ApiServerOptions = {});
    ~ApiServer();
    ApiServer(const ApiServer&) = delete;
    ApiServer& operator=(const ApiServer&) = delete;

    // ---- Ways in ---------------------------------------------------------------------------
    /// Listens on 127.0.0.1. \param port 0: any free one. \returns the port
    /// \throws boost::system::system_error if the port is taken,
    ///         ConfigError for a certificate or key that cannot be used
    unsigned short listen(unsigned short port = 0);
    /// "http://127.0.0.1:34567" after listen() (https with a certificate), before it
    /// "http://sim.invalid", which only connector() reaches; with the path prefix.
    std::string url() const;
    /// A transport in memory that leads every target to this server.
    std::shared_ptr<MemoryConnector> connector(TransportFaults = {});

    // ---- Content: visible to the next request, running watches are told at once ---------------
    /// Creates or updates the object that kind, apiVersion, metadata.namespace and metadata.name
    /// identify. Assigns a resource version, and a uid where it has none (an update keeps the
    /// object's). An object equal to the stored one changes nothing.
    /// \returns its resource version
    /// \throws std::invalid_argument for an unknown kind or an object without a name
    std::string apply(boost::json::object);
    /// The same from JSON text. \throws boost::system::system_error if it is not JSON
    std::string apply(std::string_view json);
    /// \param resource  plural name or kind \returns false if there is no such object
    bool remove(std::string_view resource, std::string_view ns, std::string_view name);
    /// Makes the items of a recorded List body, with their versions, the whole content of their
    /// resource. Versions go on from the list's; running watches of the resource end with a 410.
    /// \throws as apply()
    void load(std::string_view list_json);
    /// Applies a recorded watch event, {"type": ..., "object": ...}, with its versions. BOOKMARK
    /// and ERROR go to the running watches of the resource as they are; ERROR ends them.
    /// \throws as apply()
    void replay(std::string_view resource, std::string_view event_json);
    /// From now on the server has a custom resource, whose objects go in and out as others do. The
    /// discovery documents have it, too. It is served in JSON, its metadata in protobuf as well.
    /// \throws std::invalid_argument if something is missing, and if the server has another
    /// resource of that name
    void add_resource(const CustomResource&);
    /// As if its CustomResourceDefinition was deleted: its objects are gone, running watches of it
    /// end, and requests for it are answered with 404.
    /// \throws std::invalid_argument for an unknown resource
    void remove_resource(std::string_view plural);
    /// Forgets history: watches, lists and continue tokens from before now answer 410.
    void compact();
    std::string resource_version() const;  ///< of the newest change
    /// The stored object with kind and apiVersion; nullopt without one.
    std::optional<boost::json::object> get(std::string_view resource, std::string_view ns,
                                           std::string_view name) const;
    /// The stored objects with kind and apiVersion, by namespace and name: as a list answers them.
    /// \param ns  empty: of all namespaces \throws std::invalid_argument for an unknown resource
    std::vector<boost::json::object> list(std::string_view resource,
                                          std::string_view ns = {}) const;
    /// Calls `visit` with each object of list(), of all namespaces, without keeping them all. It
    /// sees one state of the resource, and may call the server and change it.
    /// \throws as list(), and what `visit` throws
    void for_each(std::string_view resource,
                  const std::function<void(const boost::json::object&)>& visit) const;
    std::size_t count(std::string_view resource) const;  ///< objects in all namespaces

    // ---- Faults --------------------------------------------------------------------------
    /// Asked for every request, on the server's strand; nullopt: the true answer. It must not
    /// call back into the server's fault members. Empty: none.
    using Intercept = std::function<std::optional<Response>(const Request&)>;
    void set_intercept(Intercept);  ///< replaces the previous one; for requests from now on
    /// Answers the next `times` requests whose path begins with `path` like this. Comes before
    /// the intercept; several calls queue up.
    void fail_next(Response, unsigned times = 1, std::string path = {});
    /// Answers every request of this resource with 403, as missing permissions do. Running
    /// watches go on, as on a real server.
    void deny(std::string_view plural);
    void allow(std::string_view plural);  ///< ends deny()
    /// In which versions of its API group the server has a resource, {"v1"} at first. {"v1beta1"}:
    /// as old servers have it. None: it does not have it, as if it were another server. The
    /// discovery documents say it, too. Running watches of the resource end; its objects stay.
    /// \throws std::invalid_argument for an unknown resource
    void set_served(std::string_view plural, std::vector<std::string> versions);
    /// How lists and objects, and watches as far as it concerns them, are encoded against what was
    /// agreed on.
    enum class EncodingFault {
        none,
        refuse_protobuf,         ///< 406 where protobuf was agreed on, though JSON would do, too
        unsupported_media_type,  ///< 415 where protobuf was agreed on
        json_for_protobuf,       ///< JSON where protobuf was agreed on; the Content-Type says so
        cut_gzip,                ///< compressed bodies lack their second half; the length is right
        gzip_members,            ///< compressed bodies are three gzip members
    };
    void set_encoding_fault(EncodingFault);  ///< for requests from now on
    /// Whether the server knows shardSelector (KEP-5866), as those have it whose feature gate
    /// ShardedListAndWatch is on.
    enum class ShardGate {
        off,    ///< the parameter is ignored, as it is by default
        on,     ///< lists and watches are of the shard only
        mixed,  ///< lists are, watches are not: as during the upgrade of several servers
    };
    void set_shard_gate(ShardGate);  ///< for requests from now on
    void set_token(std::string);     ///< see ApiServerOptions::token; for requests from now on

    /// What happens to a watch after send_to_watches().
    enum class After { go_on, end, drop };
    /// Sends raw bytes on the running watches of a resource, as one chunk of the body: garbage,
    /// half an event, an ERROR event. Then the watch goes on, ends cleanly, or its connection is
    /// closed.
    void send_to_watches(std::string_view plural, std::string bytes, After = After::go_on);
    /// Ends all running watches cleanly, as a server that shuts down, once they have sent what has
    /// happened so far.
    void end_watches();
    /// Closes all connections, in the middle of whatever they do.
    void disconnect_all();
    /// false: new connections are refused (existing ones stay). true: accepts again, on the same
    /// port.
    void accept_connections(bool);

    // ---- Observation ---------------------------------------------------------------------
    std::vector<RequestRecord> requests() const;  ///< oldest first; the last 10 000
    void clear_requests();                        ///< forgets them
    std::size_t open_connections() const;         ///< of clients, in memory and over TCP
    std::size_t open_watches() const;             ///< requests whose answer goes on

    class Impl;

 private:
    std::shared_ptr<Impl> impl_;
};

}  // namespace k8s_sd::inline v0::sim
