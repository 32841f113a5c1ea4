#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/detail/labels/label_factory.hpp"
#include "k8s_sd/labels.hpp"
#include "support/allocations.hpp"

#include <catch2/catch_test_macros.hpp>
#include <array>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using k8s_sd::LabelMap;
using k8s_sd::Labels;
using k8s_sd::detail::Access;
using k8s_sd::detail::FamilyName;
using k8s_sd::detail::KeyValues;
using k8s_sd::detail::LabelBlockPtr;
using k8s_sd::detail::LabelFactory;
using k8s_sd::detail::LabelLimitReached;
using k8s_sd::detail::RecentCache;
using k8s_sd::test::memory_use;

namespace {

constexpr FamilyName family{"label_", "labelpresent_"};
constexpr FamilyName alone{"address_", ""};

std::string sanitized(std::string_view key) {
    std::string out;
    k8s_sd::detail::append_sanitized(out, key);
    return out;
}

LabelBlockPtr make_family(LabelFactory& factory, FamilyName name, KeyValues pairs) {
    return factory.family(name, pairs);
}

Labels view(const std::vector<LabelBlockPtr>& blocks) {
    return Access::make<Labels>(blocks.data(), blocks.data() + blocks.size());
}
LabelMap map_of(const LabelBlockPtr& block) {
    return Access::make<Labels>(&block, &block + 1).to_map();
}

}  // namespace

TEST_CASE("append_sanitized: every code point outside [a-zA-Z0-9_] becomes one underscore") {
    struct Row {
        std::string_view key, name;
    };
    for (const Row& row : std::initializer_list<Row>{
             {"", ""},
             {"app", "app"},
             {"App_2", "App_2"},
             {"app.kubernetes.io/name", "app_kubernetes_io_name"},
             {"a-b", "a_b"},
             {"a--b", "a__b"},
             {"-a-", "_a_"},
             {"9", "9"},
             {" a\tb\n", "_a_b_"},
             {"[@`{^", "_____"},
             {"/:", "__"},
             {"é-x", "__x"},
             {"ü", "_"},
             {"漢字", "__"},
             {"a😀b", "a_b"},
             {"\x7f", "_"},
         }) {
        CAPTURE(row.key);
        CHECK(sanitized(row.key) == row.name);
    }
    CHECK(sanitized(std::string_view("a\0b", 3)) == "a_b");
}

TEST_CASE("append_sanitized: bytes that are not UTF-8 give nothing but label name characters") {
    for (int a = 0; a < 256; ++a) {
        for (const int b : {0x00, 0x2F, 0x41, 0x80, 0xBF, 0xC3, 0xED, 0xF8, 0xFF}) {
            const std::string key{static_cast<char>(a), static_cast<char>(b)};
            const std::string name = sanitized(key);
            CAPTURE(a, b, name);
            CHECK(name.size() <= 2);
            CHECK(name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                         "0123456789_") == std::string::npos);
        }
    }
}

TEST_CASE("LabelFactory: a family gives each key a label and a sibling for its presence") {
    LabelFactory factory;
    const auto block = make_family(factory, family, {{"app", "web"}, {"a.b/c", ""}});
    CHECK(map_of(block) == LabelMap{{"label_app", "web"},
                                    {"labelpresent_app", "true"},
                                    {"label_a_b_c", ""},
                                    {"labelpresent_a_b_c", "true"}});
    CHECK(block->shape().label_count() == 4);
}

TEST_CASE("LabelFactory: a family without a name for siblings has none") {
    LabelFactory factory;
    const auto block = make_family(factory, alone, {{"InternalIP", "10.0.0.1"}, {"Hostname", "h"}});
    CHECK(map_of(block) == LabelMap{{"address_InternalIP", "10.0.0.1"}, {"address_Hostname", "h"}});
    CHECK(block->shape().label_count() == 2);
}

