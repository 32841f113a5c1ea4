#include "k8s_sd/detail/objects/object_tag.hpp"
#include "k8s_sd/detail/sharing/matching_views.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::detail;

namespace {

class NamelessObject final : public Object {
 public:
    NamelessObject() : Object(Kind::pod, "") {}
    bool same_content(const Object&) const noexcept override { return true; }
};

/// The set with the bits of a number.
ViewSet set_of(std::size_t number) {
    ViewSet set;
    for (std::size_t bit = 0; bit < 20; ++bit) {
        if ((number >> bit & 1U) != 0) set.add(bit);
    }
    return set;
}

struct KeptObjects {
    /// As a watch stores it.
    ObjectPtr make(std::size_t number) {
        const ViewSet set = set_of(number);
        const std::uint16_t id = views.id_of(set);
        ObjectPtr object(new NamelessObject);
        ObjectTag::set(*object, id);
        if (id == ObjectTag::apart) views.keep_apart(object, set);
        return object;
    }
    bool is_for(const ObjectPtr& object, std::size_t number) const {
        for (std::size_t bit = 0; bit < 20; ++bit) {
            if (views.has(*object, bit) != ((number >> bit & 1U) != 0)) return false;
        }
        return true;
    }

    std::vector<ObjectPtr> objects;
    int scans = 0;
    MatchingViews views{[this](const std::function<void(const ObjectPtr&)>& visit) {
        ++scans;
        for (const ObjectPtr& object : objects) visit(object);
    }};
};

constexpr std::size_t all_numbers = ViewSetTable::capacity;

}  // namespace

TEST_CASE("MatchingViews: changes of one object never use up the numbers") {
    KeptObjects kept;
    kept.objects.resize(1);
    for (std::size_t i = 1; i <= 5 * all_numbers; ++i) {
        kept.objects[0] = kept.make(i);
        if (ObjectTag::of(*kept.objects[0]) == ObjectTag::apart) FAIL("apart at " << i);
        if (i % 1000 == 0 && !kept.is_for(kept.objects[0], i)) FAIL("wrong at " << i);
    }
    CHECK(kept.scans <= 5);
    CHECK_FALSE(kept.views.crowded());
}

TEST_CASE("MatchingViews: more sets than numbers stay exact") {
    constexpr std::size_t count = all_numbers + 20'000;
    KeptObjects kept;
    for (std::size_t i = 1; i <= count; ++i) kept.objects.push_back(kept.make(i));
    CHECK(kept.views.crowded());
    CHECK(kept.views.kept_apart() >= 20'000);
    CHECK(kept.scans <= 4);  // and not one for each
    const auto check_all = [&](std::size_t more) {
        for (std::size_t i = 0; i < kept.objects.size(); ++i) {
            if (!kept.is_for(kept.objects[i], i + 1 + more)) FAIL("object " << i);
        }
    };
    check_all(0);
    // All of them change, one after the other.
    for (std::size_t i = 0; i < count; ++i) kept.objects[i] = kept.make(i + 1 + count);
    check_all(count);
    // Removed objects free space, also for objects kept separately.
    kept.objects.resize(100);
    for (std::size_t i = 0; i < all_numbers / 8 + 2; ++i) kept.make(500'000 + i);
    CHECK_FALSE(kept.views.crowded());
    CHECK(kept.views.kept_apart() <= 100);
    check_all(count);
}
