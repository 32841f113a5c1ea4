#include "cluster.hpp"

#include <cstdio>
#include <string_view>

namespace bench {

namespace {

std::size_t whole_copies(std::size_t pods) {
    constexpr std::size_t copy = ObjectList::pods_of_copy;
    return (pods + copy - 1) / copy * copy;
}

}  // namespace

Cluster::Cluster(std::size_t pods, Encoding encoding)
    : list_(k8s_sd::Kind::pod, encoding, whole_copies(pods)) {
    list_.for_each_part([&](std::string_view part) { parts_.emplace_back(part); });
}

void Cluster::append_event(std::string& out, std::size_t pod, std::size_t revision) const {
    char value[24];
    std::snprintf(value, sizeof value, "%09zu", revision);
    list_.append_event(out, pod % list_.size(), value, revision);
}

}  // namespace bench
