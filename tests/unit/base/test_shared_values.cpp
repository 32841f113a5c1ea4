#include "k8s_sd/shared_values.hpp"

#include <catch2/catch_test_macros.hpp>
#include <compare>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace k8s_sd::test {

namespace {

using Texts = SharedList<std::string>;
using Text = SharedValue<std::string>;

}  // namespace

TEST_CASE("SharedList: copies of a list share its elements, and change by themselves") {
    const Texts list{"b", "c"};
    Texts copy = list;
    CHECK(copy == list);
    CHECK(&copy[0] == &list[0]);
    copy.replace(0, "a");
    CHECK(copy[0] == "a");
    CHECK(list[0] == "b");
    CHECK(copy != list);
    CHECK(copy < list);
    copy.append(list);
    CHECK(copy == Texts{"a", "c", "b", "c"});
    CHECK(&copy[2] == &list[0]);
    Texts twice = list;
    twice.append(twice);
    CHECK(twice == Texts{"b", "c", "b", "c"});
    copy.erase_if([](const std::string& text) { return text == "c"; });
    CHECK(copy == std::vector<std::string>{"a", "b"});
    copy.truncate(3);
    CHECK(copy.size() == 2);
    copy.truncate(1);
    CHECK(copy.copy() == std::vector<std::string>{"a"});
    CHECK(copy.at(0) == "a");
    CHECK_THROWS_AS(copy.at(1), std::out_of_range);
    copy = {};
    CHECK(copy.empty());
}

TEST_CASE("SharedList: an edited element is a new one, in that list only") {
    const Texts list{"a", "b"};
    Texts one = list;
    one.edit(1, [](std::string& text) { text += "!"; });
    CHECK(one == Texts{"a", "b!"});
    CHECK(&one[0] == &list[0]);
    Texts all = list;
    all.edit_each([](std::string& text) { text += "?"; });
    CHECK(all == Texts{"a?", "b?"});
    CHECK(list == Texts{"a", "b"});
}

TEST_CASE("SharedValue: copies share the value, and change by themselves") {
    const Text text("a");
    Text copy = text;
    CHECK(&*copy == &*text);
    CHECK(copy == text);
    copy.edit([](std::string& value) { value += "b"; });
    CHECK(*copy == "ab");
    CHECK(*text == "a");
    CHECK(text < copy);
    CHECK((Text("a") <=> text) == std::strong_ordering::equal);
    CHECK(copy->size() == 2);
}

TEST_CASE("SharedValue: all without a value share the default one") {
    const Text first, second;
    CHECK(&*first == &*second);
    CHECK(first == Text(""));
    CHECK(first < Text("a"));
    static_assert(std::is_nothrow_default_constructible_v<Text>);
}

}  // namespace k8s_sd::test
