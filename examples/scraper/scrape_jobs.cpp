#include "scrape_jobs.hpp"

#include "k8s_sd/scrape/target_pool.hpp"
#include "token_store.hpp"

#include <boost/asio/detached.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <algorithm>
#include <optional>
#include <utility>

namespace scraper {

using k8s_sd::ScrapeTarget;
using k8s_sd::ScrapeTargetPtr;

namespace {

std::string text_of(const ScrapeTarget& target) {
    std::string text = target.url() + " {";
    for (const auto& [name, value] : target.public_labels()) {
        if (text.back() != '{') text += ", ";
        text += name + "=\"" + value + "\"";
    }
    return text + "}";
}

}  // namespace

/// The pool of one job and a loop for each of its targets.
class ScrapeJobs::ScrapeJob final : public k8s_sd::TargetHandler {
 public:
    ScrapeJob(ScrapeJobs& jobs, const k8s_sd::ScrapeJob& job)
        : jobs_(jobs), discovery_(job.discovery), pool_(job.scrape, *this, jobs.sharding_) {}
    ~ScrapeJob() {
        for (const auto& [key, loop] : loops_) loop->stop();
    }
    ScrapeJob(const ScrapeJob&) = delete;
    ScrapeJob& operator=(const ScrapeJob&) = delete;

    void reload(const k8s_sd::ScrapeJob& job) {
        // Targets that stay go on with the server that they began with.
        discovery_ = job.discovery;
        pool_.reload(job.scrape, jobs_.sharding_);
    }
    void apply(const k8s_sd::JobDiff& diff) { pool_.apply(diff); }

    bool wanted = true;  ///< is in the configuration

    void report() const {
        std::size_t up = 0;
        std::size_t samples = 0;
        for (const auto& [key, loop] : loops_) {
            if (!loop->last() || !loop->last()->error.empty()) continue;
            ++up;
            samples += loop->last()->samples;
        }
        say(std::to_string(loops_.size()) + " targets, " + std::to_string(up) + " up, " +
            std::to_string(samples) + " samples; " + std::to_string(pool_.dropped_count()) +
            " dropped, " + std::to_string(pool_.failed_count()) + " failed");
        for (const auto& [key, loop] : loops_) {
            if (loop->last() && !loop->last()->error.empty()) {
                say("down: " + loop->target().url() + ": " + loop->last()->error);
            }
        }
        for (const auto& failed : pool_.failed()) say(failed.source + ": " + failed.message);
        if (const auto error = pool_.limit_error()) say(*error);
    }

    void explain(const k8s_sd::JobSnapshot& snapshot) const {
        k8s_sd::TargetBuilder builder(pool_.config(), jobs_.sharding_);
        for (const auto& provider : snapshot.providers) {
            if (provider.groups.empty()) continue;
            const k8s_sd::TargetGroup& group = *provider.groups.front();
            say("first target of " + std::string(group.source()));
            const k8s_sd::TargetExplanation explanation = builder.explain(group, 0);
            for (const k8s_sd::RelabelStep& step : explanation.rules) {
                say("  rule " + std::to_string(step.rule) + ": " + step.reason);
                for (const auto& change : step.changes) {
                    say("    " + change.label + ": \"" + change.before + "\" -> \"" + change.after +
                        "\"");
                }
            }
            for (const std::string& step : explanation.steps) say("  " + step);
            return;
        }
        say("has no target to explain");
    }

 private:
    void stop(const ScrapeTargetPtr& target) override {
        say("stop " + text_of(*target));
        const auto it = loops_.find(key_of(*target));
        it->second->stop();
        loops_.erase(it);
    }
    void keep(const ScrapeTargetPtr& target) override {
        loops_.at(key_of(*target))->set_target(target);
    }
    void start(const ScrapeTargetPtr& target) override {
        say("start " + text_of(*target));
        const auto loop =
            std::make_shared<ScrapeLoop>(jobs_.executor_, target, token_source(*target),
                                         [this](const ScrapeResult&) { jobs_.on_scrape_(); });
        loops_.emplace(key_of(*target), loop);
        loop->start();
    }

    /// Empty where the rules name no Secret.
    GetToken token_source(const ScrapeTarget& target) {
        const std::string_view secret = target.get(TokenStore::label);
        if (secret.empty() || discovery_.configs.empty()) return {};
        if (!tokens_) tokens_.emplace(jobs_.executor_, discovery_.configs.front());
        return tokens_->source(secret);
    }

    /// Two targets of a pool never agree in this.
    static std::string key_of(const ScrapeTarget& target) {
        std::string key = target.url();
        for (const auto& [name, value] : target.labels()) {
            ((key.append(1, '\0') += name) += '\0') += value;
        }
        return key;
    }
    void say(const std::string& text) const { jobs_.print_(pool_.config().job_name + ": " + text); }

    ScrapeJobs& jobs_;
    k8s_sd::Job discovery_;
    std::optional<TokenStore> tokens_;  // outlives the loops
    boost::unordered_flat_map<std::string, std::shared_ptr<ScrapeLoop>> loops_;
    k8s_sd::TargetPool pool_;
};

ScrapeJobs::ScrapeJobs(boost::asio::any_io_executor executor, k8s_sd::Sharding sharding,
                       Print print, std::function<void()> on_scrape)
    : executor_(std::move(executor)),
      sharding_(std::move(sharding)),
      print_(std::move(print)),
      on_scrape_(std::move(on_scrape)),
      manager_(executor_, [this](const k8s_sd::JobDiff& diff) { on_diff(diff); }) {
    manager_.async_run(boost::asio::detached);
}

ScrapeJobs::~ScrapeJobs() = default;

void ScrapeJobs::apply(const k8s_sd::ScrapeConfigFile& file) {
    // A job that is gone stays until its last diff, which stops its targets.
    for (const auto& [name, job] : jobs_) job->wanted = false;
    for (const k8s_sd::ScrapeJob& job : file.jobs) {
        auto& present = jobs_[job.scrape.job_name];
        if (present) {
            present->wanted = true;
            present->reload(job);
        } else {
            present = std::make_unique<ScrapeJob>(*this, job);
        }
    }
    for (const k8s_sd::ConfigFailure& failure : manager_.apply_config(file.discovery_jobs())) {
        print_(failure.job + ": kubernetes_sd_configs[" + std::to_string(failure.config) + "]" +
               " cannot be used: " + failure.message);
    }
}

void ScrapeJobs::on_diff(const k8s_sd::JobDiff& diff) {
    const auto job = jobs_.find(diff.job);
    if (job == jobs_.end()) return;
    job->second->apply(diff);
    if (diff.last && !job->second->wanted) jobs_.erase(job);
}

void ScrapeJobs::report() const {
    for (const auto& [name, job] : jobs_) job->report();
    for (const k8s_sd::JobStatus& status : manager_.status()) {
        for (const k8s_sd::JobConfigStatus& config : status.configs) {
            if (!config.status.message.empty()) print_(status.name + ": " + config.status.message);
        }
    }
}

void ScrapeJobs::explain() const {
    for (const auto& [name, job] : jobs_) {
        if (const auto snapshot = manager_.snapshot(name)) job->explain(*snapshot);
    }
}

bool ScrapeJobs::complete() const {
    const auto jobs = manager_.status();
    return std::all_of(jobs.begin(), jobs.end(), [](const auto& job) { return job.synced; });
}

void ScrapeJobs::stop() {
    manager_.cancel();
    jobs_.clear();
}

}  // namespace scraper
