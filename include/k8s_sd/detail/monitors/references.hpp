#pragma once

#include "k8s_sd/monitors/monitor.hpp"

#include <optional>
#include <set>
#include <string>

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
    explicit References(const ReferenceSource& source) : source_(source) {}

    ReferencedValue find(const MonitorReference& reference) {
        requested_.insert(reference);
        return source_.find(reference);
    }
    /// nullopt: absent.
    std::optional<std::string> value(const MonitorReference& reference) {
        ReferencedValue found = find(reference);
        if (found.state != ReferencedValue::State::found) return std::nullopt;
        return std::move(found.value);
    }
    /// Of a scrape class, see ReferenceSource::is_loaded().
    std::optional<std::string> class_value(const MonitorReference& reference) {
        class_requested_.insert(reference);
        return source_.is_loaded(reference) ? value_of(source_.find(reference)) : std::nullopt;
    }

    const std::set<MonitorReference>& requested() const noexcept { return requested_; }
    const std::set<MonitorReference>& class_requested() const noexcept { return class_requested_; }

 private:
    static std::optional<std::string> value_of(ReferencedValue found) {
        if (found.state != ReferencedValue::State::found) return std::nullopt;
        return std::move(found.value);
    }

    const ReferenceSource& source_;
    std::set<MonitorReference> requested_;
    std::set<MonitorReference> class_requested_;
};

}  // namespace k8s_sd::inline v0::detail
