#pragma once

#include "sim/api/negotiation.hpp"
#include "sim/store/object.hpp"

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::sim {

struct ListMetadata {
    std::uint64_t version = 0;
    std::string continue_token;
    std::optional<std::uint64_t> remaining;
    std::string shard;  ///< the selector in shardInfo; empty: none
};
std::string render_list(const ResourceType&, const ListMetadata&, std::span<const ObjectPtr>,
                        const Encoding&);

/// One object with kind and apiVersion.
std::string render_object(const Object&, const Encoding&);

std::string render_status(const boost::json::object& status, bool protobuf);

/// An event of a watch. \param first  only the first event of a table has its columns
void append_event(std::string& out, std::string_view type, const Object&, const Encoding&,
                  bool first);
void append_bookmark(std::string& out, const ResourceType&, std::uint64_t version, bool initial_end,
                     const Encoding&);
void append_error(std::string& out, const boost::json::object& status, const Encoding&);
/// A recorded event, given as a JSON line. Anything else is sent unchanged.
void append_recorded(std::string& out, std::string_view line, const ResourceType&, const Encoding&);

}  // namespace k8s_sd::inline v0::sim