TEST_CASE("LabelFactory: of keys that become one name the greatest wins, in whatever order") {
    LabelFactory factory;
    const LabelMap expected{{"label_a_b", "greatest"}, {"labelpresent_a_b", "true"}};
    KeyValues keys{{"a-b", "1"}, {"a.b", "2"}, {"a/b", "3"}, {"a_b", "greatest"}};
    std::sort(keys.begin(), keys.end());
    do {
        const auto block = make_family(factory, family, keys);
        CHECK(map_of(block) == expected);
        CHECK(Access::make<Labels>(&block, &block + 1).size() == 2);
    } while (std::next_permutation(keys.begin(), keys.end()));
}

TEST_CASE("LabelFactory: collisions in the middle, at the start and at the end hide one label") {
    LabelFactory factory;
    const auto block = make_family(factory, family,
                                   {{"a", "0"},
                                    {"b-1", "x"},
                                    {"b.1", "1"},
                                    {"c", "2"},
                                    {"é", "3"},
                                    {"ü", "4"},
                                    {"z-", "x"},
                                    {"z.", "5"}});
    CHECK(map_of(block) == LabelMap{{"label_a", "0"},
                                    {"labelpresent_a", "true"},
                                    {"label_b_1", "1"},
                                    {"labelpresent_b_1", "true"},
                                    {"label_c", "2"},
                                    {"labelpresent_c", "true"},
                                    {"label__", "4"},
                                    {"labelpresent__", "true"},
                                    {"label_z_", "5"},
                                    {"labelpresent_z_", "true"}});
    const Labels labels = Access::make<Labels>(&block, &block + 1);
    CHECK(labels.size() == 10);
    CHECK(labels.get("label_b_1") == "1");
    CHECK(std::distance(labels.begin(), labels.end()) == 10);
}

TEST_CASE("LabelFactory: the value of a hidden key makes no difference") {
    LabelFactory factory;
    const auto one = make_family(factory, family, {{"a-b", "1"}, {"a.b", "x"}});
    const auto two = make_family(factory, family, {{"a-b", "2"}, {"a.b", "x"}});
    CHECK(*one == *two);
}

TEST_CASE("LabelFactory: large blocks are equal without being one") {
    LabelFactory factory;
    const std::string large(5000, 'x');
    const auto a = factory.block().add("a", large).make_shared(),
               b = factory.block().add("a", large).make_shared();
    CHECK(a != b);
    CHECK(*a == *b);
    const auto c = make_family(factory, family, {{large, "v"}});
    const auto d = make_family(factory, family, {{large, "v"}});
    CHECK(*c == *d);
    CHECK(map_of(c) == LabelMap{{"label_" + large, "v"}, {"labelpresent_" + large, "true"}});
}

TEST_CASE("LabelFactory: the new blocks of an object have a limit, and those of the next one too") {
    LabelFactory factory;
    const std::string text(std::size_t{700} << 10, 'x');
    const auto make = [&] { return factory.block().add("image", text).make_shared(); };
    for (int object = 0; object < 2; ++object) {
        factory.begin_object();
        for (int i = 0; i < 93; ++i) make();
        CHECK_THROWS_AS(make(), LabelLimitReached);
    }
    factory.begin_object();
    const auto block = make();
    for (int i = 1; i < 93; ++i) factory.with_value(*block, 0, text);
    CHECK_THROWS_AS(factory.without(*block, Labels()), LabelLimitReached);
}

TEST_CASE("LabelFactory: a block that is shared counts once") {
    LabelFactory factory;
    const std::string text(1000, 'x');
    std::vector<LabelBlockPtr> blocks;
    factory.begin_object();
    for (int i = 0; i < 100'000; ++i) {
        blocks.push_back(factory.block().add("image", text).make_shared());
    }
    CHECK(blocks.front() == blocks.back());
}

