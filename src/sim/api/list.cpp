#include "sim/api/list.hpp"

#include "sim/api/status.hpp"

#include <algorithm>

namespace k8s_sd::inline v0::sim {
namespace {

constexpr std::string_view continue_expired =
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter, or use the continue token in this response to "
    "retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first "
    "chunk was returned and now may show up in the list.";

/// The state shown by a LIST, and its first object.
struct Source {
    Snapshot snapshot;
    std::string start;
    bool paged = true;
};

Source continued(const Store& store, const Route& route, const ListOptions& options) {
    const ContinueToken token = decode_continue_token(options.continue_token);
    if (!token.version) return {store.newest(*route.type, route.ns), token.start};
    if (auto snapshot = store.at(*route.type, route.ns, *token.version)) {
        return {std::move(*snapshot), token.start};
    }
    boost::json::object status = status_object(410, "Expired", continue_expired);
    status["metadata"].get_object()["continue"] = encode({std::nullopt, token.start});
    throw StatusError{410, std::move(status)};
}

Source exact(const Store& store, const Route& route, std::uint64_t version) {
    if (auto snapshot = store.at(*route.type, route.ns, version)) {
        return {std::move(*snapshot), {}};
    }
    fail(410, "Expired", "The resourceVersion for the provided list is too old.");
}

Source source(const Store& store, const Route& route, const ListOptions& options) {
    using Match = ListOptions::Match;
    if (!options.continue_token.empty()) return continued(store, route, options);
    if (!options.version) return {store.newest(*route.type, route.ns), {}};
    const std::uint64_t current = store.version();
    if (*options.version > current) throw version_too_large(*options.version, current);
    const bool legacy_exact =
        options.match == Match::none && options.limit != 0 && *options.version != 0;
    if (options.match == Match::exact || legacy_exact) {
        return exact(store, route, *options.version);
    }
    // Served from the server's cache, without paging.
    return {store.newest(*route.type, route.ns), {}, false};
}

}  // namespace

std::string list(const Store& store, const Route& route, const ListOptions& options,
                 const Encoding& encoding) {
    const Source from = source(store, route, options);
    const std::vector<ObjectPtr>& all = from.snapshot.objects;
    const std::uint64_t limit = from.paged && options.limit != 0 ? options.limit : all.size() + 1;
    auto i =
        std::lower_bound(all.begin(), all.end(), std::string_view(from.start),
                         [](const ObjectPtr& o, std::string_view key) { return o->key() < key; });
    std::vector<ObjectPtr> page;
    for (; i != all.end() && page.size() < limit; ++i) {
        if (options.selects(**i)) page.push_back(*i);
    }
    ListMetadata metadata{from.snapshot.version, {}, {}, {}};
    // Lists of another form are selected too, but without shardInfo.
    if (options.shard && encoding.form == Form::object) {
        metadata.shard = options.shard->canonical();
    }
    if (i != all.end() && !page.empty()) {
        metadata.continue_token =
            encode({from.snapshot.version, std::string(page.back()->key()) + '\0'});
        if (options.labels.empty() && options.fields.empty() && !options.shard) {
            metadata.remaining = static_cast<std::uint64_t>(all.end() - i);
        }
    }
    if (encoding.drops_managed_fields) {
        for (ObjectPtr& object : page) object = {object, &object->without_managed_fields()};
    }
    return render_list(*route.type, metadata, page, encoding);
}

}  // namespace k8s_sd::inline v0::sim
