#pragma once

#include "k8s_sd/detail/access/required_rules.hpp"
#include "k8s_sd/kind.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The permissions that a check requests, in order: list and watch of each rule. No I/O.
class PermissionChecks {
 public:
    struct Check {
        KindAccess access;
        bool watch = false;
        std::string_view api_version{};  ///< empty: the current one
    };

    PermissionChecks() = default;
    explicit PermissionChecks(const std::vector<KindAccess>& accesses) {
        for (const KindAccess& access : accesses) {
            checks_.push_back({access, false});
            checks_.push_back({access, true});
        }
    }

    /// The current check. Requires that there is one.
    const Check& current() const { return checks_[next_]; }
    /// Skips checks that another answer has made superfluous.
    /// \returns false if none is left
    bool advance() {
        while (next_ < checks_.size() && is_answered_already()) ++next_;
        return next_ < checks_.size();
    }
    /// The server has the kind in this version only.
    void set_version(Kind kind, std::string_view version) {
        for (Check& check : checks_) {
            if (check.access.second == kind) check.api_version = version;
        }
    }
    /// The server allows the current request.
    void on_allowed() {
        const Check& check = checks_[next_++];
        const auto& [rule, kind] = check.access;
        if (check.watch && rule.optional) allowed_together_ = kind;
    }
    /// The current request has failed.
    /// \param optional  the program works without the permission
    void on_failed(bool optional) {
        // List and watch require each other.
        const bool skips_watch = optional && !current().watch;
        next_ += skips_watch ? 2 : 1;
    }

 private:
    bool is_answered_already() const {
        const auto& [rule, kind] = current().access;
        return !rule.optional && !rule.ns.empty() && allowed_together_ == kind;
    }

    std::vector<Check> checks_;
    std::size_t next_ = 0;
    std::optional<Kind> allowed_together_;  ///< a watch of all namespaces
};

}  // namespace k8s_sd::inline v0::detail
