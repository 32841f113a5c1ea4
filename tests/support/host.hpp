#pragma once

#include "k8s_sd/discoverer.hpp"
#include "support/group_ledger.hpp"

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace k8s_sd::test {

/// A host with one discoverer.
class Host : public DiscoveryLedger {
 public:
    Host(boost::asio::any_io_executor executor, const DiscoveryConfig& config) {
        discoverer.emplace(std::move(executor), config,
                           [this](const TargetGroupDiff& diff) { on_diff(diff); });
    }
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    Host& run() {
        discoverer->async_run([end = end_](error_code ec) { *end = ec; });
        return *this;
    }

    /// A label of the only target of a source; "" without the label or the source.
    std::string label(const std::string& source, const std::string& name) const {
        const auto group = groups.find(source);
        if (group == groups.end()) return {};
        const LabelMap labels = group->second->merged(0);
        const auto it = labels.find(name);
        return it == labels.end() ? std::string() : it->second;
    }
    /// The sources of the diffs since the last call: "~source" updated, "-source" removed, each
    /// diff in brackets.
    std::string take_diffs() { return std::exchange(log_, {}); }

    /// The result of async_run().
    const std::optional<error_code>& ended() const noexcept { return *end_; }

    std::optional<Discoverer> discoverer;
    std::function<void(const TargetGroupDiff&)> after_diff;

 private:
    void on_diff(const TargetGroupDiff& diff) {
        log_ += apply(diff);
        if (after_diff) after_diff(diff);
    }

    std::string log_;
    // The handler runs after the destruction of the discoverer, perhaps of the host.
    std::shared_ptr<std::optional<error_code>> end_ = std::make_shared<std::optional<error_code>>();
};

}  // namespace k8s_sd::test
