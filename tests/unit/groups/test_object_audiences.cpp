#include "k8s_sd/detail/groups/object_audiences.hpp"
#include "k8s_sd/detail/objects/object_audience.hpp"

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

/// The parties 0 to 19 as the bits of a number.
Audience parties_in(std::size_t number) {
    Audience audience;
    for (std::size_t bit = 0; bit < 20; ++bit) {
        if ((number >> bit & 1U) != 0) audience.add(bit);
    }
    return audience;
}

struct KeptObjects {
    /// As a watch stores it.
    ObjectPtr make(std::size_t parties) {
        const Audience audience = parties_in(parties);
        const std::uint16_t id = audiences.id_of(audience);
        ObjectPtr object(new NamelessObject);
        ObjectAudience::set(*object, id);
        if (id == ObjectAudience::apart) audiences.keep_apart(object, audience);
        return object;
    }
    bool is_for(const ObjectPtr& object, std::size_t parties) const {
        for (std::size_t bit = 0; bit < 20; ++bit) {
            if (audiences.has(*object, bit) != ((parties >> bit & 1U) != 0)) return false;
        }
        return true;
    }

    std::vector<ObjectPtr> objects;
    int looks = 0;
    ObjectAudiences audiences{[this](const std::function<void(const ObjectPtr&)>& visit) {
        ++looks;
        for (const ObjectPtr& object : objects) visit(object);
    }};
};

constexpr std::size_t all_numbers = AudienceTable::capacity;

}  // namespace

TEST_CASE("Object audiences: an object that changes for ever does not use the numbers up") {
    KeptObjects kept;
    kept.objects.resize(1);
    for (std::size_t i = 1; i <= 5 * all_numbers; ++i) {
        kept.objects[0] = kept.make(i);
        if (ObjectAudience::of(*kept.objects[0]) == ObjectAudience::apart) FAIL("apart at " << i);
        if (i % 1000 == 0 && !kept.is_for(kept.objects[0], i)) FAIL("wrong at " << i);
    }
    CHECK(kept.looks <= 5);
    CHECK_FALSE(kept.audiences.crowded());
}

TEST_CASE("Object audiences: more of them than numbers are right, each of them, all the time") {
    constexpr std::size_t count = all_numbers + 20'000;
    KeptObjects kept;
    for (std::size_t i = 1; i <= count; ++i) kept.objects.push_back(kept.make(i));
    CHECK(kept.audiences.crowded());
    CHECK(kept.audiences.kept_apart() >= 20'000);
    CHECK(kept.looks <= 4);  // and not one for each
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
    CHECK_FALSE(kept.audiences.crowded());
    CHECK(kept.audiences.kept_apart() <= 100);
    check_all(count);
}
