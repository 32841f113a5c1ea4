#include "k8s_sd/detail/stores/trie.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace {

/// A number with a hash of few bits, so that many collide until all bits of a round are used.
template <std::uint64_t mask>
struct Numbers {
    using Element = std::pair<int, std::shared_ptr<int>>;
    using Key = int;
    static Key key(const Element& element) noexcept { return element.first; }
    static std::uint64_t hash(Key key, unsigned round) noexcept {
        const auto mixed = (static_cast<std::uint64_t>(key) + round) * 0x9E3779B97F4A7C15U;
        return round < 2 ? mixed & mask : mixed ^ (mixed >> 29U);
    }
};
constexpr std::uint64_t all_bits = ~std::uint64_t{0};

template <class Trie>
std::map<int, int> contents_of(const Trie& trie) {
    std::map<int, int> contents;
    trie.for_each([&](const auto& element) { contents.emplace(element.first, *element.second); });
    return contents;
}

template <std::uint64_t mask>
void play_random_history(unsigned seed) {
    using Trie = k8s_sd::detail::Trie<Numbers<mask>>;
    std::mt19937 random(seed);
    Trie trie;
    std::map<int, int> model;
    std::vector<std::pair<Trie, std::map<int, int>>> kept;
    for (int i = 0; i < 3000; ++i) {
        const int key = static_cast<int>(random() % 400);
        // Grows, then shrinks to nothing.
        if (random() % 3000 > static_cast<unsigned>(i)) {
            trie.put({key, std::make_shared<int>(i)});
            model[key] = i;
        } else {
            trie.remove(key);
            model.erase(key);
        }
        const auto* found = trie.find(key);
        REQUIRE((found != nullptr) == model.contains(key));
        if (found) REQUIRE(*found->second == model[key]);
        REQUIRE(trie.empty() == model.empty());
        if (!trie.empty()) REQUIRE(model.contains(trie.any().first));
        if (random() % 50 == 0) kept.emplace_back(trie, model);
    }
    while (!model.empty()) {
        trie.remove(model.begin()->first);
        model.erase(model.begin());
    }
    CHECK(trie.empty());
    for (const auto& [copy, contents] : kept) REQUIRE(contents_of(copy) == contents);
}

}  // namespace

TEST_CASE("Trie: random histories equal those of a map, and so do copies that were kept") {
    for (unsigned seed = 1; seed <= 5; ++seed) play_random_history<all_bits>(seed);
}

TEST_CASE("Trie: keys with colliding hashes are distinguished") {
    play_random_history<0>(1);
    play_random_history<3>(2);
    play_random_history<0xFFF0'0000'0000'0000U>(3);
}

TEST_CASE("Trie: an element is there once, and goes with the last trie that has it") {
    using Trie = k8s_sd::detail::Trie<Numbers<all_bits>>;
    const auto value = std::make_shared<int>(1);
    Trie trie;
    for (int key = 0; key < 1000; ++key) trie.insert({key, value});
    CHECK(value.use_count() == 1001);
    Trie copy = trie;
    CHECK(value.use_count() == 1001);
    trie.remove(500);
    // Only its neighbours in the node are copied.
    CHECK(value.use_count() < 1001 + 64);
    copy = Trie();
    CHECK(value.use_count() == 1000);
    trie = Trie();
    CHECK(value.use_count() == 1);
}

TEST_CASE("Trie: unshared nodes are changed in place") {
    using Trie = k8s_sd::detail::Trie<Numbers<all_bits>>;
    Trie trie;
    for (int key = 0; key < 1000; ++key) trie.insert({key, nullptr});
    const auto* mine = trie.find(7);
    CHECK(trie.edit(7) == mine);
    CHECK(trie.edit(1000) == nullptr);
    {
        const Trie copy = trie;
        CHECK(trie.edit(7) != mine);
        CHECK(copy.find(7) == mine);
    }
    CHECK(trie.edit(7) == trie.find(7));
}

TEST_CASE("Trie: whoever moved a trie away has an empty one") {
    using Trie = k8s_sd::detail::Trie<Numbers<all_bits>>;
    Trie trie;
    trie.insert({1, nullptr});
    const Trie other = std::move(trie);
    CHECK(other.find(1));
    CHECK(trie.empty());  // NOLINT(bugprone-use-after-move)
    CHECK_FALSE(trie.find(1));
    trie.remove(1);
}
