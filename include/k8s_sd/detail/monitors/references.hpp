#pragma once

#include "k8s_sd/detail/text/trailing_space.hpp"
#include "k8s_sd/monitors/monitor.hpp"
#include "k8s_sd/monitors/monitor_owner.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// The value of a referenced key, or the reason for its absence.
struct ReferencedValue {
    enum class State : std::uint8_t { found, no_object, no_key, unknown };
    State state = State::no_object;  ///< unknown: not yet read, or not readable
    std::string value{};             ///< may be secret
};

/// Look-up of Secrets and ConfigMaps.
class ReferenceSource {
 public:
    virtual ~ReferenceSource() = default;
    virtual ReferencedValue find(const MonitorReference&) const = 0;
    /// Whether a valid monitor references any key of that Secret by itself. The operator finds
    /// `credentials` of a scrape class only then.
    virtual bool is_loaded(const MonitorReference&) const { return true; }
};

/// A ReferenceSource that records each request, found or not: the caller watches these names.
class References {
 public:
    References(const ReferenceSource& source, const MonitorOwner& owner)
        : source_(source), trims_(owner.vm.has_value()) {}

    ReferencedValue find(const MonitorReference& reference) {
        requested_.insert(reference);
        return read(reference);
    }
    /// nullopt: absent.
    std::optional<std::string> value(const MonitorReference& reference) {
        return counted(find(reference));
    }
    /// Of a scrape class, see ReferenceSource::is_loaded().
    std::optional<std::string> class_value(const MonitorReference& reference) {
        class_requested_.insert(reference);
        return source_.is_loaded(reference) ? counted(read(reference)) : std::nullopt;
    }

    /// Whether values were left out because they are too large together: the jobs are unusable.
    bool exhausted() const noexcept { return exhausted_; }
    const std::set<MonitorReference>& requested() const noexcept { return requested_; }
    const std::set<MonitorReference>& class_requested() const noexcept { return class_requested_; }

 private:
    ReferencedValue read(const MonitorReference& reference) const {
        ReferencedValue found = source_.find(reference);
        if (trims_) found.value.resize(trim_trailing_space(found.value).size());
        return found;
    }
    /// A small object can name a large value many times, so the copies are bounded.
    std::optional<std::string> counted(ReferencedValue found) {
        constexpr std::size_t max_bytes = std::size_t{32} << 20;
        if (found.state != ReferencedValue::State::found) return std::nullopt;
        exhausted_ = exhausted_ || found.value.size() > max_bytes - bytes_;
        if (exhausted_) return std::nullopt;
        bytes_ += found.value.size();
        return std::move(found.value);
    }

    const ReferenceSource& source_;
    // VictoriaMetrics' operator cuts white space off the end of every value, because files end with
    // a line break (build/cache.go, maybeTrimSpace()); prometheus-operator does not.
    bool trims_;
    std::set<MonitorReference> requested_;
    std::set<MonitorReference> class_requested_;
    std::size_t bytes_ = 0;
    bool exhausted_ = false;
};

}  // namespace k8s_sd::inline v0::detail
