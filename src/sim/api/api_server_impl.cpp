#include "sim/api/api_server_impl.hpp"

#include "k8s_sd/detail/base/http2_support.hpp"
#include "sim/api/discovery_documents.hpp"
#include "sim/api/list.hpp"
#include "sim/api/status.hpp"
#include "sim/api/write.hpp"
#include "sim/http/gzip.hpp"
#include "sim/store/json_access.hpp"

#include <boost/asio/post.hpp>
#include <algorithm>
#include <utility>

namespace k8s_sd::inline v0::sim {
namespace json = boost::json;
namespace {

constexpr std::size_t max_records = 10'000;

std::string_view verb_of(const Request& request, const Route& route) {
    if (request.method == "POST") return "create";
    if (request.method == "PUT") return "update";
    if (request.method == "DELETE") return "delete";
    if (request.is_watch()) return "watch";
    return route.name.empty() ? "list" : "get";
}

/// \throws StatusError 405
void check_method(const Request& request, const Route& route) {
    if (request.method == "GET") return;
    const bool of_object = request.method == "PUT" || request.method == "DELETE";
    const bool of_collection = request.method == "POST";
    if (route.type->writable && !route.ns.empty() &&
        (route.name.empty() ? of_collection : of_object)) {
        return;
    }
    fail(405, "MethodNotAllowed",
         "the server does not allow this method on the requested resource");
}

/// Whether the owner with this uid is the object's only owner.
bool is_owned_by(const Object& object, std::string_view uid) {
    if (object.text().find(uid) == std::string::npos) return false;
    const json::object value = object.value();
    const json::value* owners = value_at(value, "metadata.ownerReferences");
    return owners && owners->is_array() && owners->get_array().size() == 1 &&
           owners->get_array().front().is_object() &&
           text_at(owners->get_array().front().get_object(), "uid") == uid;
}

bool is_one_of(const std::vector<std::string>& versions, std::string_view version) {
    return std::find(versions.begin(), versions.end(), version) != versions.end();
}

Response plain_text(unsigned status, std::string body) {
    Response response;
    response.status = status;
    response.content_type = "text/plain; charset=utf-8";
    response.body = std::move(body);
    return response;
}

/// Uses chunked encoding for long bodies.
void frame(Response& response) {
    constexpr std::size_t chunk_threshold = 64 * 1024;
    if (response.body.size() > chunk_threshold) response.framing = Response::Framing::chunked;
}

}  // namespace

ApiServer::Impl::Impl(const asio::any_io_executor& executor, ApiServerOptions options)
    : strand_(asio::make_strand(executor)),
      options_(std::move(options)),
      clock_(options_.clock ? options_.clock : system_clock()),
      store_(options_.history),
      token_(options_.token) {}

std::string ApiServer::Impl::url() const {
    const std::lock_guard lock(mutex_);
    const bool tls = listener_ ? !options_.tls_certificate.empty()
                               : options_.http2 || !options_.tls_certificate.empty();
    const std::string scheme = tls ? "https://" : "http://";
    const std::string authority =
        listener_ ? "127.0.0.1:" + std::to_string(listener_->port()) : "sim.invalid";
    return scheme + authority + options_.path_prefix;
}

std::shared_ptr<MemoryConnector> ApiServer::Impl::connector(TransportFaults faults) {
    auto accept = [weak = weak_from_this()](std::unique_ptr<ByteStream> stream) {
        const auto self = weak.lock();
        if (!self || !self->accepting_) return false;
        asio::post(self->strand_, [self, stream = std::move(stream)]() mutable {
            self->accept(std::move(stream));
        });
        return true;
    };
    return std::make_shared<MemoryConnector>(strand_, std::move(accept), faults,
                                             options_.http2 && detail::has_http2());
}

void ApiServer::Impl::accept_connections(bool accept) {
    accepting_ = accept;
    asio::post(strand_, [self = shared_from_this(), accept] {
        const std::lock_guard lock(self->mutex_);
        if (!self->listener_ || self->shut_down_) return;
        accept ? self->listener_->restart() : self->listener_->stop();
    });
}

void ApiServer::Impl::shutdown() {
    shut_down_ = true;
    accepting_ = false;
    {
        const std::lock_guard lock(mutex_);
        if (listener_) listener_->stop();
    }
    close_all();
}

void ApiServer::Impl::close_all() {
    const auto shared = http2_connections_;
    for (const auto& connection : shared) connection->close();
    const auto connections = connections_;
    for (const auto& connection : connections) connection->close();
}

void ApiServer::Impl::disconnect_all() {
    asio::post(strand_, [self = shared_from_this()] { self->close_all(); });
}

void ApiServer::Impl::accept(std::unique_ptr<ByteStream> stream) {
    if (shut_down_ || open_connections_ >= options_.max_open_connections) return;
#if defined(K8S_SD_HTTP2)
    if (options_.http2) {
        auto connection = std::make_shared<Http2Connection>(*this, strand_, std::move(stream));
        http2_connections_.insert(connection);
        ++open_connections_;
        return connection->start();
    }
#endif
    add_connection(std::move(stream), Connection::Transport::unconnected);
}

void ApiServer::Impl::add_connection(std::unique_ptr<ByteStream> stream,
                                     Connection::Transport transport) {
    auto connection =
        std::make_shared<Connection>(*this, strand_, std::move(stream), transport, options_);
    connections_.insert(connection);
    if (transport != Connection::Transport::http2_stream) ++open_connections_;
    connection->start();
}

void ApiServer::Impl::closed(Connection& connection) {
    if (connection.transport() != Connection::Transport::http2_stream) --open_connections_;
    connections_.erase(connection.shared_from_this());
}

// ---- HTTP/2 -------------------------------------------------------------------------------------

void ApiServer::Impl::on_http1(std::unique_ptr<ByteStream> stream) {
    add_connection(std::move(stream), Connection::Transport::connected);
}

void ApiServer::Impl::on_http2_stream(std::unique_ptr<ByteStream> stream) {
    add_connection(std::move(stream), Connection::Transport::http2_stream);
}

void ApiServer::Impl::closed(Http2Connection& connection) {
    --open_connections_;
    if (connection.is_http2()) --http2_count_;
    http2_connections_.erase(connection.shared_from_this());
}

Http2Behavior ApiServer::Impl::http2_behavior() const {
    const std::lock_guard lock(mutex_);
    return http2_behavior_;
}

void ApiServer::Impl::set_http2(Http2Behavior behavior) {
    {
        const std::lock_guard lock(mutex_);
        const bool other = behavior.max_streams != http2_behavior_.max_streams;
        http2_behavior_ = behavior;
        if (!other) return;
    }
    for_each_http2_connection([](Http2Connection& connection) { connection.report_limit(); });
}

void ApiServer::Impl::for_each_http2_connection(std::function<void(Http2Connection&)> act) {
    asio::post(strand_, [self = shared_from_this(), act = std::move(act)] {
        const auto connections = self->http2_connections_;
        for (const auto& connection : connections) act(*connection);
    });
}

void ApiServer::Impl::wake(const ResourceType& type) {
    {
        const std::lock_guard lock(mutex_);
        if (!wake_pending_.insert(&type).second) return;
    }
    asio::post(strand_, [self = shared_from_this(), &type] {
        {
            const std::lock_guard lock(self->mutex_);
            self->wake_pending_.erase(&type);
        }
        const auto connections = self->connections_;
        for (const auto& connection : connections) connection->wake(type);
    });
}

void ApiServer::Impl::for_each_connection(std::function<void(Connection&)> act) {
    asio::post(strand_, [self = shared_from_this(), act = std::move(act)] {
        const auto connections = self->connections_;
        for (const auto& connection : connections) act(*connection);
    });
}

// ---- requests ----------------------------------------------------------------------------------

void ApiServer::Impl::serve(Connection& connection, Request request) {
    if (const auto response = prescribed(request)) {
        answer(connection, std::move(request), *response);
        return;
    }
    try {
        check_credentials(request);
        answer_truly(connection, request);
    } catch (const StatusError& error) {
        const Response response = failed(request, error);
        answer(connection, std::move(request), response);
    }
}

std::optional<Response> ApiServer::Impl::prescribed(const Request& request) {
    Intercept intercept;
    {
        const std::lock_guard lock(mutex_);
        const auto planned = std::find_if(planned_.begin(), planned_.end(), [&](const auto& p) {
            return request.path.starts_with(p.path);
        });
        if (planned != planned_.end()) {
            Response response = planned->response;
            if (--planned->times == 0) planned_.erase(planned);
            return response;
        }
        intercept = intercept_;
    }
    return intercept ? intercept(request) : std::nullopt;
}

void ApiServer::Impl::answer(Connection& connection, Request request, const Response& response) {
    record(std::move(request), response.hang || response.drop ? 0 : response.status);
    if (response.drop) {
        connection.close();
    } else if (!response.hang) {
        connection.answer(response);
    }
}

void ApiServer::Impl::answer_truly(Connection& connection, Request request) {
    if (!request.path.starts_with(options_.path_prefix)) {
        answer(connection, std::move(request), plain_text(404, "404 page not found\n"));
        return;
    }
    const std::string path = request.path.substr(options_.path_prefix.size());
    const std::optional<Route> route = parse_route(path, types_);
    if (!route || !is_one_of(served(*route->type), route->version)) {
        Response response = document(path);
        answer(connection, std::move(request), response);
        return;
    }
    check_method(request, *route);
    check_permission(request, *route);
    if (request.method != "GET") {
        const Response response = write(request, *route);
        answer(connection, std::move(request), response);
        return;
    }
    if (request.is_watch()) {
        watch(connection, std::move(request), *route);
        return;
    }
    const Response response = resource(request, *route);
    answer(connection, std::move(request), response);
}

Response ApiServer::Impl::write(const Request& request, const Route& route) {
    return request.method == "DELETE" ? delete_object(request, route) : put_object(request, route);
}

Response ApiServer::Impl::put_object(const Request& request, const Route& route) {
    const Encoding encoding = negotiated(request, Endpoint::object, route);
    const Updated updated = request.method == "POST" ? Updated{create(store_, route, request), true}
                                                     : update(store_, route, request);
    wake(*route.type);
    Response response;
    response.status = updated.created ? 201 : 200;
    response.body = render_object(*updated.object, encoding) + (encoding.protobuf ? "" : "\n");
    response.content_type = encoding.content_type(false);
    return response;
}

Response ApiServer::Impl::delete_object(const Request& request, const Route& route) {
    const Encoding encoding = negotiated(request, Endpoint::object, route);
    const auto check = preconditions(route, request);
    std::string uid;
    const bool removed =
        remove(*route.type, key_of(*route.type, route.ns, route.name), [&](const Object& object) {
            check(object);
            uid = text_at(object.value(), "metadata.uid");
        });
    if (!removed) throw not_found(*route.type, route.name);
    Response response;
    response.body = render_status(deleted_status(*route.type, route.name, uid), encoding.protobuf);
    response.content_type = Encoding{.protobuf = encoding.protobuf}.content_type(false);
    return response;
}

bool ApiServer::Impl::remove(const ResourceType& type, std::string_view key,
                             const std::function<void(const Object&)>& check) {
    const ObjectPtr removed = store_.remove(type, key, check);
    if (!removed) return false;
    wake(type);
    remove_leases_of(*removed);
    return true;
}

void ApiServer::Impl::remove_leases_of(const Object& owner) {
    const ResourceType& leases = type_of_name("leases");
    if (store_.count(leases) == 0) return;
    const json::object value = owner.value();
    const std::string_view uid = text_at(value, "metadata.uid");
    for (const ObjectPtr& lease : store_.newest(leases, owner.ns()).objects) {
        if (is_owned_by(*lease, uid)) remove(leases, lease->key());
    }
}

Response ApiServer::Impl::document(const std::string& path) const {
    if (path == "/healthz" || path == "/livez" || path == "/readyz") return plain_text(200, "ok");
    const auto versions = [this](const ResourceType& type) { return served(type); };
    if (auto text = discovery_document(path, types_.all(), versions)) {
        Response response;
        response.body = std::move(*text);
        return response;
    }
    if (path.starts_with("/api/") || path.starts_with("/apis/")) {
        fail(404, "NotFound", "the server could not find the requested resource");
    }
    return plain_text(404, "404 page not found\n");
}

Encoding ApiServer::Impl::negotiated(const Request& request, Endpoint endpoint,
                                     const Route& route) const {
    Encoding encoding = negotiate(request, endpoint, options_);
    encoding.version = route.version;
    if (route.type->custom && encoding.form == Form::object) encoding.protobuf = false;
    if (!encoding.protobuf) return encoding;
    switch (encoding_fault_) {
        case EncodingFault::refuse_protobuf:
            fail(406, "NotAcceptable",
                 "only the following media types are accepted: application/json");
        case EncodingFault::unsupported_media_type:
            fail(415, "UnsupportedMediaType",
                 "the body of the request was in an unknown format - accepted media types include: "
                 "application/json");
        case EncodingFault::json_for_protobuf: encoding.protobuf = false; break;
        default: break;
    }
    return encoding;
}

Response ApiServer::Impl::failed(const Request& request, const StatusError& error) const {
    const EncodingFault fault = encoding_fault_;
    const bool knows_protobuf = fault != EncodingFault::refuse_protobuf &&
                                fault != EncodingFault::unsupported_media_type &&
                                fault != EncodingFault::json_for_protobuf;
    return to_response(error, knows_protobuf && status_in_protobuf(request, options_));
}

Response ApiServer::Impl::resource(const Request& request, const Route& route) const {
    const bool whole_list = route.name.empty();
    const Encoding encoding =
        negotiated(request, whole_list ? Endpoint::list : Endpoint::object, route);
    Response response;
    if (whole_list) {
        const ListOptions options = parse_list_options(request, *route.type, options_, shard_gate_);
        response.body = sim::list(store_, route, options, encoding);
    } else {
        const ObjectPtr object = store_.get(*route.type, key_of(*route.type, route.ns, route.name));
        if (!object) throw not_found(*route.type, route.name);
        response.body =
            render_object(encoding.drops_managed_fields ? object->without_managed_fields()
                                                        : *object,
                          encoding) +
            (encoding.protobuf ? "" : "\n");
    }
    response.content_type = encoding.content_type(false);
    compress(request, response);
    frame(response);
    return response;
}

void ApiServer::Impl::compress(const Request& request, Response& response) const {
    if (!options_.gzip || response.body.size() <= options_.gzip_threshold) return;
    const BodyCoding coding{accepts_gzip(request.header("Accept-Encoding").value_or("")),
                            encoding_fault_};
    if (coding.is_declared()) {
        response.headers.emplace_back("Content-Encoding", "gzip");
        response.headers.emplace_back("Vary", "Accept-Encoding");
    }
    response.body = coding.apply(std::move(response.body));
}

void ApiServer::Impl::watch(Connection& connection, Request request, const Route& route) {
    Encoding encoding = negotiated(request, Endpoint::watch, route);
    ListOptions options = parse_list_options(request, *route.type, options_, shard_gate_);
    const bool gzip = options_.gzip && options_.gzip_watch_lists &&
                      options.initial_events.value_or(false) &&
                      accepts_gzip(request.header("Accept-Encoding").value_or(""));
    ++open_watches_;
    record(std::move(request), 200);
    connection.start_watch(std::make_unique<Watch>(store_, *route.type, route.ns,
                                                   std::move(options), std::move(encoding)),
                           {gzip, encoding_fault_});
}

void ApiServer::Impl::check_credentials(const Request& request) const {
    const std::lock_guard lock(mutex_);
    if (token_.empty() || request.header("Authorization") == "Bearer " + token_) return;
    fail(401, "Unauthorized", "Unauthorized");
}

void ApiServer::Impl::check_permission(const Request& request, const Route& route) const {
    const std::lock_guard lock(mutex_);
    if (!denied_.contains(route.type->plural)) return;
    throw forbidden(*route.type, verb_of(request, route), route.ns, route.name);
}

void ApiServer::Impl::record(Request request, unsigned status) {
    const std::lock_guard lock(mutex_);
    request.body.clear();
    requests_.push_back({std::move(request), status});
    if (requests_.size() > max_records) requests_.pop_front();
}

// ---- settings and records of tests -------------------------------------------------------------

void ApiServer::Impl::set_intercept(Intercept intercept) {
    const std::lock_guard lock(mutex_);
    intercept_ = std::move(intercept);
}

void ApiServer::Impl::fail_next(Response response, unsigned times, std::string path) {
    if (times == 0) return;
    const std::lock_guard lock(mutex_);
    planned_.push_back({std::move(response), times, std::move(path)});
}

void ApiServer::Impl::set_denied(std::string_view plural, bool denied) {
    const std::lock_guard lock(mutex_);
    if (denied) {
        denied_.emplace(plural);
    } else {
        denied_.erase(std::string(plural));
    }
}

void ApiServer::Impl::set_served(const ResourceType& type, std::vector<std::string> versions) {
    const std::lock_guard lock(mutex_);
    served_[&type] = std::move(versions);
}

const ResourceType& ApiServer::Impl::type_of_name(std::string_view name) const {
    const ResourceType* type = types_.find_by_name(name);
    if (!type) throw std::invalid_argument("unknown resource \"" + std::string(name) + "\"");
    return *type;
}

std::vector<std::string> ApiServer::Impl::served(const ResourceType& type) const {
    const std::lock_guard lock(mutex_);
    const auto set = served_.find(&type);
    if (set != served_.end()) return set->second;
    return type.custom ? std::vector<std::string>() : std::vector{std::string(type.version)};
}

void ApiServer::Impl::set_token(std::string token) {
    const std::lock_guard lock(mutex_);
    token_ = std::move(token);
}

std::vector<RequestRecord> ApiServer::Impl::requests() const {
    const std::lock_guard lock(mutex_);
    return {requests_.begin(), requests_.end()};
}

void ApiServer::Impl::clear_requests() {
    const std::lock_guard lock(mutex_);
    requests_.clear();
}

}  // namespace k8s_sd::inline v0::sim
