#include "k8s_sd/detail/stores/published.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

namespace {

struct CountedValue : boost::intrusive_ref_counter<CountedValue> {
    CountedValue(int n, int& count) : number(n), alive(count) { ++alive; }
    ~CountedValue() { --alive; }
    CountedValue(const CountedValue&) = delete;
    CountedValue& operator=(const CountedValue&) = delete;
    int number;
    int& alive;
};
using PublishedValue = k8s_sd::detail::Published<CountedValue>;

PublishedValue::Ptr value(int number, int& alive) { return new CountedValue(number, alive); }

}  // namespace

TEST_CASE("Published: without readers a replaced value is destroyed at once") {
    int alive = 0;
    {
        PublishedValue published(value(1, alive));
        for (int i = 2; i < 10; ++i) {
            published.publish(value(i, alive));
            CHECK(alive == 1);
            CHECK(published.get()->number == i);
        }
    }
    CHECK(alive == 0);
}

TEST_CASE("Published: what was replaced stays while it is read, and as long as it is kept") {
    int alive = 0;
    {
        PublishedValue published(value(1, alive));
        published.read([&](const CountedValue& read) {
            published.publish(value(2, alive));
            published.publish(value(3, alive));
            CHECK(read.number == 1);
            CHECK(published.get()->number == 3);
            published.read([&](const CountedValue& inner) { CHECK(inner.number == 3); });
            CHECK(alive == 3);
        });
        CHECK(alive == 3);
        published.release_replaced();
        CHECK(alive == 1);

        const auto kept = published.get();
        published.publish(value(4, alive));
        CHECK(alive == 2);
        CHECK(kept->number == 3);
    }
    CHECK(alive == 0);
}

TEST_CASE("Published: reader after reader does not keep what was replaced") {
    int alive = 0;
    PublishedValue published(value(0, alive));
    // Each read begins before the previous one ends, so at any time a read is in progress.
    const auto read = [&](const auto& self, int depth) -> void {
        published.read([&](const CountedValue&) {
            published.publish(value(depth, alive));
            if (depth < 20) self(self, depth + 1);
        });
    };
    read(read, 1);
    published.release_replaced();
    CHECK(alive == 1);
}