TEST_CASE("LabelFactory: of a repeated key the last value counts") {
    LabelFactory factory;
    const auto block =
        make_family(factory, family, {{"b", "1"}, {"a", "x"}, {"b", "2"}, {"a", "y"}});
    CHECK(map_of(block) == map_of(make_family(factory, family, {{"a", "y"}, {"b", "2"}})));
    CHECK(block->shape().entries().size() == 2);
}

TEST_CASE("LabelFactory: no labels give no block") {
    LabelFactory factory;
    CHECK(make_family(factory, family, {}) == nullptr);
    CHECK(factory.block().make() == nullptr);
    CHECK(factory.block().make_shared() == nullptr);
    CHECK(factory.block().add_if("a", "").make() == nullptr);
}

TEST_CASE("LabelFactory: a row keeps empty values unless they are added conditionally") {
    LabelFactory factory;
    const auto block = factory.block().add("a", "").add_if("b", "").add_if("c", "1").make();
    CHECK(map_of(block) == LabelMap{{"a", ""}, {"c", "1"}});
    CHECK(block->value(0).empty());
    CHECK(block->value(1) == "1");
}

TEST_CASE("LabelFactory: values of every length come back as they were") {
    LabelFactory factory;
    for (const std::size_t length :
         {0U, 1U, 126U, 127U, 128U, 129U, 300U, 16383U, 16384U, 16385U, 262144U}) {
        CAPTURE(length);
        const std::string value(length, '\xFF');
        const std::string other(length, 'b');
        const auto block =
            factory.block().add("first", value).add("second", "s").add("third", other).make();
        const Labels labels = Access::make<Labels>(&block, &block + 1);
        CHECK(labels.get("first") == value);
        CHECK(labels.get("second") == "s");
        CHECK(labels.get("third") == other);
        CHECK(block->value(2) == other);
        const auto annotations = make_family(factory, family, {{"k", value}, {"l", "s"}});
        CHECK(map_of(annotations).at("label_k") == value);
        CHECK(map_of(annotations).at("label_l") == "s");
    }
}

TEST_CASE("LabelFactory: equal shared blocks are one block") {
    LabelFactory factory;
    const auto a = factory.block().add("x", "1").add("y", "2").make_shared();
    const auto b = factory.block().add("x", "1").add("y", "2").make_shared();
    CHECK(a == b);
    CHECK(make_family(factory, family, {{"k", "v"}, {"l", "w"}}) ==
          make_family(factory, family, {{"l", "w"}, {"k", "v"}}));
}

TEST_CASE("LabelFactory: blocks of other names or values are not shared") {
    LabelFactory factory;
    const auto a = factory.block().add("x", "1").make_shared();
    CHECK(a != factory.block().add("x", "2").make_shared());
    CHECK(a != factory.block().add("y", "1").make_shared());
    CHECK(a != factory.block().add("x", "1").make());
    // Without their lengths, the bytes of both would be equal: "ab", "c" and "a", "bc".
    const auto split = factory.block().add("x", "ab").add("y", "c").make_shared();
    CHECK(split != factory.block().add("x", "a").add("y", "bc").make_shared());
    const auto labels = make_family(factory, family, {{"k", "v"}});
    CHECK(labels != make_family(factory, {"annotation_", "annotationpresent_"}, {{"k", "v"}}));
    CHECK(labels != make_family(factory, family, {{"kv", ""}}));
    CHECK_FALSE(*labels == *make_family(factory, family, {{"l", "v"}}));
}

TEST_CASE("LabelFactory: own blocks with the same names share one shape") {
    LabelFactory factory;
    const auto a = factory.block().add("x", "1").add("y", "").make();
    const auto b = factory.block().add("x", "2").add("y", "3").make();
    CHECK(a != b);
    CHECK(&a->shape() == &b->shape());
    CHECK(&make_family(factory, family, {{"k", "1"}})->shape() ==
          &make_family(factory, family, {{"k", "2"}})->shape());
}

