#pragma once

#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "k8s_sd/scrape/target_pool.hpp"
#include "options.hpp"
#include "scrape_loop.hpp"
#include "token_store.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace scraper {

/// Events of jobs for the program. Called in any thread.
struct JobEvents {
    std::function<void(std::string line)> print;
    std::function<void()> on_scrape;
};

/// One job: its target pool, and a loop for each target. Runs on a strand of its own, so several
/// threads can process several jobs. The public functions may be called in any thread; they only
/// post.
class ScrapeJob final : public std::enable_shared_from_this<ScrapeJob>,
                        private k8s_sd::TargetHandler {
 public:
    ScrapeJob(const boost::asio::any_io_executor&, k8s_sd::ScrapeJob, k8s_sd::Sharding,
              const k8s_sd::FleetShare&, Unconfirmed, const JobEvents&);

    /// \param providers  providers of the new configuration
    void reload(k8s_sd::ScrapeJob, std::vector<k8s_sd::ProviderId> providers);
    /// Applies a diff; releases it afterwards, so the manager makes the next one.
    void apply(k8s_sd::JobDiff);
    /// Sets the share of this program.
    void share(k8s_sd::FleetShare);
    /// Prints the state, with a line for the job and one for each target that is down.
    /// \param done  released afterwards
    void report(std::shared_ptr<void> done) const;
    /// Stops the job.
    void stop();

 private:
    // Called on the strand, by the pool.
    void stop(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr&,
              k8s_sd::StopReason) noexcept override;
    void keep(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr&) noexcept override;
    void start(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr&) noexcept override;
    void over_limit(bool) noexcept override;

    void report() const;
    void finish_handovers_later();
    void refuse_as_needed();
    GetToken token_source(const k8s_sd::ScrapeTarget&);
    void say(const std::string& text) const;

    const boost::asio::any_io_executor strand_;
    const std::string name_;
    const k8s_sd::Sharding sharding_;
    const Unconfirmed unconfirmed_;
    const JobEvents events_;
    k8s_sd::Job discovery_;
    std::optional<TokenStore> tokens_;  // outlives the loops
    boost::unordered_flat_map<k8s_sd::TargetId, std::shared_ptr<ScrapeLoop>> loops_;
    boost::asio::steady_timer handover_timer_;
    std::string user_agent_;
    std::string refusal_;  // the reason for scraping no target
    k8s_sd::TargetPool pool_;
};

}  // namespace scraper
