#pragma once

#include "k8s_sd/sim/api_server.hpp"

#include <string>

namespace support {

/// Two Secrets and a ConfigMap of a namespace "shop", which change as if they were rotated; one of
/// them is removed now and then. Not thread-safe; the server must outlive it.
class RotatingObjects {
 public:
    explicit RotatingObjects(k8s_sd::sim::ApiServer&);

    /// Does the next change. \returns what happened, for people
    std::string step();

 private:
    std::string rotate(const std::string& secret);
    std::string configure();
    std::string remove(const std::string& secret);

    k8s_sd::sim::ApiServer& server_;
    unsigned steps_ = 0;
};

}  // namespace support
