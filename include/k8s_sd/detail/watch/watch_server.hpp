#pragma once

#include "k8s_sd/api_client.hpp"
#include "k8s_sd/detail/client/api_client_impl.hpp"

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// The server of one watch: the client's current one when the watch last took it, and the API
/// version of the watched kind there. Used on the client's executor.
class WatchServer {
 public:
    explicit WatchServer(std::shared_ptr<ApiClient> client)
        : client_(std::move(client)), revision_(api().server_revision), traffic_(api().traffic) {}

    ApiClientImpl& api() const noexcept { return impl_of(*client_); }
    const std::shared_ptr<ServerTraffic>& traffic() const noexcept { return traffic_; }
    TimePoint now() const noexcept { return api().environment.clock->now(); }

    /// Whether the client has moved to another server since take().
    bool is_left() const noexcept { return revision_ != api().server_revision; }
    /// Takes the client's current server. \returns whether it has other traffic
    bool take() {
        revision_ = api().server_revision;
        const bool other = traffic_ != api().traffic;
        traffic_ = api().traffic;
        return other;
    }

    /// A list of this server is complete.
    void on_listed() noexcept { listed_ = revision_ + 1; }
    /// Whether the last list came from the client's current server.
    bool is_listed() const noexcept { return listed_ == api().server_revision + 1; }

    /// Empty: the current version.
    std::string_view api_version() const noexcept { return api_version_; }
    struct Version {
        bool served;  ///< discovery lists a version
        bool moved;   ///< another version is used from now on
    };
    void begin_search() noexcept { searching_ = true; }
    bool searching() const noexcept { return searching_; }
    void end_search() noexcept { searching_ = false; }
    /// Takes the best version. If the older version is gone and discovery is silent, that is the
    /// current one.
    /// \param lost  the version is missing on the server
    Version take_version(ServedVersions::Answer best, bool lost) noexcept {
        const bool moved = best.version != api_version_ && (best.served || lost);
        if (moved) api_version_ = best.version;
        return {best.served, moved};
    }

 private:
    std::shared_ptr<ApiClient> client_;
    std::uint64_t revision_;
    std::shared_ptr<ServerTraffic> traffic_;
    std::uint64_t listed_ = 0;  ///< the revision after that of the last list; 0: none
    std::string_view api_version_;
    bool searching_ = false;  ///< for API versions
};

}  // namespace k8s_sd::inline v0::detail
