#pragma once

#include <algorithm>
#include <compare>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

/// Which fields of objects are kept, by their paths in the Kubernetes API: "metadata.labels",
/// "status.containerStatuses.containerID". A path stands for all below it. Names, namespaces and
/// UIDs are always kept.
class Fields {
 public:
    /// None.
    Fields() = default;
    Fields(std::initializer_list<std::string> paths) : paths_(paths) { tidy(); }
    explicit Fields(std::vector<std::string> paths) : paths_(std::move(paths)) { tidy(); }
    /// All that the struct of a kind has, but for the annotations of a Secret, where copies of its
    /// data are: who wants them has {"metadata", "data", "type", "immutable"}.
    static Fields all() { return Fields({""}); }

    const std::vector<std::string>& paths() const noexcept { return paths_; }
    bool empty() const noexcept { return paths_.empty(); }
    /// Whether the field of that path is kept, or some of what is below it.
    bool reaches(std::string_view path) const noexcept {
        return std::any_of(paths_.begin(), paths_.end(), [&](std::string_view kept) {
            return is_in(path, kept) || is_in(kept, path);
        });
    }
    /// Whether all of what `other` keeps is kept.
    bool includes(const Fields& other) const noexcept {
        return std::all_of(other.paths_.begin(), other.paths_.end(), [&](std::string_view path) {
            return std::any_of(paths_.begin(), paths_.end(),
                               [&](std::string_view kept) { return is_in(path, kept); });
        });
    }
    /// Keeps what `other` keeps as well.
    void add(const Fields& other) {
        paths_.insert(paths_.end(), other.paths_.begin(), other.paths_.end());
        tidy();
    }
    auto operator<=>(const Fields&) const = default;

 private:
    static bool is_in(std::string_view path, std::string_view around) noexcept {
        return around.empty() || (path.starts_with(around) &&
                                  (path.size() == around.size() || path[around.size()] == '.'));
    }
    /// Sorted, and none in another one.
    void tidy() {
        std::sort(paths_.begin(), paths_.end());
        std::vector<std::string> kept;
        for (std::string& path : paths_) {
            const auto around = [&](const std::string& other) { return is_in(path, other); };
            if (std::none_of(kept.begin(), kept.end(), around)) kept.push_back(std::move(path));
        }
        paths_ = std::move(kept);
    }

    std::vector<std::string> paths_;
};

}  // namespace k8s_sd::inline v0