TEST_CASE("LabelFactory: blocks outlive the factory that made them") {
    LabelBlockPtr block, labels;
    {
        LabelFactory factory;
        const std::string key = "temporary", value = "gone";
        labels = make_family(factory, family, {{key, value}});
        block = factory.block().add("x", value).make_shared();
    }
    CHECK(map_of(labels) ==
          LabelMap{{"label_temporary", "gone"}, {"labelpresent_temporary", "true"}});
    CHECK(map_of(block) == LabelMap{{"x", "gone"}});
}

TEST_CASE("LabelFactory: a copy with another value keeps everything else") {
    LabelFactory factory;
    const auto block =
        factory.block().add("a", "1").add("b", "2").add("c", std::string(200, 'c')).make_shared();
    const auto copy = factory.with_value(*block, 1, "other");
    CHECK(map_of(copy) == LabelMap{{"a", "1"}, {"b", "other"}, {"c", std::string(200, 'c')}});
    CHECK(&copy->shape() == &block->shape());
    CHECK(factory.with_value(*block, 1, "other") == copy);
    CHECK(factory.with_value(*block, 1, "2") == block);
    CHECK(map_of(block).at("b") == "2");
}

TEST_CASE("LabelFactory: more different blocks than it remembers are still all right") {
    LabelFactory factory;
    std::vector<LabelBlockPtr> blocks;
    for (int i = 0; i < 40000; ++i) {
        blocks.push_back(factory.block().add("n", std::to_string(i)).make_shared());
    }
    for (int i = 0; i < 40000; ++i) {
        if (blocks[static_cast<std::size_t>(i)]->value(0) != std::to_string(i)) FAIL("block " << i);
    }
    const auto last = factory.block().add("n", "39999").make_shared();
    CHECK(*last == *blocks.back());
}

TEST_CASE("RecentCache: the value unused for the longest time is displaced, and made again") {
    struct Value : boost::intrusive_ref_counter<Value> {
        explicit Value(int i) : n(i) {}
        int n;
    };
    using Pointer = boost::intrusive_ptr<Value>;
    RecentCache<Pointer> cache(64);
    int made = 0;
    const auto get = [&](std::size_t hash, int n) {
        return cache.get(
            hash, [n](const Value& v) { return v.n == n; },
            [&] { return ++made, Pointer(new Value(n)); });
    };
    const Pointer one = get(5, 1);
    CHECK(get(5, 1) == one);
    CHECK(made == 1);
    CHECK(get(5, 2)->n == 2);       // the same hash, another value
    CHECK(get(5 + 64, 3)->n == 3);  // another hash, the same position
    CHECK(get(5, 4)->n == 4);
    CHECK(made == 4);
    CHECK(get(5, 1) == one);  // there is room for four
    CHECK(get(5, 2)->n == 2);
    CHECK(made == 4);
    CHECK(get(5, 5)->n == 5);  // displaces the third
    CHECK(get(5, 1) == one);
    CHECK(made == 5);
    CHECK(get(5 + 64, 3)->n == 3);
    CHECK(made == 6);
    for (int n = 10; n < 14; ++n) get(5, n);
    const Pointer again = get(5, 1);
    CHECK(again != one);
    CHECK(again->n == 1);
    CHECK(made == 11);
}

TEST_CASE("RecentCache: a few values are made once, wherever their hashes collide") {
    // Like the shapes of pods, whose hashes depend on the addresses of literals.
    struct Value : boost::intrusive_ref_counter<Value> {
        explicit Value(std::size_t h) : hash(h) {}
        std::size_t hash;
    };
    using Pointer = boost::intrusive_ptr<Value>;
    std::mt19937_64 random(1);
    for (int process = 0; process < 1000; ++process) {
        RecentCache<Pointer> cache(256);
        std::vector<std::size_t> hashes(8);
        for (std::size_t& hash : hashes) hash = random();
        std::size_t made = 0;
        std::vector<Pointer> used;
        for (int object = 0; object < 100; ++object) {
            for (const std::size_t hash : hashes) {
                used.push_back(cache.get(
                    hash, [&](const Value& value) { return value.hash == hash; },
                    [&] { return ++made, Pointer(new Value(hash)); }));
            }
        }
        // Five of eight at one of 16 positions are rare, and the table grows then.
        if (made > hashes.size()) CHECK(made < 200);
    }
}

