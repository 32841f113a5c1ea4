#pragma once

#include "k8s_sd/url_watcher.hpp"
#include "support/simulation.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::test {

/// One URLWatcher and its reports.
class WatchProbe final : private WatchObserver {
 public:
    explicit WatchProbe(Simulation& simulation, WatchQuery query = {},
                        WatchOptions options = plain_lists(), ApiServerConfig server = {})
        : WatchProbe(simulation, client_of(simulation, std::move(server)), std::move(query),
                     options) {}
    WatchProbe(Simulation& simulation, std::shared_ptr<ApiClient> client, WatchQuery query,
               WatchOptions options = plain_lists())
        : simulation_(simulation), client_(std::move(client)) {
        watcher_.emplace(client_, std::move(query), options, static_cast<WatchObserver&>(*this));
    }
    WatchProbe(const WatchProbe&) = delete;
    WatchProbe& operator=(const WatchProbe&) = delete;

    /// A client of the server, by the version of HTTP under test.
    static std::shared_ptr<ApiClient> client_of(Simulation& simulation,
                                                ApiServerConfig server = {}) {
        if (server.url.empty()) server.url = simulation.server.url();
        if (is_by_http2()) server.http_version = HttpVersion::http2;
        return std::make_shared<ApiClient>(simulation.context.get_executor(), server,
                                           simulation.environment());
    }

    void start() {
        watcher_->start();
        simulation_.settle();
    }
    void destroy() { watcher_.reset(); }
    bool alive() const { return watcher_.has_value(); }
    const URLWatcher& watcher() const { return *watcher_; }
    WatchStatus status() const { return watcher_->status(); }

    /// Names of its objects.
    std::set<std::string> names() const {
        std::set<std::string> names;
        watcher_->for_each([&](const ObjectPtr& object) { names.emplace(object->name()); });
        return names;
    }
    /// Changes since the last call: "+a" added, "-a" removed, "~a" modified, "!a" replaced.
    std::string take_changes() { return std::exchange(changes_, {}); }

    int synced = 0;
    int batches = 0;
    int status_changes = 0;
    std::size_t at_sync = 0;  ///< objects reported before on_synced()

    /// Called at the end of the observer function of that name.
    std::function<void()> after_change, after_synced, after_batch, after_status;

 private:
    void on_change(const ObjectChange& change) override {
        if (!changes_.empty()) changes_ += ' ';
        if (!change.before) {
            changes_ += '+';
        } else if (!change.after) {
            changes_ += '-';
        } else {
            changes_ += change.before->same_uid(*change.after) ? '~' : '!';
        }
        changes_ += (change.after ? change.after : change.before)->name();
        ++reported_;
        if (after_change) after_change();
    }
    void on_synced() override {
        ++synced;
        at_sync = reported_;
        if (after_synced) after_synced();
    }
    void on_batch_end() override {
        ++batches;
        if (after_batch) after_batch();
    }
    void on_status() override {
        ++status_changes;
        if (after_status) after_status();
    }

    Simulation& simulation_;
    std::shared_ptr<ApiClient> client_;
    std::optional<URLWatcher> watcher_;
    std::string changes_;
    std::size_t reported_ = 0;
};

}  // namespace k8s_sd::test
