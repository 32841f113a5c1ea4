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

namespace k8s_sd_program {

/// The list of collectors: discovered targets without those dropped by the rules and, of targets
/// equal after relabelling, only the one with the least hash. Every replica therefore lists the
/// same one, whatever its history. Not thread-safe.
class UniqueTargets {
 public:
    /// \param metrics  must outlive it
    explicit UniqueTargets(ListMetrics& metrics) : metrics_(metrics) {}

    /// Sets the targets of the key to those of this group; null: removes them.
    void replace(Listing&, const std::string& key, const k8s_sd::TargetGroupPtr&,
                 k8s_sd::TargetBuilder&);
    /// Removes everything.
    void clear();

 private:
    /// Cryptographic, because the texts are untrusted and must not collide.
    using Hash = std::array<unsigned char, 16>;
    struct Source {
        k8s_sd::TargetGroupPtr group;
        std::size_t index = 0;
    };
    /// Targets equal after relabelling, by the hash of their text: the first one is listed. The
    /// texts are long, so they are not stored.
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

}  // namespace k8s_sd_program
