#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/watch/backoff.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace k8s_sd::inline v0::detail {

/// The list/watch protocol as data: the owner performs a Step and reports its Outcome. No I/O.
///
/// LIST pages until the list is complete, WATCH from its resource version, and again from the
/// last version seen whenever a watch ends. Only an expired version makes it list again: at once
/// the first time, with backoff while no watch makes progress.
class WatchMachine {
 public:
    /// An empty version asks for the most recent state, others for one at least as new.
    struct List {
        std::string resource_version;
        std::string continue_token;
        unsigned limit = 0;
    };
    struct Watch {
        std::string resource_version;
    };
    struct Sleep {
        Duration delay{};
    };
    using Step = std::variant<List, Watch, Sleep>;

    struct PageListed {
        std::string resource_version, continue_token;
    };
    /// The server ended the watch, or the connection broke. `progressed`: there was at least one
    /// event, or the watch lived for a while.
    struct WatchEnded {
        bool progressed = false;
        bool clean = true;
    };
    struct Malformed {};        ///< a watch brought bytes that are not events
    struct Expired {};          ///< 410, as a status or as an event
    struct VersionTooLarge {};  ///< the version is from the future of this server
    struct Rejected {};         ///< 400 or 422: something in the request is not accepted
    struct Failed {
        std::optional<Duration> retry_after;
    };
    /// Failed because of credentials, and there are new ones.
    struct NewCredentials {};
    struct Slept {};
    using Outcome = std::variant<PageListed, WatchEnded, Malformed, Expired, VersionTooLarge,
                                 Rejected, Failed, NewCredentials, Slept>;

    WatchMachine(const WatchOptions& options, std::uint64_t seed)
        : page_size_(options.page_size), backoff_(options.backoff_min, options.backoff_max, seed) {}

    Step start() { return first_page(); }
    Step next(const Outcome& outcome) {
        return std::visit([this](const auto& o) { return on(o); }, outcome);
    }

    /// Call on an event or bookmark: the server works, so the next failure is a first one.
    void on_progress(std::string_view resource_version) {
        if (!resource_version.empty()) resource_version_ = resource_version;
        backoff_.reset();
        expired_ = short_watches_ = malformed_ = 0;
    }
    const std::string& resource_version() const noexcept { return resource_version_; }

 private:
    static constexpr int max_short_watches = 5;
    static constexpr int max_malformed = 3;
    static constexpr Duration reopen_jitter = std::chrono::milliseconds(100);

    Step on(const PageListed& page) {
        continue_token_ = page.continue_token;
        if (!continue_token_.empty()) return List{{}, continue_token_, page_size_};
        resource_version_ = page.resource_version;
        listed_ = true;
        most_recent_ = false;
        return Watch{resource_version_};
    }

    Step on(const WatchEnded& end) {
        if (end.progressed) {
            backoff_.reset();
            short_watches_ = 0;
            // Spreads the clients of a server that shuts down.
            if (end.clean) return Sleep{backoff_.uniform(reopen_jitter)};
            return Sleep{backoff_.next()};
        }
        if (++short_watches_ >= max_short_watches) return forget_version(backoff_.next());
        return Sleep{backoff_.next()};
    }

    // The third time in a row at one version it lists.
    Step on(const Malformed&) {
        if (++malformed_ >= max_malformed) return forget_version(backoff_.next());
        return Sleep{backoff_.next()};
    }

    Step on(const Expired&) {
        if (!continue_token_.empty()) {
            continue_token_.clear();
            most_recent_ = true;
            return expired_++ == 0 ? whole_list() : later(backoff_.next());
        }
        if (!listed_) return most_recent_ ? later(backoff_.next()) : whole_list();
        listed_ = false;
        return expired_++ == 0 ? relist() : later(backoff_.next());
    }

    // A quiet resource, another replica or a restored etcd: the most recent state is the truth.
    Step on(const VersionTooLarge&) {
        if (most_recent_ && !listed_) return later(backoff_.next());
        listed_ = false;
        most_recent_ = true;
        return expired_++ == 0 ? relist() : later(backoff_.next());
    }

    Step on(const Rejected&) {
        continue_token_.clear();
        listed_ = false;
        most_recent_ = true;
        return later(backoff_.next());
    }

    Step on(const Failed& failure) {
        const Duration wait = backoff_.next();
        return later(std::max(wait, failure.retry_after.value_or(Duration{})));
    }

    Step on(const NewCredentials&) { return resume(); }
    Step on(const Slept&) { return resume(); }

    Step later(Duration delay) { return Sleep{delay}; }

    Step forget_version(Duration delay) {
        short_watches_ = malformed_ = 0;
        listed_ = false;
        return Sleep{delay};
    }

    // Goes on with what was to be done.
    Step resume() {
        if (listed_) return Watch{resource_version_};
        if (!continue_token_.empty()) return List{{}, continue_token_, page_size_};
        return relist();
    }

    // At least as new as what is known; served from the server's cache, hence without pages.
    Step relist() {
        if (resource_version_.empty() || most_recent_) return first_page();
        return List{resource_version_, {}, 0};
    }
    Step first_page() {
        most_recent_ = true;
        return List{{}, {}, page_size_};
    }
    // The pages took longer than the server keeps the version they belong to.
    Step whole_list() {
        most_recent_ = true;
        return List{{}, {}, 0};
    }

    unsigned page_size_;
    Backoff backoff_;
    std::string resource_version_;
    std::string continue_token_;
    bool listed_ = false;       // the version is good for a watch
    bool most_recent_ = false;  // list without a version
    int expired_ = 0;
    int short_watches_ = 0;
    int malformed_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
