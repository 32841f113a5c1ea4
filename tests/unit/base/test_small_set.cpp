#include "k8s_sd/detail/base/small_set.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::test {

namespace {

/// Movable only, as the groups of a pool are.
using Element = std::unique_ptr<std::string>;

Element element(std::string_view text) { return std::make_unique<std::string>(text); }

std::string_view text_of(std::string_view text) { return text; }
std::string_view text_of(const Element& element) { return *element; }

struct Hash {
    using is_transparent = void;
    template <class T>
    std::size_t operator()(const T& key) const noexcept {
        return std::hash<std::string_view>()(text_of(key));
    }
};
struct Equal {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const noexcept {
        return text_of(a) == text_of(b);
    }
};
using Set = detail::SmallSet<Element, Hash, Equal>;

std::set<std::string> content(const Set& set) {
    std::set<std::string> texts;
    set.for_each([&](const Element& element) { texts.insert(*element); });
    return texts;
}

}  // namespace

TEST_CASE("SmallSet: equals a set, whether it has few or many elements") {
    for (const std::size_t count : {0U, 1U, 8U, 9U, 100U}) {
        Set set;
        std::set<std::string> model;
        if (count % 2 == 0) set.make_room(count);
        for (std::size_t i = 0; i < count; ++i) {
            const std::string text = std::to_string(i);
            CHECK(set.insert(element(text)).second);
            model.insert(text);
            CHECK(content(set) == model);
            CHECK(set.size() == model.size());
        }
        CHECK(set.find(std::string_view("none")) == nullptr);
        while (!model.empty()) {
            const std::string text = *model.begin();
            const Element* const found = set.find(std::string_view(text));
            REQUIRE(found != nullptr);
            CHECK(**found == text);
            set.erase(found);
            model.erase(text);
            CHECK(content(set) == model);
        }
        CHECK(set.size() == 0);
    }
}

TEST_CASE("SmallSet: an element that is there already is not moved from") {
    for (const std::size_t count : {1U, 20U}) {
        Set set;
        for (std::size_t i = 0; i < count; ++i) set.insert(element(std::to_string(i)));
        Element again = element("0");
        const auto [place, is_new] = set.insert(std::move(again));
        CHECK_FALSE(is_new);
        CHECK(**place == "0");
        REQUIRE(again != nullptr);
        CHECK(place->get() != again.get());
    }
}

TEST_CASE("SmallSet: erases all that satisfy a predicate") {
    for (const std::size_t count : {4U, 40U}) {
        Set set;
        for (std::size_t i = 0; i < count; ++i) set.insert(element(std::to_string(i)));
        set.erase_if([](const Element& element) { return element->back() % 2 != 0; });
        CHECK(set.size() == count / 2);
        CHECK(set.find(std::string_view("1")) == nullptr);
        CHECK(set.find(std::string_view("2")) != nullptr);
    }
}

}  // namespace k8s_sd::test
