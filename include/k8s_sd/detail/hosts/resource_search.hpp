#pragma once

#include "k8s_sd/api_client.hpp"
#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/detail/client/short_request.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/objects/watcher_config.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/time.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Delays repeated searches: a server may advertise a resource and not serve it. The pauses begin
/// after a few consecutive searches. No I/O.
class SearchPacing {
 public:
    /// A search begins. \returns the pause before it
    Duration next(TimePoint now) {
        const bool in_a_row = last_ && now - *last_ < std::chrono::minutes(5);
        repeated_ = in_a_row ? repeated_ + 1 : 0;
        last_ = now;
        if (repeated_ < 3) return {};
        return std::chrono::seconds(1) * (1 << std::min(repeated_ - 3, 6));
    }

 private:
    std::optional<TimePoint> last_;  ///< when the last search began
    int repeated_ = 0;               ///< searches in a row, after the first one
};

/// Searches an API server for a resource until it is found: its CustomResourceDefinition may come
/// later. One search takes GET /apis/<group> and one GET for each version; the pauses between
/// searches grow from 1 s to 1 min. Used on the strand of the client, except for status().
class ResourceSearch final : public std::enable_shared_from_this<ResourceSearch> {
 public:
    using Handler = std::function<void(Kind)>;

    ResourceSearch(std::shared_ptr<ApiClient> client, ResourceName name);
    ResourceSearch(const ResourceSearch&) = delete;
    ResourceSearch& operator=(const ResourceSearch&) = delete;

    /// \param found   called once, unless cancelled or destroyed before
    /// \param failed  called after each unsuccessful search
    /// \param wait    approximate delay of the first search
    void start(Handler found, std::function<void()> failed, Duration wait = {});
    void cancel() noexcept;
    /// Any thread.
    WatchStatus status() const;

 private:
    void ask();
    void ask_version(std::size_t index);
    void get(const std::string& path, void (ResourceSearch::*then)(const ShortRequest::Answer&));
    void on_group(const ShortRequest::Answer&);
    void on_version(const ShortRequest::Answer&);
    void find_in(const ShortRequest::Answer&);
    bool is_usable(const ShortRequest::Answer&, std::string_view kind, const std::string& path);
    void fail(const ShortRequest::Answer&);
    void fail(error_code, std::string problem);
    void fail_to_find();
    void ask_later(Duration pause);
    void set_waiting(Waiting, std::optional<Duration> pause = {});

    const std::shared_ptr<ApiClient> client_;
    const ResourceName name_;
    const std::shared_ptr<ShortRequest> get_;
    const std::unique_ptr<Timer> timer_;
    Handler found_;  ///< empty: not running
    std::function<void()> failed_;
    std::optional<Backoff> backoff_;  ///< nullopt: not begun
    std::vector<std::string> versions_;
    std::size_t version_ = 0;  ///< index of the version being requested
    bool is_unwatched_ = false;

    mutable std::mutex mutex_;
    WatchStatus status_;
};

}  // namespace k8s_sd::inline v0::detail
