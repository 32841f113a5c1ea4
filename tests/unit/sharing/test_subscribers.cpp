#include "k8s_sd/detail/sharing/subscribers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <optional>
#include <random>
#include <set>

using k8s_sd::detail::Subscribers;
using k8s_sd::detail::ViewSet;

namespace {

struct View {
    std::optional<std::size_t> selection;
    bool active = false;
};
using Views = std::set<const View*>;

ViewSet set_of(std::initializer_list<std::size_t> numbers) {
    ViewSet set;
    for (const std::size_t number : numbers) set.add(number);
    return set;
}

Views called_for(Subscribers<View>& subscribers, const ViewSet& selections) {
    Views views;
    subscribers.for_each_active_of(selections,
                                   [&](View& view) { CHECK(views.insert(&view).second); });
    return views;
}

}  // namespace

TEST_CASE("Subscribers: a change reaches the active views of its selections, and of none") {
    Subscribers<View> subscribers;
    View all, third, also_third, far, inactive{3};
    third.selection = also_third.selection = 3;
    far.selection = 200;
    for (View* view : {&all, &third, &also_third, &far}) {
        subscribers.add(*view, view->selection);
        subscribers.set_active(*view, view->selection);
    }
    subscribers.add(inactive, inactive.selection);
    CHECK(called_for(subscribers, ViewSet()) == Views{&all});
    CHECK(called_for(subscribers, set_of({3})) == Views{&all, &third, &also_third});
    CHECK(called_for(subscribers, set_of({3, 199, 200, 900})) ==
          Views{&all, &third, &also_third, &far});
    Views each;
    subscribers.for_each([&](View& view) { each.insert(&view); });
    CHECK(each == Views{&all, &third, &also_third, &far, &inactive});
    CHECK(subscribers.any_of([&](const View& view) { return &view == &inactive; }));
}

TEST_CASE("Subscribers: the number of a selection costs nothing, however large it is") {
    Subscribers<View> subscribers;
    View far{std::size_t{1} << 60};
    subscribers.add(far, far.selection);
    subscribers.set_active(far, far.selection);
    CHECK(called_for(subscribers, ViewSet()).empty());
    Views each;
    subscribers.for_each_active([&](View& view) { each.insert(&view); });
    CHECK(each == Views{&far});
    subscribers.remove(far, far.selection);
    CHECK(subscribers.empty());
    CHECK_FALSE(subscribers.any_of([](const View&) { return true; }));
}

TEST_CASE("Subscribers: random views that come and go, also during calls") {
    std::mt19937 random(1);
    std::map<std::size_t, View> views;
    for (std::size_t i = 0; i < 40; ++i) {
        if (i % 5 != 0) views[i].selection = i % 7 * 30;
    }
    for (std::size_t i = 0; i < 40; i += 5) views[i] = {};
    Subscribers<View> subscribers;
    Views known;
    const auto change_one = [&] {
        View& view = views.at(random() % views.size());
        const bool removes = random() % 2 == 0;
        if (removes) {
            subscribers.remove(view, view.selection);
            known.erase(&view);
            view.active = false;
        } else {
            subscribers.add(view, view.selection);
            known.insert(&view);
            view.active = view.active || random() % 2 == 0;
            if (view.active) subscribers.set_active(view, view.selection);
        }
    };
    for (int round = 0; round < 2000; ++round) {
        change_one();
        CHECK(subscribers.empty() == known.empty());
        const ViewSet selections = set_of({random() % 7 * 30, random() % 7 * 30});
        Views expected;
        for (const View* view : known) {
            if (view->active && (!view->selection || selections.has(*view->selection)))
                expected.insert(view);
        }
        CHECK(called_for(subscribers, selections) == expected);
        // No call reaches a removed view.
        subscribers.for_each([&](const View& view) {
            CHECK(known.contains(&view));
            if (random() % 4 == 0) change_one();
        });
    }
}
