#pragma once

#include "k8s_sd/scrape/target_builder.hpp"
#include "k8s_sd/target_group.hpp"
#include "lists/listing.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// The list of collectors: targets as they were discovered, without those that the rules drop, and
/// of those that are the same after relabelling only one: the one whose text has the least hash. So
/// every replica shows the same one, whatever its history. Not thread-safe.
class UniqueTargets {
 public:
    /// \param metrics  must outlive it
    explicit UniqueTargets(ListMetrics& metrics) : metrics_(metrics) {}

    /// From now on the key stands for the targets of this group; null: for none.
    void replace(Listing&, const std::string& key, const k8s_sd::TargetGroupPtr&,
                 k8s_sd::TargetBuilder&);
    /// Forgets everything.
    void clear();

 private:
    /// Of texts of strangers, which must not collide.
    using Hash = std::array<unsigned char, 16>;
    struct Source {
        k8s_sd::TargetGroupPtr group;
        std::size_t index = 0;
    };
    /// Those that are the same after relabelling, by the hash of their text: the first one is
    /// listed. Texts are long, so that they are not kept.
    using Candidates = std::multimap<Hash, Source>;
    /// By the hash of the labels after relabelling.
    using Identities = std::map<Hash, Candidates>;
    struct Place {
        Identities::iterator identity;
        Candidates::iterator candidate;
    };

    static Hash hash_of(std::string_view text);
    static Hash identity_of(const k8s_sd::ScrapeTarget&);
    static std::string key_of(Identities::iterator);
    ListedTarget text_of(const Source&) const;
    std::vector<Place> add(Listing&, const k8s_sd::TargetGroupPtr&, k8s_sd::TargetBuilder&);
    Place add(Listing&, const Hash& identity, Source);
    void remove(Listing&, Place);

    ListMetrics& metrics_;
    Identities identities_;
    std::map<std::string, std::vector<Place>, std::less<>> places_;  ///< by the keys of groups
};

}  // namespace bridge
