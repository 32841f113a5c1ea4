#pragma once

#include "k8s_sd/scrape/target_pool.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::test {

/// A scraper that checks its notifications strictly.
class StrictScraper final : public TargetHandler {
 public:
    /// The running targets, by labels and URL.
    using Key = std::pair<LabelMap, std::string>;

    void stop(TargetId id, const ScrapeTargetPtr& target, StopReason reason) noexcept override {
        note(reason == StopReason::moved ? ">" : "-", *target, 1);
        const auto it = running_.find(id);
        if (it == running_.end()) {
            complaints += "stopped what did not run; ";
            return;
        }
        if (key(*it->second) != key(*target)) complaints += "stopped another one; ";
        running_.erase(it);
    }
    void keep(TargetId id, const ScrapeTargetPtr& target) noexcept override {
        note("=", *target, 2);
        const auto it = running_.find(id);
        if (it == running_.end()) {
            complaints += "kept what did not run; ";
            return;
        }
        if (key(*it->second) != key(*target)) complaints += "kept another one; ";
        if (it->second->discovered_labels() == target->discovered_labels() &&
            histograms(*it->second) == histograms(*target)) {
            complaints += "kept without news; ";
        }
        it->second = target;
    }
    void start(TargetId id, const ScrapeTargetPtr& target) noexcept override {
        note("+", *target, 3);
        if (id <= last_id_) complaints += "a number is used again; ";
        last_id_ = id;
        for (const auto& [other, running] : running_) {
            if (running->same_as(*target)) complaints += "started twice; ";
        }
        running_.emplace(id, target);
    }
    void reconfigure(const ScrapeConfig& before, const ScrapeConfig& now) noexcept override {
        if (phase_ > 0) complaints += "wrong order; ";
        if (before == now) complaints += "another configuration, but the same; ";
        ++reconfigured;
    }
    void over_limit(bool over) noexcept override {
        phase_ = 4;
        if (over == is_over_limit) complaints += "received the same limit again; ";
        is_over_limit = over;
    }

    /// Calls since the last time: "-address" stop, ">address" stop because it has moved, "=address"
    /// keep, "+address" start, sorted within each kind.
    std::string take() {
        std::string text;
        for (const std::string& call : calls_) text += (text.empty() ? "" : " ") + call;
        forget_calls();
        return text;
    }
    void forget_calls() {
        calls_.clear();
        phase_ = 0;
    }
    std::set<Key> keys() const {
        std::set<Key> keys;
        for (const auto& [id, target] : running_) keys.insert(key(*target));
        return keys;
    }
    std::set<std::string> addresses() const {
        std::set<std::string> result;
        for (const auto& [id, target] : running_) result.emplace(target->get("__address__"));
        return result;
    }
    LabelMap discovered(std::string_view address) const {
        for (const auto& [id, target] : running_) {
            if (target->get("__address__") == address) return target->discovered_labels();
        }
        return {};
    }
    /// The running target with this address, as received last; null: no such target.
    ScrapeTargetPtr target(std::string_view address) const {
        for (const auto& [id, target] : running_) {
            if (target->get("__address__") == address) return target;
        }
        return nullptr;
    }
    /// The number of the target with this address; 0: no such target.
    TargetId id(std::string_view address) const {
        for (const auto& [id, target] : running_) {
            if (target->get("__address__") == address) return id;
        }
        return 0;
    }
    std::size_t count() const { return running_.size(); }

    std::string complaints;
    unsigned reconfigured = 0;  ///< how often
    bool is_over_limit = false;

 private:
    static Key key(const ScrapeTarget& target) { return {target.labels().to_map(), target.url()}; }
    static std::array<bool, 3> histograms(const ScrapeTarget& target) {
        return {target.convert_classic_histograms_to_nhcb(),
                target.always_scrape_classic_histograms(), target.scrape_native_histograms()};
    }
    void note(const char* sign, const ScrapeTarget& target, int phase) {
        if (phase < phase_) complaints += "wrong order; ";
        phase_ = phase;
        const std::string call = sign + std::string(target.get("__address__"));
        const auto first = std::find_if(calls_.begin(), calls_.end(), [&](const std::string& c) {
            return c.front() == call.front() && c > call;
        });
        calls_.insert(first, call);
    }

    std::map<TargetId, ScrapeTargetPtr> running_;
    TargetId last_id_ = 0;
    std::vector<std::string> calls_;
    int phase_ = 0;
};

}  // namespace k8s_sd::test
