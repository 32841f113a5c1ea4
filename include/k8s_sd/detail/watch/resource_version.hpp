#pragma once

#include "k8s_sd/detail/base/rare.hpp"
#include "k8s_sd/detail/base/short_text.hpp"
#include "k8s_sd/detail/codec/event.hpp"

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Versions are decimal numbers since Kubernetes 1.35 (KEP-5504). All others are incomparable: they
/// are neither older nor newer, so as the version of an event they count as new.
inline bool is_comparable_version(std::string_view version) noexcept {
    return !version.empty() && version.front() != '0' &&
           version.find_first_not_of("0123456789") == std::string_view::npos;
}

inline bool is_older_version(std::string_view a, std::string_view b) noexcept {
    if (!is_comparable_version(a) || !is_comparable_version(b)) return false;
    return a.size() != b.size() ? a.size() < b.size() : a < b;
}

/// Whether `a` is newer than `b`. Any comparable version is newer than an incomparable or empty
/// `b`.
inline bool is_newer_version(std::string_view a, std::string_view b) noexcept {
    return is_comparable_version(a) && (!is_comparable_version(b) || is_older_version(b, a));
}

/// The resource versions of a list and its watches. Only a list may decrease them: servers send
/// older objects and bookmarks, too. No I/O.
class KnownVersions {
 public:
    void on_list(std::string_view version) {
        current_ = begin_ = version;
        greatest_.reset();
    }
    /// An event or bookmark has this version, if it is one.
    /// \returns whether the version is new; an older one is not, and is ignored
    bool on_event(std::string_view version) {
        const bool is_known = version == current() || is_older_version(version, current_);
        if (!names_state(version) || is_known) return false;
        if (is_newer_version(version, greatest())) {
            greatest_.reset();
        } else if (!greatest_) {
            greatest_ = std::string(current_);
        }
        current_ = version;
        return true;
    }
    /// \returns the start version of the next watch
    std::string_view begin_watch() { return begin_ = current_; }
    /// Versions of different servers are incomparable.
    void on_other_server() noexcept {
        current_ = {};
        greatest_.reset();
    }

    std::string_view current() const noexcept { return current_; }
    /// The greatest known version, if versions are comparable. A version that is no number replaces
    /// the current one, but does not hide this one.
    std::string_view greatest() const noexcept { return greatest_ ? *greatest_ : current(); }
    /// Whether a version is older than the start version of the watch.
    bool is_before_watch(std::string_view version) const noexcept {
        return is_older_version(version, begin_);
    }
    /// Whether the server's version went back, as after the restore of a backup.
    bool is_regression(std::string_view version) const noexcept {
        return is_older_version(version, greatest());
    }

 private:
    ShortText current_;
    ShortText begin_;             // of the watch
    Rare<std::string> greatest_;  // of the list and all later events; null: the current one
};

}  // namespace k8s_sd::inline v0::detail