TEST_CASE("RecentCache: values that nothing refers to are dropped, and their memory with them") {
    struct Value : boost::intrusive_ref_counter<Value> {
        explicit Value(std::size_t i) : n(i) {}
        std::size_t n;
        std::array<char, 200> content{};
    };
    using Pointer = boost::intrusive_ptr<Value>;
    RecentCache<Pointer> cache(16384);
    std::size_t made = 0;
    const auto get = [&](std::size_t n) {
        return cache.get(
            n * 0x9E3779B9, [n](const Value& v) { return v.n == n; },
            [&] { return ++made, Pointer(new Value(n)); });
    };
    std::vector<Pointer> used;
    for (std::size_t n = 0; n < 100; ++n) used.push_back(get(n));
    memory_use = {.on = true};
    for (std::size_t n = 1000; n < 1'000'000; ++n) get(n);
    memory_use.on = false;
    CHECK(memory_use.bytes < 500 * 256);
    for (const Pointer& value : used) CHECK(get(value->n)->n == value->n);
    CHECK(made >= 1'000'000 - 1000);
}

TEST_CASE("RecentCache: what it remembers survives its growth") {
    struct Value : boost::intrusive_ref_counter<Value> {
        explicit Value(std::size_t i) : n(i) {}
        std::size_t n;
    };
    using Pointer = boost::intrusive_ptr<Value>;
    RecentCache<Pointer> cache(1024);
    int made = 0;
    const auto get = [&](std::size_t n) {
        return cache.get(
            n, [n](const Value& v) { return v.n == n; },
            [&] { return ++made, Pointer(new Value(n)); });
    };
    std::vector<Pointer> used;
    for (std::size_t round = 0; round < 20; ++round) {
        for (std::size_t n = 0; n < 1024; ++n) used.push_back(get(n));
    }
    for (std::size_t i = 0; i < used.size(); ++i) CHECK(used[i]->n == i % 1024);
    const int before = made;
    for (std::size_t n = 0; n < 1024; ++n) get(n);
    CHECK(made == before);
}

TEST_CASE("Labels: without blocks there are no labels") {
    const Labels none;
    CHECK(none.empty());
    CHECK(none.size() == 0);
    CHECK(none.begin() == none.end());
    CHECK_FALSE(none.get("a"));
    CHECK(none.to_map().empty());
    const std::vector<LabelBlockPtr> nulls(3);
    CHECK(view(nulls).empty());
    CHECK(view(nulls).begin() == view(nulls).end());
    CHECK(view(nulls).to_map().empty());
}

TEST_CASE("Labels: missing blocks anywhere are passed over") {
    LabelFactory factory;
    const auto a = factory.block().add("a", "1").make();
    const auto k = make_family(factory, family, {{"k", "v"}});
    const LabelMap expected{{"a", "1"}, {"label_k", "v"}, {"labelpresent_k", "true"}};
    for (const auto& blocks : {std::vector<LabelBlockPtr>{a, k},
                               {nullptr, a, k},
                               {a, nullptr, nullptr, k},
                               {a, k, nullptr},
                               {nullptr, k, nullptr, a, nullptr}}) {
        const std::vector<LabelBlockPtr> copy(blocks);
        CHECK(view(copy).to_map() == expected);
        CHECK(view(copy).size() == 3);
        CHECK(view(copy).get("label_k") == "v");
        CHECK(view(copy).get("labelpresent_k") == "true");
        CHECK_FALSE(view(copy).get("label_"));
    }
}

