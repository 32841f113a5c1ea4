#include "lists/unique_targets.hpp"

#include "k8s_sd/scrape/scrape_target.hpp"
#include "lists/listed_target.hpp"

#include <openssl/evp.h>
#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>
#include <variant>

namespace bridge {

UniqueTargets::Identity UniqueTargets::identity_of(const k8s_sd::ScrapeTarget& target) {
    std::string text;
    const auto add = [&](std::string_view part) {
        text += std::to_string(part.size()) + ':';
        text += part;
    };
    for (const auto [name, value] : target.labels()) {
        add(name);
        add(value);
    }
    add(target.url());
    std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
    if (EVP_Digest(text.data(), text.size(), hash.data(), nullptr, EVP_sha256(), nullptr) != 1) {
        throw std::runtime_error("SHA-256 is not to be had");
    }
    Identity identity{};
    std::copy_n(hash.begin(), identity.size(), identity.begin());
    return identity;
}

void UniqueTargets::replace(Listing& listing, const std::string& key,
                            const k8s_sd::TargetGroupPtr& group, k8s_sd::TargetBuilder& builder) {
    Group before = std::exchange(groups_[key], {});
    std::set<Identity> touched;
    for (const Identity& identity : before.identities) {
        std::erase_if(candidates_[identity],
                      [&](const Candidate& candidate) { return candidate.group == before.group; });
        touched.insert(identity);
    }
    Group now{group, {}};
    for (std::size_t i = 0; group && i < group->size(); ++i) {
        const k8s_sd::BuiltTarget built = builder.build(group, i);
        const auto* scraped = std::get_if<k8s_sd::ScrapeTargetPtr>(&built);
        if (!scraped) continue;
        const Identity identity = identity_of(**scraped);
        candidates_[identity].push_back({group, i});
        touched.insert(identity);
        now.identities.push_back(identity);
    }
    for (const Identity& identity : touched) {
        list(listing, identity);
        if (const auto it = candidates_.find(identity); it->second.empty()) candidates_.erase(it);
    }
    if (group) {
        groups_[key] = std::move(now);
    } else {
        groups_.erase(key);
    }
}

void UniqueTargets::list(Listing& listing, const Identity& identity) const {
    std::vector<ListedTarget> targets;
    for (const Candidate& candidate : candidates_.at(identity)) {
        targets.push_back(collector_target(*candidate.group, candidate.index));
    }
    std::sort(targets.begin(), targets.end());
    if (!targets.empty()) targets.erase(targets.begin() + 1, targets.end());
    listing.replace(std::string(identity.begin(), identity.end()), std::move(targets));
}

}  // namespace bridge
