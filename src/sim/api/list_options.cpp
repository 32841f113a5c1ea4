#include "sim/api/list_options.hpp"

#include "k8s_sd/error.hpp"
#include "sim/api/status.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <algorithm>
#include <charconv>

namespace k8s_sd::inline v0::sim {
namespace json = boost::json;
namespace {

[[noreturn]] void bad_request(const std::string& message) { fail(400, "BadRequest", message); }

template <class Number>
std::optional<Number> number_param(const Request& request, const char* name) {
    const std::string_view text = request.param(name);
    if (text.empty()) return std::nullopt;
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) {
        bad_request(std::string(name) + ": Invalid value: \"" + std::string(text) +
                    "\": not a number");
    }
    return number;
}

ListOptions::Match match_of(std::string_view text) {
    if (text == "NotOlderThan") return ListOptions::Match::not_older_than;
    if (text == "Exact") return ListOptions::Match::exact;
    return ListOptions::Match::none;
}

void check_fields(const FieldSelector& selector, const ResourceType& type, const Request& request) {
    for (const FieldSelector::Requirement& r : selector.requirements()) {
        if (r.path == "metadata.name" || r.path == "metadata.namespace") continue;
        if (std::find(type.fields.begin(), type.fields.end(), r.path) != type.fields.end())
            continue;
        const std::string group = type.group.empty() ? "/v1" : type.api_version();
        bad_request("Unable to find \"" + group + ", Resource=" + std::string(type.plural) +
                    "\" that match label selector \"" +
                    std::string(request.param("labelSelector")) + "\", field selector \"" +
                    std::string(request.param("fieldSelector")) +
                    "\": field label not supported: " + r.path);
    }
}

constexpr std::string_view options_group = "meta.k8s.io";
constexpr std::string_view options_kind = "ListOptions";
constexpr std::string_view match_field = "resourceVersionMatch";
constexpr std::string_view initial_field = "sendInitialEvents";
constexpr std::string_view shard_field = "shardSelector";

// The problems in the order and wording of the real server.

Problems watch_problems(const ListOptions& o, const Request& request, bool watch_list) {
    Problems problems(options_group, options_kind, "");
    const std::string_view match = request.param(match_field);
    const bool not_older_than = o.match == ListOptions::Match::not_older_than;
    if (o.initial_events && !not_older_than) {
        problems.forbid(match_field,
                        "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    }
    if (o.initial_events && !watch_list) {
        problems.forbid(initial_field,
                        "sendInitialEvents is forbidden for watch unless the WatchList feature "
                        "gate is enabled");
    }
    if (match.empty()) return problems;
    if (!o.initial_events) {
        problems.forbid(match_field,
                        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
                        "provided");
    }
    if (!not_older_than) problems.unsupported(match_field, match, "\"NotOlderThan\"");
    if (!o.continue_token.empty()) {
        problems.forbid(match_field, "resourceVersionMatch is forbidden when continue is provided");
    }
    return problems;
}

Problems list_problems(const ListOptions& o, const Request& request) {
    Problems problems(options_group, options_kind, "");
    const std::string_view match = request.param(match_field);
    if (!match.empty()) {
        if (!o.version) {
            problems.forbid(match_field,
                            "resourceVersionMatch is forbidden unless resourceVersion is provided");
        }
        if (!o.continue_token.empty()) {
            problems.forbid(match_field,
                            "resourceVersionMatch is forbidden when continue is provided");
        }
        if (o.match == ListOptions::Match::none) {
            problems.unsupported(match_field, match, "\"Exact\", \"NotOlderThan\", \"\"");
        }
        if (o.match == ListOptions::Match::exact && o.version == 0U) {
            problems.forbid(
                match_field,
                "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
        }
    }
    if (o.initial_events) {
        problems.forbid(initial_field, "sendInitialEvents is forbidden for list");
    }
    return problems;
}

void read_initial_events(ListOptions& o, const Request& request, const ApiServerOptions& server) {
    const bool known = !server.ignore_initial_events;
    o.initial_end = known && server.watch_list && server.initial_events_end;
    if (known && request.query.contains(std::string(initial_field))) {
        o.initial_events = request.flag(initial_field);
    }
}

void check(const ListOptions& o, const Request& request, bool watch_list) {
    const Problems problems =
        o.watch ? watch_problems(o, request, watch_list) : list_problems(o, request);
    problems.fail_if_any();
    if (!o.watch && !o.continue_token.empty() && o.version.value_or(0) != 0) {
        bad_request("specifying resource version is not allowed when using continue");
    }
}

bool knows_shards(ApiServer::ShardGate gate, bool watch) {
    return gate == ApiServer::ShardGate::on || (gate == ApiServer::ShardGate::mixed && !watch);
}

constexpr std::string_view base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string base64url(std::string_view bytes) {
    std::string result;
    unsigned bits = 0;
    unsigned count = 0;
    for (const char c : bytes) {
        bits = (bits << 8U) | static_cast<unsigned char>(c);
        for (count += 8; count >= 6; count -= 6) {
            result += base64_digits[(bits >> (count - 6)) & 63U];
        }
    }
    if (count > 0) result += base64_digits[(bits << (6 - count)) & 63U];
    return result;
}

std::optional<std::string> from_base64url(std::string_view text) {
    std::string result;
    unsigned bits = 0;
    unsigned count = 0;
    for (const char c : text) {
        const std::size_t digit = base64_digits.find(c);
        if (digit == std::string_view::npos) return std::nullopt;
        bits = (bits << 6U) | static_cast<unsigned>(digit);
        count += 6;
        if (count < 8) continue;
        count -= 8;
        result += static_cast<char>((bits >> count) & 255U);
    }
    return result;
}

constexpr std::string_view token_version = "meta.k8s.io/v1";

}  // namespace

bool ListOptions::selects(const Object& object) const {
    return object.matches(labels, fields) && (!shard || shard->matches(object));
}

const std::string* ListOptions::name() const {
    for (const FieldSelector::Requirement& field : fields.requirements()) {
        if (field.equal && field.path == "metadata.name") return &field.value;
    }
    return nullptr;
}

ListOptions parse_list_options(const Request& request, const ResourceType& type,
                               const ApiServerOptions& server, ApiServer::ShardGate gate) {
    ListOptions o;
    try {
        o.labels = LabelSelector::parse(request.param("labelSelector"));
        o.fields = FieldSelector::parse(request.param("fieldSelector"));
    } catch (const ConfigError& e) {
        bad_request("unable to parse requirement: " + std::string(e.what()));
    }
    check_fields(o.fields, type, request);
    o.limit = number_param<std::uint64_t>(request, "limit").value_or(0);
    o.continue_token = request.param("continue");
    o.version = number_param<std::uint64_t>(request, "resourceVersion");
    o.match = match_of(request.param(match_field));
    o.watch = request.is_watch();
    if (knows_shards(gate, o.watch) && !request.param(shard_field).empty()) {
        o.shard = ShardSelector::parse(request.param(shard_field));
    }
    o.bookmarks = request.flag("allowWatchBookmarks") && server.bookmarks;
    const auto timeout = number_param<std::uint32_t>(request, "timeoutSeconds");
    if (timeout.value_or(0) != 0) o.timeout = std::chrono::seconds(*timeout);
    read_initial_events(o, request, server);
    if (!o.watch || !server.ignore_initial_events) check(o, request, server.watch_list);
    return o;
}

std::string encode(const ContinueToken& token) {
    // A real server begins the key with a slash only if it knows the version.
    const json::value version =
        token.version ? json::value(*token.version) : json::value(std::int64_t{-1});
    const std::string start = token.version ? "/" + token.start : token.start;
    return base64url(
        json::serialize(json::object{{"v", token_version}, {"rv", version}, {"start", start}}));
}

ContinueToken decode_continue_token(std::string_view text) {
    const auto decoded = from_base64url(text);
    error_code ec;
    const json::value value = json::parse(decoded.value_or(""), ec);
    const json::object* object = ec ? nullptr : value.if_object();
    const json::value* v = object ? object->if_contains("v") : nullptr;
    const json::value* rv = object ? object->if_contains("rv") : nullptr;
    const json::value* start = object ? object->if_contains("start") : nullptr;
    const bool valid = v && v->is_string() && v->get_string() == token_version && rv &&
                       rv->is_int64() && rv->get_int64() >= -1 && rv->get_int64() != 0 && start &&
                       start->is_string();
    if (!valid) bad_request("continue key is not valid: cannot be decoded");
    ContinueToken token;
    if (rv->get_int64() > 0) token.version = static_cast<std::uint64_t>(rv->get_int64());
    token.start = std::string_view(start->get_string());
    if (token.start.starts_with('/')) token.start.erase(0, 1);
    return token;
}

}  // namespace k8s_sd::inline v0::sim
