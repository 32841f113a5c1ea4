#pragma once

#include "k8s_sd/api_client.hpp"
#include "k8s_sd/clock.hpp"
#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/detail/net/short_request.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/resource_name.hpp"
#include "k8s_sd/status.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Asks an API server what it calls a resource, until it knows: the definition of a custom one may
/// come later. A question is GET /apis/<group> and one GET a version; the pauses between questions
/// grow from 1 s to 1 min. On the strand of the client, except for status().
class ResourceSearch final : public std::enable_shared_from_this<ResourceSearch> {
 public:
    using Handler = std::function<void(Kind)>;

    ResourceSearch(std::shared_ptr<ApiClient> client, ResourceName name);
    ResourceSearch(const ResourceSearch&) = delete;
    ResourceSearch& operator=(const ResourceSearch&) = delete;

    /// \param found   called once, unless cancel() or the destruction comes before
    /// \param failed  called each time that the resource was not found
    /// \param wait    about so long before the first question
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
    Handler found_;  ///< empty: it does not run
    std::function<void()> failed_;
    std::optional<Backoff> backoff_;  ///< none: it has not begun
    std::vector<std::string> versions_;
    std::size_t version_ = 0;  ///< of them that is being asked for
    bool is_unwatched_ = false;

    mutable std::mutex mutex_;
    WatchStatus status_;
};

}  // namespace k8s_sd::inline v0::detail
