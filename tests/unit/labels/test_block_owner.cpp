// Blocks in the allocation of an owner must read and live like the plain form: blocks with an
// allocation each.

#include "k8s_sd/detail/labels/block_batch.hpp"
#include "k8s_sd/detail/labels/label_factory.hpp"
#include "support/allocations.hpp"

#include <catch2/catch_test_macros.hpp>
#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using k8s_sd::detail::BlockBatch;
using k8s_sd::detail::BlockOwner;
using k8s_sd::detail::LabelBlock;
using k8s_sd::detail::LabelBlockPtr;
using k8s_sd::detail::LabelFactory;
using k8s_sd::detail::LabelLimitReached;
using k8s_sd::detail::LabelShapePtr;
using k8s_sd::test::memory_use;

namespace {

/// Has nothing beside its blocks, and counts its instances.
class Owner final : public BlockOwner {
 public:
    static boost::intrusive_ptr<const Owner> make(std::vector<std::size_t> distances,
                                                  BlockBatch& batch, std::atomic<int>& alive) {
        void* const memory = ::operator new(sizeof(Owner) + batch.bytes());
        return new (memory) Owner(std::move(distances), batch, alive);
    }
    ~Owner() override {
        for (const std::size_t distance : distances_) std::destroy_at(&at(distance));
        --alive_;
    }
    static void operator delete(void* memory) noexcept { ::operator delete(memory); }

    LabelBlockPtr block(std::size_t index) const { return &at(distances_[index]); }

 private:
    Owner(std::vector<std::size_t> distances, BlockBatch& batch, std::atomic<int>& alive)
        : distances_(std::move(distances)), alive_(alive) {
        batch.make_in(this + 1, *this);
        ++alive_;
    }
    const LabelBlock& at(std::size_t distance) const noexcept {
        return *reinterpret_cast<const LabelBlock*>(reinterpret_cast<const char*>(this + 1) +
                                                    distance);
    }

    std::vector<std::size_t> distances_;
    std::atomic<int>& alive_;
};

/// The same random blocks in both forms.
struct Both {
    boost::intrusive_ptr<const Owner> owner;
    std::vector<LabelBlockPtr> plain;
};

Both make_both(std::mt19937& random, LabelFactory& factory, std::atomic<int>& alive) {
    Both made;
    BlockBatch& batch = factory.batch();
    std::vector<std::size_t> distances;
    const std::size_t count = 1 + random() % 5;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string a(random() % 20, 'a');
        const std::string b(random() % 300, 'b');
        const bool two = random() % 2 == 0;
        const auto add = [&](LabelFactory::BlockBuilder labels) {
            labels.add("a", a);
            if (two) labels.add("b", b);
            return labels;
        };
        made.plain.push_back(add(factory.block()).make());
        distances.push_back(add(factory.block()).add_to(batch));
    }
    made.owner = Owner::make(std::move(distances), batch, alive);
    return made;
}

}  // namespace

TEST_CASE("BlockOwner: its blocks read like blocks in allocations of their own") {
    std::mt19937 random(7);
    std::atomic<int> alive = 0;
    LabelFactory factory;
    for (int round = 0; round < 300; ++round) {
        const Both both = make_both(random, factory, alive);
        for (std::size_t i = 0; i < both.plain.size(); ++i) {
            const LabelBlockPtr owned = both.owner->block(i);
            CHECK(*owned == *both.plain[i]);
            CHECK(owned->packed() == both.plain[i]->packed());
            CHECK(&owned->shape() == &both.plain[i]->shape());
        }
    }
    CHECK(alive == 0);
}

TEST_CASE("BlockOwner: a reference to one block keeps all of them, the last one frees all") {
    std::mt19937 random(8);
    std::atomic<int> alive = 0;
    LabelFactory factory;
    for (int round = 0; round < 300; ++round) {
        Both both = make_both(random, factory, alive);
        std::vector<LabelBlockPtr> references;
        for (std::size_t i = 0; i < 8; ++i) {
            references.push_back(both.owner->block(random() % both.plain.size()));
        }
        both.owner.reset();
        while (!references.empty()) {
            REQUIRE(alive == 1);
            CHECK(references.back()->use_count() == references.size());
            references.erase(references.begin() +
                             static_cast<std::ptrdiff_t>(random() % references.size()));
        }
        CHECK(alive == 0);
    }
}

TEST_CASE("BlockOwner: its blocks keep their shapes, and release them") {
    LabelFactory factory;
    std::atomic<int> alive = 0;
    BlockBatch& batch = factory.batch();
    const std::size_t distance = factory.block().add("a", "1").add_to(batch);
    auto owner = Owner::make({distance}, batch, alive);
    const LabelShapePtr shape(&owner->block(0)->shape());
    const auto with_owner = shape->use_count();
    owner.reset();
    CHECK(shape->use_count() == with_owner - 1);
}

TEST_CASE("BlockOwner: all blocks take one allocation") {
    LabelFactory factory;
    std::atomic<int> alive = 0;
    BlockBatch& batch = factory.batch();
    const std::size_t first = factory.block().add("a", "1").add_to(batch);
    const std::size_t second = factory.block().add("b", "22").add_to(batch);
    std::vector<std::size_t> distances{first, second};
    memory_use = {.on = true};
    const auto owner = Owner::make(std::move(distances), batch, alive);
    memory_use.on = false;
    CHECK(memory_use.allocations <= 1);
    CHECK(memory_use.requested <=
          static_cast<long>(sizeof(Owner) + LabelBlock::size_with(2) + LabelBlock::size_with(3)));
}

TEST_CASE("BlockBatch: it is empty once its blocks are made, and counts for the limit of labels") {
    LabelFactory factory;
    std::atomic<int> alive = 0;
    BlockBatch& batch = factory.batch();
    const std::size_t distance = factory.block().add("a", "1").add_to(batch);
    CHECK(distance == 0);
    CHECK(batch.bytes() == LabelBlock::size_with(2));
    const auto owner = Owner::make({distance}, batch, alive);
    CHECK(batch.bytes() == 0);
    factory.begin_object();
    const std::string half(LabelFactory::max_bytes / 2, 'x');
    CHECK(factory.block().add("a", "1").add_to(batch) == 0);
    factory.block().add("a", half).make();
    CHECK_THROWS_AS(factory.block().add("a", half).add_to(batch), LabelLimitReached);
    CHECK(batch.bytes() == LabelBlock::size_with(2));
}

TEST_CASE("BlockOwner: its blocks are read and released in other threads") {
    std::mt19937 random(9);
    std::atomic<int> alive = 0;
    std::atomic<std::size_t> wrong = 0;
    LabelFactory factory;
    std::vector<std::thread> readers;
    for (int round = 0; round < 40; ++round) {
        Both both = make_both(random, factory, alive);
        for (std::size_t i = 0; i < both.plain.size(); ++i) {
            readers.emplace_back(
                [owned = both.owner->block(i), plain = both.plain[i], &wrong]() mutable {
                    for (int copies = 0; copies < 20; ++copies) {
                        const LabelBlockPtr copy = owned;
                        wrong += *copy == *plain ? 0 : 1;
                    }
                    owned.reset();
                });
        }
    }
    for (std::thread& reader : readers) reader.join();
    CHECK(wrong == 0);
    CHECK(alive == 0);
}
