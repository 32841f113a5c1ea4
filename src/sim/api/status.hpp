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

/// An error that is answered as it is; thrown while a request is worked on.
struct StatusError {
    unsigned code;
    boost::json::object status;
};

[[noreturn]] void fail(unsigned code, std::string_view reason, std::string_view message,
                       boost::json::object details = {});

/// What is wrong with list options that contradict each other.
class OptionProblems {
 public:
    void forbid(std::string_view field, std::string_view why);
    /// \param supported  the values that would do, quoted
    void unsupported(std::string_view field, std::string_view value, std::string_view supported);
    /// \throws StatusError 422
    void fail_if_any() const;

 private:
    void add(std::string_view field, std::string_view reason, std::string text);

    boost::json::array causes_;
};

Response to_response(const StatusError&, bool protobuf = false);

StatusError version_too_large(std::uint64_t version, std::uint64_t current);
StatusError not_found(const ResourceType&, std::string_view name);
StatusError forbidden(const ResourceType&, std::string_view verb, std::string_view ns,
                      std::string_view name);

}  // namespace k8s_sd::inline v0::sim