TEST_CASE(
    "Labels: a block whose labels are all hidden but one starts and ends the iteration well") {
    LabelFactory factory;
    // "z." overrides "z-", the first entry of the first block and of the last.
    const std::vector<LabelBlockPtr> blocks{
        make_family(factory, alone, {{"z-", "no"}, {"z.", "1"}}),
        factory.block().add("m", "2").make(),
        make_family(factory, family, {{"z-", "no"}, {"z.", "3"}})};
    std::vector<std::string> seen;
    for (const auto [name, value] : view(blocks))
        seen.push_back(std::string(name) + "=" + std::string(value));
    CHECK(seen ==
          std::vector<std::string>{"address_z_=1", "m=2", "label_z_=3", "labelpresent_z_=true"});
}

TEST_CASE("Labels: the iterator is an input iterator") {
    LabelFactory factory;
    const std::vector<LabelBlockPtr> blocks{factory.block().add("a", "1").add("b", "2").make()};
    const Labels labels = view(blocks);
    STATIC_REQUIRE(std::input_iterator<Labels::iterator>);
    auto it = labels.begin();
    CHECK((*it++).first == "a");
    CHECK((*it).second == "2");
    CHECK(++it == labels.end());
    CHECK(std::count_if(labels.begin(), labels.end(), [](auto l) { return l.second == "2"; }) == 1);
}

TEST_CASE("Labels: equal content in other blocks is equal and hashes the same") {
    LabelFactory one, two;
    const auto make = [](LabelFactory& f, const char* value) {
        return std::vector<LabelBlockPtr>{f.block().add("a", value).make(), nullptr,
                                          make_family(f, family, {{"k", "v"}})};
    };
    const auto a = make(one, "1"), b = make(two, "1"), c = make(two, "2");
    CHECK(view(a) == view(b));
    CHECK(view(a).hash() == view(b).hash());
    CHECK_FALSE(view(a) == view(c));
    CHECK(view(a).hash() != view(c).hash());
}

TEST_CASE("Labels: equal values under other names are different") {
    LabelFactory factory;
    const std::vector<LabelBlockPtr> a{factory.block().add("a", "1").make()};
    const std::vector<LabelBlockPtr> b{factory.block().add("b", "1").make()};
    const std::vector<LabelBlockPtr> longer{a[0], b[0]};
    CHECK_FALSE(view(a) == view(b));
    CHECK_FALSE(view(a) == view(longer));
    LabelFactory other;
    const std::vector<LabelBlockPtr> with{make_family(factory, family, {{"k", "v"}})};
    const std::vector<LabelBlockPtr> without{make_family(other, {"label_", ""}, {{"k", "v"}})};
    CHECK_FALSE(view(with) == view(without));
}

TEST_CASE("LabelFactory: a label and two families in one block have the labels of three blocks") {
    std::mt19937 random(5);
    LabelFactory factory;
    const std::string text(2000, 'x'), long_text(20'000, 'x');
    const auto draw = [&] {
        KeyValues pairs;
        for (std::size_t left = random() % 5; left > 0; --left) {
            static const std::array<std::string_view, 5> keys{"a", "a/b", "a.b", "b", "c"};
            static const std::array<std::string_view, 3> values{"", "1", "2"};
            pairs.emplace_back(keys[random() % keys.size()], values[random() % values.size()]);
        }
        // A few shapes are too large for one of the caches, or for both.
        if (random() % 8 == 0) pairs.emplace_back(random() % 2 == 0 ? text : long_text, "3");
        return pairs;
    };
    constexpr FamilyName annotations{"annotation_", "annotationpresent_"};
    for (int round = 0; round < 2000; ++round) {
        const KeyValues a = draw(), b = draw();
        LabelMap expected{{"name", "n"}};
        for (const LabelBlockPtr& block :
             {factory.family(family, a), factory.family(annotations, b)}) {
            if (block) expected.merge(map_of(block));
        }
        const LabelBlockPtr joined = factory.with_families("name", "n", family, a, annotations, b);
        CHECK(map_of(joined) == expected);
        CHECK(joined->shape().label_count() == expected.size());
    }
}
