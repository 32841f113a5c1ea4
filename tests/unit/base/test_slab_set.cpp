#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/base/slab_set.hpp"
#include "support/allocations.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>

namespace slab_set_tests {

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

/// An element whose name must be destroyed.
struct Element {
    explicit Element(std::unique_ptr<std::string> text) noexcept : name(std::move(text)) {}

    std::unique_ptr<std::string> name;
    int value = 0;
};
struct Hash {
    std::size_t operator()(std::string_view key) const noexcept { return detail::seeded_hash(key); }
    std::size_t operator()(const Element& element) const noexcept {
        return detail::seeded_hash(*element.name);
    }
};
struct Equal {
    bool operator()(std::string_view key, const Element& element) const noexcept {
        return key == *element.name;
    }
};
using Set = detail::SlabSet<Element, Hash, Equal>;
using Plain = std::map<std::string, std::pair<Element*, int>>;

std::string name_of(std::size_t number) { return "pod-" + std::to_string(number); }
Element& add(Set& set, const std::string& name) {
    return set.emplace(std::make_unique<std::string>(name));
}

Plain content(const Set& set) {
    Plain content;
    set.for_each([&](Element& element) { content[*element.name] = {&element, element.value}; });
    return content;
}

}  // namespace

TEST_CASE("SlabSet: it has the elements of a plain map, at the same addresses, and fills gaps") {
    std::mt19937 random(11);
    Set set;
    Plain plain;
    const auto change = [&](std::size_t numbers, bool mostly_inserts) {
        const std::string name = name_of(random() % numbers);
        const bool inserts = random() % 8 == 0 ? !mostly_inserts : mostly_inserts;
        Element* const found = set.find(std::string_view(name));
        const auto known = plain.find(name);
        REQUIRE(found == (known == plain.end() ? nullptr : known->second.first));
        if (!inserts) {
            set.erase(std::string_view(name));
            plain.erase(name);
        } else if (!found) {
            Element& made = add(set, name);
            made.value = static_cast<int>(random() % 1000);
            plain[name] = {&made, made.value};
        }
        REQUIRE(set.size() == plain.size());
    };
    constexpr std::size_t large = 20'000;
    for (int round = 0; round < 2; ++round) {
        for (std::size_t i = 0; i < 2 * large; ++i) change(large, true);
        CHECK(content(set) == plain);
        for (std::size_t i = 0; i < 2 * large; ++i) change(large, false);
        CHECK(content(set) == plain);
    }
}

TEST_CASE("SlabSet: an empty set has no memory, and a set with elements destroys them") {
    memory_use = {.on = true};
    {
        Set set;
        for (int round = 0; round < 2; ++round) {
            for (std::size_t i = 0; i < 10'000; ++i) add(set, name_of(i));
            for (std::size_t i = 0; i < 10'000; ++i) set.erase(std::string_view(name_of(i)));
            CHECK(set.size() == 0);
            CHECK(memory_use.bytes == 0);
        }
        for (std::size_t i = 0; i < 100; ++i) add(set, name_of(i));
    }
    CHECK(memory_use.bytes == 0);
    memory_use.on = false;
}

TEST_CASE("SlabSet: elements that come and go reuse the memory of the gone ones") {
    Set set;
    for (std::size_t i = 0; i < 1000; ++i) add(set, name_of(i));
    memory_use = {.on = true};
    for (std::size_t i = 0; i < 1000; ++i) {
        set.erase(std::string_view(name_of(i)));
        add(set, name_of(1000 + i));
    }
    memory_use.on = false;
    // Those of the texts.
    CHECK(memory_use.bytes <= 0);
}

TEST_CASE("SlabSet: an insertion without memory leaves the set as it was") {
    Set set;
    for (std::size_t i = 0; i < 3000; ++i) {
        auto name = std::make_unique<std::string>(name_of(i));
        allocations_left = 0;
        bool failed = false;
        try {
            set.emplace(std::move(name));
        } catch (const std::bad_alloc&) {
            failed = true;
        }
        allocations_left = -1;
        if (failed) {
            REQUIRE(set.size() == i);
            REQUIRE(set.find(std::string_view(name_of(i))) == nullptr);
            add(set, name_of(i));
        }
        REQUIRE(set.find(std::string_view(name_of(i))) != nullptr);
    }
    CHECK(content(set).size() == 3000);
}

}  // namespace slab_set_tests
