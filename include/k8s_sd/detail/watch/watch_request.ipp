#include "k8s_sd/detail/text/url_text.hpp"
#include "k8s_sd/detail/watch/watch_request.hpp"

#include <algorithm>
#include <cstddef>
#include <random>

namespace k8s_sd::inline v0::detail {

namespace {

/// Of a request with all its parameters.
constexpr std::size_t usual_target_size = 320;
constexpr std::string_view name_selector = "metadata.name=";

}  // namespace

std::string collection_target(const WatchQuery& query, std::string_view api_version) {
    std::string target = collection_path(query.kind, query.ns);
    target.reserve(usual_target_size);
    if (!api_version.empty()) {
        const Resource& resource = resource_of(query.kind);
        const std::size_t version = std::string_view("/apis//").size() + resource.group.size();
        target.replace(version, resource.version.size(), api_version);
    }
    if (!query.label_selector.empty()) append_query(target, "labelSelector", query.label_selector);
    if (!query.field_selector.empty()) append_query(target, "fieldSelector", query.field_selector);
    if (!query.share.is_all()) append_query(target, "shardSelector", query.share.selector());
    return target;
}

std::chrono::seconds draw_watch_timeout(const WatchOptions& options, Random& random) {
    const auto seconds = [](Duration d) {
        return std::chrono::duration_cast<std::chrono::seconds>(d).count();
    };
    return std::chrono::seconds(std::uniform_int_distribution<std::int64_t>(
        seconds(options.watch_timeout_min), seconds(options.watch_timeout_max))(random));
}

namespace {

void begin_watch(std::string& target) {
    append_query(target, "watch", "1");
    append_query(target, "allowWatchBookmarks", "true");
}

void append_timeout(std::string& target, std::chrono::seconds timeout) {
    if (timeout.count() > 0)
        append_query(target, "timeoutSeconds", std::to_string(timeout.count()));
}

/// Idle timeout for a short response, or where another form of the list may be answered sooner.
Duration short_silence(const WatchOptions& options) {
    constexpr Duration limit = std::chrono::seconds(10);
    return std::min(options.response_timeout, limit);  // no timeout stays none
}

/// A server may be slow with the body after its head. Only one form of a list is granted this limit
/// in full, so the total of all forms is below a minute.
Duration silence_behind_head(const WatchOptions& options) {
    constexpr Duration limit = std::chrono::seconds(25);
    return std::min(options.response_timeout, limit);
}

/// Sets the fields common to LIST and streamed lists.
void expect_list(WatchRequest& request, const WatchOptions& options,
                 const ListPlan::Request& list) {
    request.has_position = !list.continue_token.empty() || !list.resource_version.empty();
    request.other_encoding = list.other_encoding;
    request.hasty = list.hasty;
    request.idle_timeout = list.hasty ? short_silence(options) : options.response_timeout;
    if (list.hasty && list.has_time) request.body_timeout = silence_behind_head(options);
    request.idle_error = errc::response_timeout;
}

}  // namespace

Duration silence_of_watch(std::chrono::seconds timeout) noexcept {
    // The server ends the watch; a late end means a dead server.
    constexpr Duration margin = std::chrono::seconds(10);
    return timeout.count() > 0 ? timeout + margin : Duration{};
}

WatchRequest list_request(const WatchQuery& query, const WatchOptions& options,
                          const ListPlan::Request& list, std::string_view api_version) {
    WatchRequest request;
    request.target = collection_target(query, api_version);
    if (list.limit != 0) append_query(request.target, "limit", std::to_string(list.limit));
    if (!list.continue_token.empty()) append_query(request.target, "continue", list.continue_token);
    if (!list.resource_version.empty()) {
        append_query(request.target, "resourceVersion", list.resource_version);
        append_query(request.target, "resourceVersionMatch", "NotOlderThan");
    }
    expect_list(request, options, list);
    return request;
}

WatchRequest probe_request(const WatchQuery& query, const WatchOptions& options,
                           std::string_view api_version) {
    return list_request(query, options, {.limit = 1, .hasty = true}, api_version);
}

std::string select_name(std::string_view name) { return std::string(name_selector) += name; }

std::string_view selected_name(const WatchQuery& query) noexcept {
    const std::string_view selector = query.field_selector;
    if (!selector.starts_with(name_selector)) return {};
    const std::string_view name = selector.substr(name_selector.size());
    return name.find(',') == std::string_view::npos ? name : std::string_view();
}

WatchRequest watch_request(const WatchQuery& query, const WatchMachine::Watch& watch,
                           std::chrono::seconds timeout, std::string_view api_version) {
    WatchRequest request;
    request.of_one_object = is_of_one_object(query);
    request.target = collection_target(query, api_version);
    begin_watch(request.target);
    append_query(request.target, "resourceVersion", watch.resource_version);
    append_timeout(request.target, timeout);
    request.watch_timeout = timeout;
    request.has_position = true;
    request.idle_timeout = silence_of_watch(timeout);
    request.idle_error = errc::idle_timeout;
    return request;
}

WatchRequest streamed_list_request(const WatchQuery& query, const WatchOptions& options,
                                   const ListPlan::Request& list, std::chrono::seconds timeout) {
    WatchRequest request;
    request.of_one_object = is_of_one_object(query);
    request.target = collection_target(query);
    begin_watch(request.target);
    append_query(request.target, "sendInitialEvents", "true");
    append_query(request.target, "resourceVersionMatch", "NotOlderThan");
    if (!list.resource_version.empty())
        append_query(request.target, "resourceVersion", list.resource_version);
    append_timeout(request.target, timeout);
    request.watch_timeout = timeout;
    request.streamed = true;
    expect_list(request, options, list);
    return request;
}

}  // namespace k8s_sd::inline v0::detail
