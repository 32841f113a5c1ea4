#pragma once

#include "k8s_sd/sim/message.hpp"
#include "sim/store/resource_type.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// A Status object. `reason` and `details` are left out if empty.
boost::json::object status_object(unsigned code, std::string_view reason, std::string_view message,
                                  boost::json::object details = {});

/// An error sent as the response; thrown during the processing of a request.
struct StatusError {
    unsigned code;
    boost::json::object status;
};

[[noreturn]] void fail(unsigned code, std::string_view reason, std::string_view message,
                       boost::json::object details = {});

/// Problems of an object, or of contradictory list options.
class Problems {
 public:
    /// \param group, kind, name  identify the object
    Problems(std::string_view group, std::string_view kind, std::string_view name);
    void forbid(std::string_view field, std::string_view why);
    /// \param supported  the allowed values, quoted
    void unsupported(std::string_view field, std::string_view value, std::string_view supported);
    /// \param value  as JSON
    void invalid(std::string_view field, std::string_view value, std::string_view why);
    void require(std::string_view field, std::string_view why);
    /// \throws StatusError 422
    void fail_if_any() const;

 private:
    void add(std::string_view field, std::string_view reason, std::string text);

    std::string group_, kind_, name_;
    boost::json::array causes_;
};

/// The response to a DELETE.
boost::json::object deleted_status(const ResourceType&, std::string_view name,
                                   std::string_view uid);

Response to_response(const StatusError&, bool protobuf = false);

StatusError version_too_large(std::uint64_t version, std::uint64_t current);
StatusError not_found(const ResourceType&, std::string_view name);
StatusError already_exists(const ResourceType&, std::string_view name);
StatusError conflict(const ResourceType&, std::string_view name, std::string_view why);
StatusError forbidden(const ResourceType&, std::string_view verb, std::string_view ns,
                      std::string_view name);

}  // namespace k8s_sd::inline v0::sim
