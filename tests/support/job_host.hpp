#pragma once

#include "k8s_sd/discovery_manager.hpp"
#include "support/group_ledger.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::test {

/// The state of a host with a manager that applies the diffs of each job. Strict checks: each diff
/// must contain exactly the changes.
class JobLedger {
 public:
    /// Source and merged labels of every group, sorted, regardless of the provider.
    using State = std::vector<std::pair<std::string, std::vector<LabelMap>>>;

    void apply(const JobDiff& diff) {
        ++diffs;
        const std::string name(diff.job);
        const bool known = jobs.contains(name);
        if (diff.full == known) complain(name, known ? "full again" : "the first is not full");
        if (diff.last && !known) complain(name, "last, but the host never heard of it");
        if (!diff.full && !diff.last && diff.providers.empty()) complain(name, "nothing in it");
        auto& providers = jobs[name];
        std::set<ProviderId> seen;
        log_ += (log_.empty() ? "" : "; ") + name + marks(diff.full, diff.last) + ':';
        for (const ProviderDiff& provider : diff.providers) {
            if (!seen.insert(provider.provider).second) complain(name, "a provider twice");
            apply(name, providers, provider);
        }
        if (!diff.last) return;
        if (!providers.empty()) complain(name, "has ended, but not its providers");
        jobs.erase(name);
    }

    /// The diffs since the last call, such as "a(full): 1(full)[~p1 ~p2]; b: 1[~p1 -p2] 2(last)[]":
    /// jobs, numbers of providers, and the last part of each source.
    std::string take_diffs() { return std::exchange(log_, {}); }
    State state(const std::string& job) const {
        State state;
        const auto known = jobs.find(job);
        if (known == jobs.end()) return state;
        for (const auto& [provider, ledger] : known->second) {
            for (const auto& [source, group] : ledger.groups) {
                state.emplace_back(source, merged(*group));
            }
        }
        std::sort(state.begin(), state.end());
        return state;
    }
    /// The last parts of a job's sources, sorted: "p1 p2".
    std::string sources(const std::string& job) const {
        std::string text;
        for (const auto& [source, targets] : state(job)) {
            text += (text.empty() ? "" : " ") + short_name(source);
        }
        return text;
    }

    /// Problems of the diffs so far, and, as everything has been delivered, contradictions between
    /// them and snapshots or status; "" if there are none.
    std::string problems(const DiscoveryManager& manager) {
        std::set<std::string> names;
        for (const JobStatus& status : manager.status()) {
            names.insert(status.name);
            compare(status, manager.snapshot(status.name));
        }
        for (const auto& [name, providers] : jobs) {
            if (!names.contains(name)) complain(name, "has no last diff");
            if (!names.contains(name) && manager.snapshot(name)) complain(name, "has a snapshot");
        }
        return complaints;
    }

    std::map<std::string, std::map<ProviderId, GroupLedger>> jobs;
    std::map<std::pair<std::string, ProviderId>, bool> with_all;  ///< see ProviderDiff::all
    std::size_t diffs = 0;
    std::string complaints;

 private:
    void apply(const std::string& name, std::map<ProviderId, GroupLedger>& providers,
               const ProviderDiff& provider) {
        const bool known = providers.contains(provider.provider);
        if (provider.diff.full == known) complain(name, "a provider is full, or should be");
        if (provider.last && !known) complain(name, "the last of a provider it did not have");
        const bool had_all = std::exchange(with_all[{name, provider.provider}], bool(provider.all));
        const bool has_news = !provider.diff.empty() || had_all != bool(provider.all);
        if (!has_news && !provider.last) complain(name, "a provider without news");
        GroupLedger& ledger = providers[provider.provider];
        log_ += ' ' + std::to_string(provider.provider) + marks(provider.diff.full, provider.last) +
                shortened(ledger.apply(provider.diff));
        complaints += ledger.complaints;
        ledger.complaints.clear();
        if (!provider.last) return;
        if (!ledger.groups.empty()) complain(name, "a provider has ended, but not its groups");
        providers.erase(provider.provider);
    }
    void compare(const JobStatus& status, const std::optional<JobSnapshot>& snapshot) {
        if (!snapshot) return complain(status.name, "has no snapshot");
        std::size_t groups = 0;
        std::size_t targets = 0;
        const auto known = jobs.find(status.name);
        const std::size_t received = known == jobs.end() ? 0 : known->second.size();
        if (snapshot->providers.size() != received) complain(status.name, "another snapshot");
        for (const JobSnapshot::ProviderTargets& provider : snapshot->providers) {
            std::map<std::string, TargetGroupPtr> newest;
            for (const TargetGroupPtr& group : provider.groups) {
                newest.emplace(group->source(), group);
                targets += group->size();
            }
            groups += newest.size();
            const auto& ledger = known->second[provider.provider];
            if (merged_of(newest) != merged_of(ledger.groups)) {
                complain(status.name, "the snapshot is not what the diffs make");
            }
        }
        if (groups != status.groups) complain(status.name, "wrong number of groups");
        if (targets != status.targets) complain(status.name, "wrong number of targets");
    }
    static State merged_of(const std::map<std::string, TargetGroupPtr>& groups) {
        State state;
        for (const auto& [source, group] : groups) state.emplace_back(source, merged(*group));
        return state;
    }
    static std::string marks(bool full, bool last) {
        return std::string(full ? "(full)" : "") + (last ? "(last)" : "");
    }
    static std::string short_name(const std::string& source) {
        return source.substr(source.rfind('/') + 1);
    }
    static std::string shortened(const std::string& entries) {
        std::string text;
        for (const char c : entries) {
            text += c;
            if (c != '/') continue;
            text.resize(text.find_last_of("[ ") + 2);  // up to the sign
        }
        return text;
    }
    void complain(const std::string& job, const std::string& problem) {
        complaints += job + ": " + problem + "\n";
    }

    std::string log_;
};

/// A host with a manager.
class JobHost : public JobLedger {
 public:
    explicit JobHost(boost::asio::any_io_executor executor) {
        manager.emplace(std::move(executor), [this](const JobDiff& diff) {
            apply(diff);
            if (after_diff) after_diff(diff);
        });
    }
    JobHost(const JobHost&) = delete;
    JobHost& operator=(const JobHost&) = delete;

    JobHost& run() {
        manager->async_run([end = end_](error_code ec) { *end = ec; });
        return *this;
    }
    std::string problems() { return manager ? JobLedger::problems(*manager) : complaints; }
    /// The result of async_run().
    const std::optional<error_code>& ended() const noexcept { return *end_; }

    std::optional<DiscoveryManager> manager;
    std::function<void(const JobDiff&)> after_diff;

 private:
    // The handler runs after the destruction of the manager, perhaps of the host.
    std::shared_ptr<std::optional<error_code>> end_ = std::make_shared<std::optional<error_code>>();
};

}  // namespace k8s_sd::test
