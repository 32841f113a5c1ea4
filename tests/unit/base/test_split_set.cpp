#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/base/split_set.hpp"
#include "support/allocations.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace split_set_tests {

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

struct Hash {
    using is_transparent = void;
    using is_avalanching = void;
    std::size_t operator()(std::string_view text) const noexcept {
        return detail::seeded_hash(text);
    }
    std::size_t operator()(const std::unique_ptr<std::string>& text) const noexcept {
        return detail::seeded_hash(*text);
    }
};
struct Equal {
    using is_transparent = void;
    static std::string_view text(std::string_view text) { return text; }
    static std::string_view text(const std::unique_ptr<std::string>& text) { return *text; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
        return text(a) == text(b);
    }
};
using Set = detail::SplitSet<std::unique_ptr<std::string>, Hash, Equal>;

std::string name_of(std::size_t number) { return "pod-" + std::to_string(number); }

std::set<std::string> content(const Set& set) {
    std::set<std::string> content;
    set.for_each([&](const std::unique_ptr<std::string>& text) { content.insert(*text); });
    return content;
}

}  // namespace

TEST_CASE("SplitSet: it has the elements of a plain set, whole, split, and emptied") {
    std::mt19937 random(7);
    Set set;
    std::set<std::string> plain;
    const auto put_or_erase = [&](const std::string& name, bool inserts) {
        const auto* const found = set.find(std::string_view(name));
        REQUIRE((found != nullptr) == plain.contains(name));
        if (!inserts) {
            set.erase(std::string_view(name));
            plain.erase(name);
        } else if (!found) {
            CHECK(*set.insert(std::make_unique<std::string>(name)) == name);
            plain.insert(name);
        }
        REQUIRE(set.size() == plain.size());
    };
    const auto change = [&](std::size_t numbers, bool mostly_inserts) {
        const std::string name = name_of(random() % numbers);
        put_or_erase(name, random() % 8 == 0 ? !mostly_inserts : mostly_inserts);
    };
    constexpr std::size_t large = 3 * detail::split_set_limit;
    for (int round = 0; round < 2; ++round) {
        for (std::size_t i = 0; i < 2 * large; ++i) change(large, true);
        CHECK(content(set) == plain);
        CHECK(set.size() > detail::split_set_limit);
        for (std::size_t i = 0; i < large; ++i) change(large, false);
        CHECK(content(set) == plain);
        const auto is_odd = [](const std::string& text) { return (text.back() - '0') % 2 == 1; };
        const auto is_erased = [&](const std::unique_ptr<std::string>& text, std::size_t part) {
            const bool is_split = part != detail::not_split;
            CHECK((!is_split || part == detail::split_set_part(Hash{}(text))));
            return is_odd(*text) && plain.erase(*text) > 0;
        };
        // In steps, with changes of the others in between.
        for (std::size_t next = 0; next != detail::split_set_parts;) {
            const std::size_t before = set.size();
            const std::size_t most = 1 + random() % 64;
            next = set.erase_some(next, most, is_erased);
            CHECK(before - set.size() <= most);
            for (int i = 0; i < 3; ++i)
                put_or_erase(name_of(random() % large / 2 * 2), random() % 2 == 0);
        }
        CHECK(content(set) == plain);
        CHECK(std::none_of(plain.begin(), plain.end(), is_odd));
        while (set.erase_some(0, 1'000, [](const auto&, std::size_t) { return true; }) !=
               detail::split_set_parts) {
        }
        plain.clear();
        CHECK(set.empty());
    }
}

TEST_CASE("SplitSet: an empty set has no memory, even if it was large") {
    memory_use = {.on = true};
    {
        Set set;
        for (std::size_t i = 0; i < 2 * detail::split_set_limit; ++i) {
            set.insert(std::make_unique<std::string>(name_of(i)));
        }
        for (std::size_t i = 0; i < 2 * detail::split_set_limit; ++i) {
            set.erase(std::string_view(name_of(i)));
        }
        CHECK(set.empty());
        CHECK(memory_use.bytes == 0);
    }
    memory_use.on = false;
}

TEST_CASE("SplitSet: a split without memory leaves all elements where they are") {
    // 73 parts of 56 or 57 elements, which a table of 56 slots has no room for.
    struct PartHash {
        std::size_t operator()(const std::unique_ptr<std::size_t>& number) const noexcept {
            return *number % 73 << 8U | *number << 24U;
        }
    };
    struct SameNumber {
        bool operator()(const std::unique_ptr<std::size_t>& a,
                        const std::unique_ptr<std::size_t>& b) const noexcept {
            return *a == *b;
        }
    };
    detail::SplitSet<std::unique_ptr<std::size_t>, PartHash, SameNumber> set;
    std::size_t failures = 0;
    for (std::size_t number = 0; number < 4200; ++number) {
        for (long allocations = 0; set.size() == number; ++allocations) {
            auto element = std::make_unique<std::size_t>(number);
            if (number > 4000) allocations_left = allocations;
            try {
                set.insert(std::move(element));
            } catch (const std::bad_alloc&) {
                ++failures;
            }
            allocations_left = -1;
            std::size_t elements = 0;
            if (number > 4000) {
                set.for_each(
                    [&](const std::unique_ptr<std::size_t>& known) { elements += !!known; });
                REQUIRE(elements == set.size());
            }
        }
    }
    CHECK(set.size() == 4200);
    CHECK(failures > 73);
}

TEST_CASE("SplitSet: no insertion into a large set moves more than a part of it") {
    Set set;
    std::size_t longest = 0;
    memory_use = {.on = true};
    for (std::size_t i = 0; i < 16 * detail::split_set_limit; ++i) {
        auto element = std::make_unique<std::string>(name_of(i));
        memory_use.requested = 0;
        set.insert(std::move(element));
        // The bytes of the new table.
        longest = std::max(longest, static_cast<std::size_t>(memory_use.requested));
    }
    memory_use.on = false;
    // A single table takes 16 times as many pointers at least.
    CHECK(longest < 5 * detail::split_set_limit * sizeof(void*));
}

}  // namespace split_set_tests
