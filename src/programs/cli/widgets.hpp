#pragma once

#include "k8s_sd/sim/api_server.hpp"

#include <string>

namespace cli {

/// Objects of a custom resource, example.com/Widget, in a simulated cluster.
class Widgets {
 public:
    /// The server must outlive it.
    explicit Widgets(k8s_sd::sim::ApiServer& server);

    /// Changes one of them, and returns a description.
    std::string step();

 private:
    void apply(const std::string& name, unsigned size);

    k8s_sd::sim::ApiServer& server_;
    unsigned steps_ = 0;
};

}  // namespace cli
