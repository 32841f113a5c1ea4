#include "lists/unique_targets.hpp"

#include "k8s_sd/scrape/scrape_target.hpp"
#include "lists/listed_target.hpp"

#include <openssl/evp.h>
#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <utility>
#include <variant>

namespace k8s_sd_program {

UniqueTargets::Hash UniqueTargets::hash_of(std::string_view text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    if (EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
        throw std::runtime_error("SHA-256 is not to be had");
    }
    Hash hash{};
    std::copy_n(digest.begin(), hash.size(), hash.begin());
    return hash;
}

UniqueTargets::Hash UniqueTargets::identity_of(const k8s_sd::ScrapeTarget& target) {
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
    return hash_of(text);
}

std::string UniqueTargets::key_of(Identities::iterator identity) {
    return {identity->first.begin(), identity->first.end()};
}

ListedTarget UniqueTargets::text_of(const Source& source) const {
    metrics_.serialised.fetch_add(1, std::memory_order_relaxed);
    return collector_target(*source.group, source.index);
}

/// Adds the new targets before removing the old ones: the list does not change for common ones.
void UniqueTargets::replace(Listing& listing, const std::string& key,
                            const k8s_sd::TargetGroupPtr& group, k8s_sd::TargetBuilder& builder) {
    std::vector<Place> now;
    if (group) now = add(listing, group, builder);
    std::vector<Place>& places = places_[key];
    places.swap(now);
    for (const Place& place : now) remove(listing, place);
    if (places.empty()) places_.erase(key);
}

void UniqueTargets::clear() {
    places_.clear();
    identities_.clear();
}

std::vector<UniqueTargets::Place> UniqueTargets::add(Listing& listing,
                                                     const k8s_sd::TargetGroupPtr& group,
                                                     k8s_sd::TargetBuilder& builder) {
    std::vector<Place> places;
    for (std::size_t i = 0; i < group->size(); ++i) {
        const k8s_sd::BuiltTarget built = builder.build(group, i);
        if (const auto* scraped = std::get_if<k8s_sd::ScrapeTargetPtr>(&built)) {
            places.push_back(add(listing, identity_of(**scraped), {group, i}));
        }
    }
    return places;
}

UniqueTargets::Place UniqueTargets::add(Listing& listing, const Hash& identity, Source source) {
    ListedTarget target = text_of(source);
    const auto identity_place = identities_.try_emplace(identity).first;
    Candidates& candidates = identity_place->second;
    const auto place = candidates.emplace(hash_of(target.text), std::move(source));
    if (place == candidates.begin()) {
        std::vector<ListedTarget> first;
        first.push_back(std::move(target));
        listing.replace(key_of(identity_place), std::move(first));
    }
    return {identity_place, place};
}

void UniqueTargets::remove(Listing& listing, Place place) {
    Candidates& candidates = place.identity->second;
    const bool was_listed = place.candidate == candidates.begin();
    const Hash text = place.candidate->first;
    candidates.erase(place.candidate);
    if (!was_listed) return;
    if (candidates.empty()) {
        listing.replace(key_of(place.identity), {});
        identities_.erase(place.identity);
        return;
    }
    const auto& [next, source] = *candidates.begin();
    if (next == text) return;
    std::vector<ListedTarget> first;
    first.push_back(text_of(source));
    listing.replace(key_of(place.identity), std::move(first));
}

}  // namespace k8s_sd_program
