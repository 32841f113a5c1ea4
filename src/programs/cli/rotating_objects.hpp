#pragma once

#include "k8s_sd/sim/api_server.hpp"

#include <string>

namespace cli {

/// Two Secrets and a ConfigMap in a namespace "shop", changed as by rotation; one of them is
/// removed occasionally. Not thread-safe; the server must outlive it.
class RotatingObjects {
 public:
    explicit RotatingObjects(k8s_sd::sim::ApiServer&);

    /// Makes the next change. \returns a description for users
    std::string step();

 private:
    std::string rotate(const std::string& secret);
    std::string configure();
    std::string remove(const std::string& secret);

    k8s_sd::sim::ApiServer& server_;
    unsigned steps_ = 0;
};

}  // namespace cli
