#include "lists/list_versions.hpp"

#include "lists/list_diff.hpp"

namespace k8s_sd_program {

std::string_view version_of(const ListBody& body) {
    const std::string_view tag = body.tag();
    return tag.substr(1, tag.size() - 2);
}

ListVersions::ListVersions(const Limits& limits)
    : lists_(limits.lists, limits.list_bytes), diffs_(limits.diffs, limits.diff_bytes) {}

void ListVersions::keep(const ListBodyPtr& body) {
    const std::lock_guard lock(mutex_);
    lists_.put(std::string(version_of(*body)), body, body->bytes()->size());
}

ListBodyPtr ListVersions::find(const std::string& version) const {
    const std::lock_guard lock(mutex_);
    return lists_.find(version);
}

SharedText ListVersions::diff(const ListBody& from, const ListBody& to) {
    const std::string name = from.tag() + to.tag();
    {
        const std::lock_guard lock(mutex_);
        if (auto made = diffs_.find(name)) return made;
    }
    const ListDiff diff = diff_of(*from.bytes(), *to.bytes());
    const SharedText made =
        counted_text(R"("from":)" + from.tag() + R"(,"version":)" + to.tag() + R"(,"removed":)" +
                         diff.removed + R"(,"added":)" + diff.added,
                     to.held());
    const std::lock_guard lock(mutex_);
    diffs_.put(name, made, made->size());
    return made;
}

}  // namespace k8s_sd_program
