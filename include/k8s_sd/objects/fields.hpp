#pragma once

#include <algorithm>
#include <compare>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

/// The fields to keep of each object, by their paths in the Kubernetes API: "metadata.labels",
/// "status.containerStatuses.containerID". A path includes everything below it. Names, namespaces
/// and UIDs are always kept.
class Fields {
 public:
    /// Keeps no fields.
    Fields() = default;
    /// Keeps the fields at these paths, in any order; duplicates are allowed.
    Fields(std::initializer_list<std::string> paths) : paths_(paths) { tidy(); }
    /// The same for a list made at run time.
    explicit Fields(std::vector<std::string> paths) : paths_(std::move(paths)) { tidy(); }
    /// All fields in the struct of a kind, except the annotations of a Secret, since they may hold
    /// copies of its data. To keep them, use {"metadata", "data", "type", "immutable"}.
    static Fields all() { return Fields({""}); }

    /// The paths in ascending order, without those below another path; {""} for all().
    const std::vector<std::string>& paths() const noexcept { return paths_; }
    /// Whether only names, namespaces and UIDs are kept.
    bool empty() const noexcept { return paths_.empty(); }
    /// Whether the field at `path` is kept, wholly or in part.
    bool reaches(std::string_view path) const noexcept {
        return std::any_of(paths_.begin(), paths_.end(), [&](std::string_view kept) {
            return is_in(path, kept) || is_in(kept, path);
        });
    }
    /// Whether every path of `other` is kept.
    bool includes(const Fields& other) const noexcept {
        return std::all_of(other.paths_.begin(), other.paths_.end(), [&](std::string_view path) {
            return std::any_of(paths_.begin(), paths_.end(),
                               [&](std::string_view kept) { return is_in(path, kept); });
        });
    }
    /// Adds the paths of `other`.
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
    /// Sorts the paths and removes those below another path.
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
