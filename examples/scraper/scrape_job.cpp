#include "scrape_job.hpp"

#include "k8s_sd/environment.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>
#include <cstddef>
#include <string_view>
#include <utility>

namespace scraper {

namespace asio = boost::asio;
using k8s_sd::ScrapeTarget;
using k8s_sd::ScrapeTargetPtr;
using k8s_sd::TargetId;

namespace {

// Many jobs drop nearly everything; a user debugging one needs to see some of these targets.
constexpr std::size_t shown_dropped_targets = 100;

std::string text_of(const ScrapeTarget& target) {
    std::string text = target.url() + " {";
    for (const auto& [name, value] : target.public_labels()) {
        if (text.back() != '{') text += ", ";
        text += name + "=\"" + value + "\"";
    }
    return text + "}";
}

/// Lets a target see the member scraping it.
std::string user_agent_of(const k8s_sd::FleetShare& share) {
    return share.is_shared() ? "k8s_sd-scraper (" + share.self() + ")" : "k8s_sd-scraper";
}

k8s_sd::ScrapeConfig with_limits(k8s_sd::ScrapeConfig config) {
    if (config.keep_dropped_targets == 0) config.keep_dropped_targets = shown_dropped_targets;
    return config;
}

}  // namespace

ScrapeJob::ScrapeJob(const asio::any_io_executor& executor, k8s_sd::ScrapeJob job,
                     k8s_sd::Sharding sharding, const k8s_sd::FleetShare& share,
                     Unconfirmed unconfirmed, const JobEvents& events)
    : strand_(asio::make_strand(executor)),
      name_(job.scrape.job_name),
      sharding_(std::move(sharding)),
      unconfirmed_(unconfirmed),
      events_(events),
      discovery_(std::move(job.discovery)),
      handover_timer_(strand_),
      user_agent_(user_agent_of(share)),
      pool_(with_limits(std::move(job.scrape)), *this, sharding_) {
    pool_.share(share, std::chrono::steady_clock::now());
    pool_.set_metrics(k8s_sd::metrics_of(asio::query(executor, asio::execution::context)));
}

void ScrapeJob::reload(k8s_sd::ScrapeJob job, std::vector<k8s_sd::ProviderId> providers) {
    asio::post(strand_,
               [self = shared_from_this(), job = std::move(job), providers = std::move(providers)] {
                   // Unchanged targets continue with their original server.
                   self->discovery_ = job.discovery;
                   self->pool_.reload(with_limits(job.scrape), self->sharding_, providers);
                   self->refuse_as_needed();
               });
}

void ScrapeJob::apply(k8s_sd::JobDiff diff) {
    asio::post(strand_, [self = shared_from_this(), diff = std::move(diff)] {
        self->pool_.apply(diff);
        self->refuse_as_needed();
    });
}

void ScrapeJob::share(k8s_sd::FleetShare share) {
    asio::post(strand_, [self = shared_from_this(), share = std::move(share)] {
        self->user_agent_ = user_agent_of(share);
        self->pool_.share(share, std::chrono::steady_clock::now());
        self->refuse_as_needed();
        self->finish_handovers_later();
    });
}

void ScrapeJob::finish_handovers_later() {
    const auto next = pool_.next_handover();
    if (!next) return;
    handover_timer_.expires_at(*next);
    handover_timer_.async_wait([self = shared_from_this()](boost::system::error_code ec) {
        if (ec) return;
        self->pool_.finish_handovers(std::chrono::steady_clock::now());
        self->finish_handovers_later();
    });
}

void ScrapeJob::report(std::shared_ptr<void> done) const {
    asio::post(strand_, [self = shared_from_this(), done = std::move(done)] { self->report(); });
}

void ScrapeJob::stop() {
    asio::post(strand_, [self = shared_from_this()] {
        for (const auto& [id, loop] : self->loops_) loop->stop();
        self->loops_.clear();
        self->handover_timer_.cancel();
        self->tokens_.reset();
    });
}

void ScrapeJob::stop(TargetId id, const ScrapeTargetPtr& target,
                     k8s_sd::StopReason reason) noexcept {
    // A scraper with storage must not write staleness markers for a moved target.
    const bool moved = reason == k8s_sd::StopReason::moved;
    say((moved ? "hand over " : "stop ") + text_of(*target));
    const auto it = loops_.find(id);
    if (it == loops_.end()) return;  // the job has been stopped
    it->second->stop();
    loops_.erase(it);
}

void ScrapeJob::keep(TargetId id, const ScrapeTargetPtr& target) noexcept {
    const auto it = loops_.find(id);
    if (it != loops_.end()) it->second->set_target(target);
}

void ScrapeJob::start(TargetId id, const ScrapeTargetPtr& target) noexcept {
    say("start " + text_of(*target));
    const auto loop =
        std::make_shared<ScrapeLoop>(strand_, target, user_agent_, token_source(*target),
                                     [this](const ScrapeResult&) { events_.on_scrape(); });
    loops_.emplace(id, loop);
    loop->refuse(refusal_);
    loop->start();
}

/// As in Prometheus, no target is left out, but all of them are down.
void ScrapeJob::over_limit(bool over) noexcept {
    refusal_ = over ? "there are more targets than target_limit" : "";
}

/// Unconfirmed targets are refused if the options say so.
void ScrapeJob::refuse_as_needed() {
    for (const auto& [id, loop] : loops_) {
        const bool off = unconfirmed_ == Unconfirmed::off && pool_.unconfirmed(*loop->target());
        loop->refuse(off ? "the API server has not confirmed the target yet" : refusal_);
    }
}

void ScrapeJob::report() const {
    std::size_t up = 0;
    std::size_t samples = 0;
    for (const auto& [id, loop] : loops_) {
        if (!loop->last() || !loop->last()->error.empty()) continue;
        ++up;
        samples += loop->last()->samples;
    }
    say(std::to_string(loops_.size()) + " targets, " + std::to_string(up) + " up, " +
        std::to_string(samples) + " samples; " + std::to_string(pool_.dropped_count()) +
        " dropped, " + std::to_string(pool_.failed_count()) + " failed");
    for (const auto& [id, loop] : loops_) {
        if (loop->last() && !loop->last()->error.empty()) {
            say("down: " + loop->url() + ": " + loop->last()->error);
        }
    }
    for (const auto& failed : pool_.failed()) say(failed.source + ": " + failed.message);
    if (const auto error = pool_.limit_error()) say(*error);
}

/// Empty if the rules name no Secret.
GetToken ScrapeJob::token_source(const ScrapeTarget& target) {
    const std::string_view secret = target.get(TokenStore::label);
    if (secret.empty() || discovery_.configs.empty()) return {};
    if (!tokens_) tokens_.emplace(strand_, discovery_.configs.front());
    if (unconfirmed_ == Unconfirmed::on) return tokens_->source(secret);
    // Another workload may own the address by now.
    return [this, source = tokens_->source(secret),
            target = ScrapeTargetPtr(&target)](bool refused, const TokenHandler& handler) {
        pool_.unconfirmed(*target) ? handler({}, {}) : source(refused, handler);
    };
}

void ScrapeJob::say(const std::string& text) const { events_.print(name_ + ": " + text); }

}  // namespace scraper
