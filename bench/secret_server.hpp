#pragma once

#include "child.hpp"
#include "k8s_sd/sim/api_server.hpp"

#include <cstddef>
#include <functional>
#include <string>

/// The simulated server of benchmarks of object caches, and the memory of their process.
namespace bench {

struct SecretServer : Child {
    std::string url;
};

/// The name of a Secret of the server, in the namespace "shop".
std::string secret_name(std::size_t number);
/// Serves so many Secrets from a child process, over TCP.
/// \param more  adds other objects
SecretServer serve_secrets(const k8s_sd::sim::ApiServerOptions&, std::size_t secrets,
                           const std::function<void(k8s_sd::sim::ApiServer&)>& more = {});

/// Bytes allocated in this process, without the allocator's reserve.
double heap_bytes();

}  // namespace bench
