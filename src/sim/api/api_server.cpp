#include "k8s_sd/sim/api_server.hpp"

#include "sim/api/api_server_impl.hpp"
#include "sim/store/json_access.hpp"

#include <boost/asio/post.hpp>
#include <boost/json/parse.hpp>
#include <stdexcept>
#include <utility>

namespace k8s_sd::inline v0::sim {
namespace json = boost::json;
namespace {

json::object parse_object(std::string_view text) {
    json::value value = json::parse(text);
    if (!value.is_object()) throw std::invalid_argument("not a JSON object");
    return std::move(value.get_object());
}

const ResourceType& type_of_kind(const ServerTypes& types, std::string_view api_version,
                                 std::string_view kind) {
    const ResourceType* type = types.find_by_kind(api_version, kind);
    if (!type) {
        throw std::invalid_argument("unknown kind \"" + std::string(kind) + "\" of \"" +
                                    std::string(api_version) + "\"");
    }
    return *type;
}

/// The object's JSON with kind and apiVersion.
json::object with_type(const Object& object) {
    return parse_object(render_object(object, Encoding{}));
}

std::uint64_t version_or_zero(const json::object& object) {
    return text_at(object, "metadata.resourceVersion").empty() ? 0 : version_of(object);
}

}  // namespace

ApiServer::ApiServer(asio::any_io_executor executor, ApiServerOptions options)
    : impl_(std::make_shared<Impl>(std::move(executor), std::move(options))) {}

ApiServer::~ApiServer() {
    const auto strand = impl_->strand();
    asio::post(strand, [impl = std::move(impl_)] { impl->shutdown(); });
}

unsigned short ApiServer::listen(unsigned short port) { return impl_->listen(port); }
std::string ApiServer::url() const { return impl_->url(); }
std::shared_ptr<MemoryConnector> ApiServer::connector(TransportFaults faults) {
    return impl_->connector(faults);
}

std::string ApiServer::apply(json::object object) {
    const ResourceType& type =
        type_of_kind(impl_->types(), text_at(object, "apiVersion"), text_at(object, "kind"));
    const auto [version, changed] = impl_->store().apply(type, std::move(object));
    if (changed) impl_->wake(type);
    return std::to_string(version);
}

std::string ApiServer::apply(std::string_view json) { return apply(parse_object(json)); }

bool ApiServer::remove(std::string_view resource, std::string_view ns, std::string_view name) {
    const ResourceType& type = impl_->type_of_name(resource);
    return impl_->remove(type, key_of(type, ns, name));
}

void ApiServer::load(std::string_view list_json) {
    const json::object list = parse_object(list_json);
    std::string_view kind = text_at(list, "kind");
    if (!kind.ends_with("List")) throw std::invalid_argument("not a List");
    kind.remove_suffix(4);
    const ResourceType& type = type_of_kind(impl_->types(), text_at(list, "apiVersion"), kind);
    const json::value* items = list.if_contains("items");
    impl_->store().load(type, version_of(list),
                        items && items->is_array() ? items->get_array() : json::array());
    impl_->wake(type);
}

void ApiServer::replay(std::string_view resource, std::string_view event_json) {
    const ResourceType& type = impl_->type_of_name(resource);
    json::object event = parse_object(event_json);
    const json::value* value = event.if_contains("object");
    if (!value || !value->is_object()) throw std::invalid_argument("not a watch event");
    const std::string_view name = text_at(event, "type");
    std::string line(event_json);
    if (!line.ends_with('\n')) line += '\n';
    if (name == "ERROR") {
        impl_->for_each_connection([&type, line = std::move(line)](Connection& connection) {
            connection.end_watch_with(type, line);
        });
        return;
    }
    if (name == "BOOKMARK") {
        impl_->store().append_recorded(type, version_or_zero(value->get_object()), std::move(line));
    } else if (name == "ADDED" || name == "MODIFIED" || name == "DELETED") {
        impl_->store().replay(type, value->get_object(), name == "DELETED");
    } else {
        throw std::invalid_argument("unknown event type \"" + std::string(name) + "\"");
    }
    impl_->wake(type);
}

void ApiServer::compact() { impl_->store().compact(); }
std::string ApiServer::resource_version() const { return std::to_string(impl_->store().version()); }

std::optional<json::object> ApiServer::get(std::string_view resource, std::string_view ns,
                                           std::string_view name) const {
    const ResourceType& type = impl_->type_of_name(resource);
    const ObjectPtr object = impl_->store().get(type, key_of(type, ns, name));
    if (!object) return std::nullopt;
    return with_type(*object);
}

std::vector<json::object> ApiServer::list(std::string_view resource, std::string_view ns) const {
    std::vector<json::object> objects;
    const Snapshot state = impl_->store().newest(impl_->type_of_name(resource), ns);
    for (const ObjectPtr& object : state.objects) {
        objects.push_back(with_type(*object));
    }
    return objects;
}

void ApiServer::for_each(std::string_view resource,
                         const std::function<void(const json::object&)>& visit) const {
    const Snapshot state = impl_->store().newest(impl_->type_of_name(resource), {});
    for (const ObjectPtr& object : state.objects) visit(with_type(*object));
}

std::size_t ApiServer::count(std::string_view resource) const {
    return impl_->store().count(impl_->type_of_name(resource));
}

void ApiServer::set_intercept(Intercept intercept) { impl_->set_intercept(std::move(intercept)); }
void ApiServer::fail_next(Response response, unsigned times, std::string path) {
    impl_->fail_next(std::move(response), times, std::move(path));
}
void ApiServer::deny(std::string_view plural) { impl_->set_denied(plural, true); }
void ApiServer::allow(std::string_view plural) { impl_->set_denied(plural, false); }
void ApiServer::set_served(std::string_view plural, std::vector<std::string> versions) {
    impl_->set_served(impl_->type_of_name(plural), std::move(versions));
    send_to_watches(plural, {}, After::end);
}
void ApiServer::add_resource(const CustomResource& resource) {
    impl_->set_served(impl_->types().add(resource), resource.versions);
}
void ApiServer::remove_resource(std::string_view plural) {
    const ResourceType& type = impl_->type_of_name(plural);
    set_served(plural, {});
    // Counts as deletions: no watch or list continues from before when the resource comes back.
    impl_->store().load(type, impl_->store().version() + 1, {});
    impl_->types().remove(type);
}
void ApiServer::set_encoding_fault(EncodingFault fault) { impl_->set_encoding_fault(fault); }
void ApiServer::set_shard_gate(ShardGate gate) { impl_->set_shard_gate(gate); }
void ApiServer::set_token(std::string token) { impl_->set_token(std::move(token)); }

void ApiServer::send_to_watches(std::string_view plural, std::string bytes, After after) {
    const ResourceType& type = impl_->type_of_name(plural);
    impl_->for_each_connection([&type, bytes = std::move(bytes), after](Connection& connection) {
        connection.inject(type, bytes, after);
    });
}

void ApiServer::end_watches() {
    impl_->for_each_connection([](Connection& connection) { connection.end_watch(); });
}
void ApiServer::disconnect_all() { impl_->disconnect_all(); }
void ApiServer::set_http2(Http2Behavior behavior) { impl_->set_http2(behavior); }
void ApiServer::send_goaway(GoAway how) {
    impl_->for_each_http2_connection([how](Http2Connection& other) { other.go_away(how); });
}
void ApiServer::send_http2_frames(std::string bytes) {
    impl_->for_each_http2_connection(
        [bytes = std::move(bytes)](Http2Connection& connection) { connection.send_raw(bytes); });
}
void ApiServer::accept_connections(bool accept) { impl_->accept_connections(accept); }

std::size_t ApiServer::http2_connections() const { return impl_->http2_connections(); }
std::vector<RequestRecord> ApiServer::requests() const { return impl_->requests(); }
void ApiServer::clear_requests() { impl_->clear_requests(); }
std::size_t ApiServer::open_connections() const { return impl_->open_connections(); }
std::size_t ApiServer::open_watches() const { return impl_->open_watches(); }

}  // namespace k8s_sd::inline v0::sim
