#include "k8s_sd/api/pod.hpp"
#include "k8s_sd/detail/sharing/selection_index.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace k8s_sd;
using detail::DecodedObject;
using detail::SelectionIndex;
using detail::SharedSelection;
using detail::SharedSelectionPtr;
using detail::ViewSet;

namespace {

SharedSelectionPtr selection(const std::string& label, const std::string& field, std::size_t number,
                             ObjectShare share = {}) {
    return std::make_shared<const SharedSelection>(SharedSelection{
        detail::Selection(Kind::pod, label, field), label, field, std::move(share), number});
}

ViewSet evaluated(const SelectionIndex& index, const api::Pod& some_pod) {
    ViewSet views;
    index.evaluate(DecodedObject{Kind::pod, some_pod.metadata, &some_pod}, views);
    return views;
}

std::size_t candidates(const SelectionIndex& index, const api::Pod& some_pod) {
    std::size_t count = 0;
    index.for_each_candidate({Kind::pod, some_pod.metadata, &some_pod},
                             [&](const SharedSelection&) { ++count; });
    return count;
}

/// Selections of few labels, values and fields, so that objects match many of them.
class RandomSelections {
 public:
    explicit RandomSelections(unsigned seed) : random_(seed) {}

    std::size_t below(std::size_t end) { return random_() % end; }

    SharedSelectionPtr next(std::size_t number) {
        std::string label;
        for (std::size_t count = below(4); count > 0; --count)
            label += (label.empty() ? "" : ",") + requirement();
        std::string field;
        for (std::size_t count = below(3) / 2 * (1 + below(2)); count > 0; --count)
            field += (field.empty() ? "" : ",") + one_of(fields) + (below(2) == 0 ? "=" : "!=") +
                     one_of(field_values);
        return selection(label, field, number);
    }

    /// JSON may repeat a key, so labels do, too.
    api::Pod next_pod() {
        api::Pod some_pod;
        some_pod.metadata.name = one_of(field_values);
        some_pod.metadata.namespace_ = one_of(field_values);
        some_pod.spec.node_name = one_of(field_values);
        for (std::size_t count = below(5); count > 0; --count)
            some_pod.metadata.labels.emplace_back(one_of(keys), one_of(values));
        return some_pod;
    }

 private:
    using Texts = std::vector<std::string>;

    const std::string& one_of(const Texts& texts) { return texts[below(texts.size())]; }
    std::string requirement() {
        const std::string& key = one_of(keys);
        const std::string set = " (" + one_of(values) + "," + one_of(values) + ")";
        switch (below(8)) {
            case 0: return key;
            case 1: return "!" + key;
            case 2: return key + "!=" + one_of(values);
            case 3: return key + " in" + set;
            case 4: return key + " notin" + set;
            case 5: return key + (below(2) == 0 ? ">" : "<") + "5";
            default: return key + "=" + one_of(values);
        }
    }

    const Texts keys{"a", "b", "app", "example.com/a"};
    const Texts values{"x", "y", "z", "4", "6", ""};
    const Texts fields{"metadata.name", "metadata.namespace", "spec.nodeName"};
    const Texts field_values{"m", "n", ""};
    std::mt19937 random_;
};

}  // namespace

TEST_CASE("SelectionIndex: finds the selections that match when evaluated one by one") {
    RandomSelections random(1);
    std::size_t found = 0;
    for (int round = 0; round < 30; ++round) {
        std::vector<SharedSelectionPtr> all;
        const std::size_t count = random.below(120);
        while (all.size() < count) all.push_back(random.next(all.size()));
        SelectionIndex index;
        // A watch builds its index again when views have left it.
        for (int plan = 0; plan < 3; ++plan) {
            index.clear();
            std::erase_if(all, [&](const auto&) { return random.below(4) == 0; });
            for (const SharedSelectionPtr& each : all) index.add(each, false);
            for (int pods = 0; pods < 50; ++pods) {
                const api::Pod some_pod = random.next_pod();
                ViewSet expected;
                for (const SharedSelectionPtr& each : all) {
                    if (!each->selectors.matches({Kind::pod, some_pod.metadata, &some_pod}))
                        continue;
                    expected.add(each->number);
                    ++found;
                }
                CHECK(evaluated(index, some_pod) == expected);
            }
        }
    }
    CHECK(found > 10'000);
}

TEST_CASE("SelectionIndex: of a thousand selections few are evaluated on an object") {
    std::vector<SharedSelectionPtr> all;
    SelectionIndex index;
    for (std::size_t i = 0; i < 1000; ++i) {
        const std::string value = "v" + std::to_string(i);
        for (const auto& [label, field] : std::vector<std::pair<std::string, std::string>>{
                 {"app=" + value, ""},
                 {"tier in (" + value + "," + value + "x)", ""},
                 {"k" + value, ""},
                 {"", "spec.nodeName=" + value}})
            all.push_back(selection(label, field, all.size()));
    }
    for (const SharedSelectionPtr& each : all) index.add(each, false);
    api::Pod some_pod;
    CHECK(candidates(index, some_pod) == 0);
    some_pod.metadata.labels = {{"app", "v7"}, {"kv9", ""}, {"other", "v1"}, {"tier", "v8x"}};
    some_pod.spec.node_name = "v999";
    CHECK(candidates(index, some_pod) == 4);
    index.add(selection("other!=v2", "", all.size()), false);
    CHECK(candidates(index, some_pod) == 5);
}

TEST_CASE("SelectionIndex: shares are evaluated, selectors that the server has applied are not") {
    SelectionIndex index;
    for (const std::size_t half : {0U, 1U}) {
        index.add(selection("a=x", "", half, ObjectShare::part(half, 2)), true);
        index.add(selection("a=x", "", 2 + half, ObjectShare::part(half, 2)), false);
    }
    api::Pod some_pod;
    some_pod.metadata.uid = "some uid";
    const std::size_t half = ObjectShare::part(0, 2).contains(some_pod.metadata.uid) ? 0 : 1;
    ViewSet expected;
    expected.add(half);
    CHECK(evaluated(index, some_pod) == expected);
    some_pod.metadata.labels = {{"a", "x"}};
    expected.add(2 + half);
    CHECK(evaluated(index, some_pod) == expected);
}

TEST_CASE("SelectionIndex: contains a selection once, until it is cleared") {
    SelectionIndex index;
    const SharedSelectionPtr some = selection("a=x", "", 0);
    CHECK_FALSE(index.contains(some));
    index.add(some, false);
    index.add(some, false);
    CHECK(index.contains(some));
    CHECK_FALSE(index.contains(selection("a=x", "", 0)));
    api::Pod some_pod;
    some_pod.metadata.labels = {{"a", "x"}};
    CHECK(candidates(index, some_pod) == 1);
    index.clear();
    CHECK_FALSE(index.contains(some));
    CHECK(evaluated(index, some_pod).empty());
}
