#pragma once

#include "k8s_sd/detail/client/short_request.hpp"

#include <memory>

namespace k8s_sd::inline v0::detail {

/// Requests the version of the server (GET /version) when its ListMemory asks for it: another
/// version may support what the server has refused. No request waits for the answer, and without
/// one the memory expires as usual. All clients of the server share the result.
class ServerVersion {
 public:
    explicit ServerVersion(ApiClientImpl& api) : api_(api) {}
    ServerVersion(const ServerVersion&) = delete;
    ServerVersion& operator=(const ServerVersion&) = delete;

    /// Call before each list, and after each successful response; most calls do nothing.
    void check();

 private:
    ApiClientImpl& api_;
    std::shared_ptr<ShortRequest> get_;  ///< null: no request so far
};

}  // namespace k8s_sd::inline v0::detail
