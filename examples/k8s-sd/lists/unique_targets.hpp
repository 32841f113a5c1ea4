#pragma once

#include "k8s_sd/scrape/target_builder.hpp"
#include "k8s_sd/target_group.hpp"
#include "lists/listing.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace bridge {

/// The list of collectors: targets as they were discovered, without those that the rules drop, and
/// of those that are the same after relabelling only the one that comes first by its text. So
/// every replica shows the same one, whatever its history. Not thread-safe.
class UniqueTargets {
 public:
    /// From now on the key stands for the targets of this group; null: for none.
    void replace(Listing&, const std::string& key, const k8s_sd::TargetGroupPtr&,
                 k8s_sd::TargetBuilder&);

 private:
    /// A hash of the labels after relabelling; hostile ones do not collide.
    using Identity = std::array<unsigned char, 16>;
    struct Candidate {
        k8s_sd::TargetGroupPtr group;
        std::size_t index = 0;
    };
    struct Group {
        k8s_sd::TargetGroupPtr group;
        std::vector<Identity> identities;
    };

    static Identity identity_of(const k8s_sd::ScrapeTarget&);
    void list(Listing&, const Identity&) const;

    std::map<std::string, Group, std::less<>> groups_;
    std::map<Identity, std::vector<Candidate>> candidates_;
};

}  // namespace bridge
