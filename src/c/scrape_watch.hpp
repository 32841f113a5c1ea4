#pragma once

#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "k8s_sd/scrape/target_pool.hpp"
#include "pending_targets.hpp"
#include "status_event.hpp"
#include "watch.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace k8s_sd_c {

/// Reads the jobs of a configuration file. \throws Failure, ConfigError
std::vector<k8s_sd::ScrapeJob> read_jobs(const k8s_sd_config&, bool find_server);

/// The jobs of a configuration file: discovers and relabels their targets.
class ScrapeWatch final : public Watch {
 public:
    /// \param max_changes  of one event; zero: no limit
    /// \throws ConfigError for a configuration that cannot be used
    ScrapeWatch(const Host&, WatchIdentity, std::vector<k8s_sd::ScrapeJob>,
                std::size_t max_changes);

    void start() override;
    void cancel() noexcept override;
    void forget() noexcept override;
    void begin_again() override;
    bool checks_status() const noexcept override { return true; }
    void check_status() override;
    void reload(const k8s_sd_config&) override;
    void write_status(JsonWriter&, std::vector<k8s_sd::WatchStatus>&) const override;

 private:
    /// The targets of one job.
    struct JobTargets {
        explicit JobTargets(const k8s_sd::ScrapeConfig& config) : pool(config, pending) {}

        /// Whether nothing of the job can come any more.
        bool is_over() const noexcept {
            return !wanted && !known && !waiting && !full && !more && pending.empty();
        }

        PendingTargets pending;
        k8s_sd::TargetPool pool;
        std::shared_ptr<Slot> slot;
        const std::shared_ptr<Slot> status_slot = std::make_shared<Slot>();
        ReportedStatus reported;
        bool known = false;    ///< had a first diff, and no last one
        bool full = false;     ///< the next event is the complete state
        bool more = false;     ///< the last event is a part, and not the last one
        bool waiting = false;  ///< an event is in the queue
        bool wanted = true;    ///< in the present configuration
        /// Holds back the next diff until the host has taken all events of this one.
        std::shared_ptr<const void> delivery;
    };
    using Jobs = std::map<std::string, std::unique_ptr<JobTargets>, std::less<>>;

    std::shared_ptr<k8s_sd::DiscoveryManager> manager() const;
    void begin();
    void apply(const std::vector<k8s_sd::ScrapeJob>&);
    void on_diff(const k8s_sd::JobDiff&, std::uint64_t number);
    void on_taken(const std::string& job);
    /// Delivers pending changes unless an event is in the queue. \return whether there is one
    bool flush(const std::string& name, JobTargets&);

    mutable std::mutex mutex_;                           ///< a reload runs in a thread of the host
    std::shared_ptr<k8s_sd::DiscoveryManager> manager_;  ///< null: not started, or forgotten
    std::uint64_t manager_number_ = 0;                   ///< counts the managers
    Jobs jobs_;
    std::vector<k8s_sd::ScrapeJob> current_;
    std::size_t max_changes_;
};

}  // namespace k8s_sd_c
