#pragma once

#include "k8s_sd/selector.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "k8s_sd/sim/message.hpp"
#include "sim/api/shard_selector.hpp"
#include "sim/store/resource_type.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// The query parameters of a LIST or WATCH.
struct ListOptions {
    enum class Match { none, not_older_than, exact };

    LabelSelector labels;
    FieldSelector fields;
    std::optional<ShardSelector> shard;
    std::uint64_t limit = 0;
    std::string continue_token;
    std::optional<std::uint64_t> version;  ///< nullopt: absent
    Match match = Match::none;
    bool watch = false;
    bool bookmarks = false;
    std::optional<bool> initial_events;
    bool initial_end = true;  ///< a bookmark marks the end of the initial events
    std::optional<std::chrono::seconds> timeout;

    bool selects(const Object&) const;
    /// The name that every selected object has; null: none is required.
    const std::string* name() const;
};

/// \throws StatusError 400 for malformed values, 422 for invalid combinations, 500 for a malformed
/// shardSelector
ListOptions parse_list_options(const Request&, const ResourceType&, const ApiServerOptions&,
                               ApiServer::ShardGate);

/// The content of a continue token: continue at `start`, in the state of `version`; without a
/// version, in the latest state.
struct ContinueToken {
    std::optional<std::uint64_t> version;
    std::string start;
};
std::string encode(const ContinueToken&);
/// \throws StatusError 400
ContinueToken decode_continue_token(std::string_view);

}  // namespace k8s_sd::inline v0::sim
