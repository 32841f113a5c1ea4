#pragma once

#include "k8s_sd/sim/api_server.hpp"
#include "sim/api/negotiation.hpp"
#include "sim/api/route.hpp"
#include "sim/api/status.hpp"
#include "sim/http/connection.hpp"
#include "sim/http/http2_connection.hpp"
#include "sim/http/listener.hpp"
#include "sim/store/store.hpp"

#include <boost/asio/strand.hpp>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::sim {

/// The implementation of ApiServer. Connections run on the strand; the content is in the Store with
/// its own lock; settings of tests, made from any thread, are guarded by `mutex_`.
class ApiServer::Impl final : public std::enable_shared_from_this<Impl>,
                              public Connection::Server,
                              public Http2Connection::Server {
 public:
    Impl(const asio::any_io_executor&, ApiServerOptions);

    const ApiServerOptions& options() const { return options_; }
    const asio::strand<asio::any_io_executor>& strand() const { return strand_; }
    Store& store() { return store_; }

    unsigned short listen(unsigned short port);
    std::string url() const;
    std::shared_ptr<MemoryConnector> connector(TransportFaults);
    void accept_connections(bool);
    void shutdown();  ///< on the strand

    /// Removes an object, and the Leases without any other owner. \returns whether there was one
    /// \throws any exception of `check`, called with the object
    bool remove(const ResourceType&, std::string_view key,
                const std::function<void(const Object&)>& check = {});
    /// Notifies the running watches of a resource of new changes.
    void wake(const ResourceType&);
    /// Calls the function for each connection, on the strand.
    void for_each_connection(std::function<void(Connection&)>);

    /// The same for each connection by HTTP/2.
    void for_each_http2_connection(std::function<void(Http2Connection&)>);
    void disconnect_all();

    void set_http2(Http2Behavior);
    void set_intercept(Intercept);
    void fail_next(Response, unsigned times, std::string path);
    void set_denied(std::string_view plural, bool denied);
    void set_served(const ResourceType&, std::vector<std::string> versions);
    /// Among the present and former resources of this server. \throws std::invalid_argument
    const ResourceType& type_of_name(std::string_view) const;
    ServerTypes& types() { return types_; }
    void set_encoding_fault(EncodingFault fault) { encoding_fault_ = fault; }
    void set_shard_gate(ShardGate gate) { shard_gate_ = gate; }
    void set_token(std::string);

    std::vector<RequestRecord> requests() const;
    void clear_requests();
    std::size_t open_connections() const { return open_connections_; }
    std::size_t http2_connections() const { return http2_count_; }
    std::size_t open_watches() const { return open_watches_; }

 private:
    struct PlannedFailure {
        Response response;
        unsigned times = 1;
        std::string path;
    };

    void serve(Connection&, Request) override;
    void closed(Connection&) override;
    void watch_ended() override { --open_watches_; }
    Clock& clock() override { return *clock_; }

    void on_http1(std::unique_ptr<ByteStream>) override;
    void on_http2_stream(std::unique_ptr<ByteStream>) override;
    void on_http2(Http2Connection&) override { ++http2_count_; }
    void closed(Http2Connection&) override;
    Http2Behavior http2_behavior() const override;

    void accept(std::unique_ptr<ByteStream>);
    void close_all();
    void add_connection(std::unique_ptr<ByteStream>, Connection::Transport);
    std::optional<Response> prescribed(const Request&);
    void answer(Connection&, Request, const Response&);
    void answer_truly(Connection&, Request);
    Response document(const std::string& path) const;
    Response resource(const Request&, const Route&) const;
    Response write(const Request&, const Route&);
    Response put_object(const Request&, const Route&);
    Response delete_object(const Request&, const Route&);
    void remove_leases_of(const Object& owner);
    Encoding negotiated(const Request&, Endpoint, const Route&) const;
    Response failed(const Request&, const StatusError&) const;
    void compress(const Request&, Response&) const;
    void watch(Connection&, Request, const Route&);
    std::vector<std::string> served(const ResourceType&) const;
    void check_credentials(const Request&) const;
    void check_permission(const Request&, const Route&) const;
    void record(Request, unsigned status);

    const asio::strand<asio::any_io_executor> strand_;
    const ApiServerOptions options_;
    const std::shared_ptr<Clock> clock_;
    ServerTypes types_;  // types of the objects in the store
    Store store_;

    std::set<std::shared_ptr<Connection>> connections_;             // on the strand
    std::set<std::shared_ptr<Http2Connection>> http2_connections_;  // on the strand
    bool shut_down_ = false;                                        // on the strand
    std::atomic<std::size_t> open_connections_{0};
    std::atomic<std::size_t> http2_count_{0};
    std::atomic<std::size_t> open_watches_{0};
    std::atomic<bool> accepting_{true};
    std::atomic<EncodingFault> encoding_fault_{EncodingFault::none};
    std::atomic<ShardGate> shard_gate_{ShardGate::off};
    std::set<const ResourceType*> wake_pending_;  ///< under the mutex

    mutable std::mutex mutex_;
    std::shared_ptr<Listener> listener_;
    Http2Behavior http2_behavior_;
    Intercept intercept_;
    std::deque<PlannedFailure> planned_;
    std::set<std::string, std::less<>> denied_;
    std::map<const ResourceType*, std::vector<std::string>> served_;  ///< set by set_served()
    std::string token_;
    std::deque<RequestRecord> requests_;
};

}  // namespace k8s_sd::inline v0::sim
