#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/detail/labels/group_builder.hpp"
#include "support/groups.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using k8s_sd::detail::Access;
using k8s_sd::detail::GroupBuilder;

namespace {

using Indices = std::vector<std::size_t>;
using Texts = std::vector<std::string>;

/// The addresses of the targets of a part.
struct Part {
    Texts regular;
    Texts extra{};
    std::size_t stride = 1;
};

void add(GroupBuilder& builder, const Part& part) {
    builder.begin_part(part.stride);
    for (const std::string& address : part.regular) {
        add_target(builder, {{"__address__", address}});
    }
    builder.begin_extra_targets();
    for (const std::string& address : part.extra) {
        add_target(builder, {{"__address__", address}});
    }
    builder.end_part();
}
void begin(GroupBuilder& builder, const TargetGroupPtr& earlier = nullptr,
           const std::string& label = "1", std::size_t most = 1000) {
    builder.begin("endpoints/", "ns", "e", most, earlier);
    builder.add(make_block({{"g", label}}));
}
TargetGroupPtr make(const std::vector<Part>& parts, const TargetGroupPtr& earlier = nullptr,
                    const std::string& label = "1") {
    GroupBuilder builder;
    begin(builder, earlier, label);
    for (const Part& part : parts) add(builder, part);
    return builder.finish();
}
Texts addresses(const TargetGroup& group) {
    Texts all;
    for (std::size_t i = 0; i < group.size(); ++i) {
        all.emplace_back(group[i].get("__address__").value_or("none"));
    }
    return all;
}

}  // namespace

TEST_CASE("TargetGroup: the targets of parts come one part after the other, extra ones at last") {
    const auto group = make({{{"a", "b"}, {"x"}}, {{}, {}}, {{"c"}}, {{"d"}, {"y", "z"}}});
    CHECK(addresses(*group) == Texts{"a", "b", "c", "d", "x", "y", "z"});
    CHECK(group->source() == "endpoints/ns/e");
    CHECK(group->labels().to_map() == LabelMap{{"g", "1"}});
    CHECK(group->merged(3) == LabelMap{{"__address__", "d"}, {"g", "1"}});
    CHECK(Access::parts(*group).size() == 4);
}

TEST_CASE("TargetGroup: the targets of parts with a stride alternate") {
    const auto group = make({{{"1a", "2a", "3a"}, {"x"}, 2},
                             {{"1b", "2b", "3b"}, {}, 2},
                             {{"c", "d"}, {"y"}, 1},
                             {{"1e", "2e"}, {}, 3},
                             {{"1f", "2f"}, {"z"}, 3},
                             {{"1g", "2g"}, {}, 3}});
    CHECK(addresses(*group) == Texts{"1a", "1b", "2a", "2b", "3a", "3b", "c", "d", "1e", "1f", "1g",
                                     "2e", "2f", "2g", "x", "y", "z"});
}

TEST_CASE("TargetGroup: parts of no targets make no group") {
    CHECK(make({{{}, {}}, {{}, {}}}) == nullptr);
}

TEST_CASE("TargetGroup: groups are equal whether their targets are in parts or not") {
    const auto group = make({{{"a", "b"}}, {{"c"}, {"x"}}});
    CHECK(*group == *make({{{"a", "b"}}, {{"c"}, {"x"}}}));
    CHECK(*group == *make({{{"a"}}, {{"b", "c", "x"}}}));
    CHECK_FALSE(*group == *make({{{"a", "b"}}, {{"c"}, {"y"}}}));
    CHECK_FALSE(*group == *make({{{"a", "b"}}, {{"c"}}}));
    CHECK_FALSE(*group == *make({{{"a", "b"}}, {{"c"}, {"x"}}}, nullptr, "2"));
    const auto plain = make_group("p",
                                  {{{"__address__", "a"}},
                                   {{"__address__", "b"}},
                                   {{"__address__", "c"}},
                                   {{"__address__", "x"}}},
                                  {{"g", "1"}});
    CHECK(*group == *plain);
    CHECK(*plain == *group);
}

TEST_CASE("GroupBuilder: equal parts of the earlier group are shared, and an equal group is it") {
    const auto first = make({{{"a"}}, {{"b"}, {"x"}}, {{"c"}}});
    const auto second = make({{{"a"}}, {{"B"}, {"x"}}, {{"c"}}}, first);
    CHECK(Access::parts(*second)[0].part == Access::parts(*first)[0].part);
    CHECK(Access::parts(*second)[1].part != Access::parts(*first)[1].part);
    CHECK(Access::parts(*second)[2].part == Access::parts(*first)[2].part);
    CHECK(addresses(*first) == Texts{"a", "b", "c", "x"});
    CHECK(addresses(*second) == Texts{"a", "B", "c", "x"});
    const auto third = make({{{"a"}}, {{"B"}, {"x"}}, {{"c"}}, {{"d"}}}, second);
    CHECK(addresses(*third) == Texts{"a", "B", "c", "d", "x"});
    CHECK(make({{{"a"}}, {{"B"}}}, third)->size() == 2);
}

TEST_CASE("GroupBuilder: parts that alternate are not those that follow each other") {
    const auto first = make({{{"a"}}, {{"b"}}, {{"c"}}});
    const auto second = make({{{"a"}, {}, 2}, {{"b"}, {}, 2}, {{"c"}}}, first);
    CHECK(*second == *first);
    CHECK(second != first);
    CHECK_FALSE(Access::same_parts(*second, *first));
    CHECK(Access::same_parts(*second, *make({{{"a"}, {}, 2}, {{"b"}, {}, 2}, {{"c"}}})));
    GroupBuilder builder;
    begin(builder, second);
    builder.keep_part();
    add(builder, {{"B"}, {}, 2});
    add(builder, {{"C"}});
    CHECK(addresses(*builder.finish()) == Texts{"a", "B", "C"});
}

TEST_CASE("GroupBuilder: parts that are kept look as they did") {
    const auto first = make({{{"1a", "2a"}, {"x"}, 2}, {{"1b", "2b"}, {}, 2}, {{"c"}, {"y"}}});
    GroupBuilder builder;
    begin(builder, first, "2");
    builder.keep_part();
    add(builder, {{"1B", "2B"}, {"z"}, 2});
    builder.keep_part();
    const auto second = builder.finish();
    CHECK(addresses(*second) == Texts{"1a", "1B", "2a", "2B", "c", "x", "z", "y"});
    CHECK(second->labels().to_map() == LabelMap{{"g", "2"}});

    begin(builder, second, "2");
    for (int i = 0; i < 3; ++i) builder.keep_part();
    CHECK(addresses(*builder.finish()) == addresses(*second));
}

TEST_CASE("GroupBuilder: kept parts count towards the limit") {
    const auto first = make({{{"a", "b"}}, {{"c"}}});
    GroupBuilder builder;
    begin(builder, first, "1", 3);
    builder.keep_part();
    builder.keep_part();
    CHECK(builder.finish()->size() == 3);
    begin(builder, first, "1", 2);
    builder.keep_part();
    CHECK_FALSE(builder.overfull());
    builder.keep_part();
    CHECK(builder.overfull());
    CHECK(builder.finish() == nullptr);
}

TEST_CASE("GroupBuilder: targets without parts are kept with the labels they have") {
    const auto first = make_group("p",
                                  {LabelMap{{"__address__", "a"}, {"b", "b"}}, LabelMap{{"a", "c"}},
                                   LabelMap{{"__address__", "d"}}},
                                  {{"g", "1"}, {"h", "1"}});
    GroupBuilder builder;
    builder.begin("pod/", "ns", "p", 10, first);
    builder.add(make_block({{"g", "2"}}));
    builder.keep_targets();
    const auto second = builder.finish();
    CHECK(second->merged(0) == LabelMap{{"__address__", "a"}, {"b", "b"}, {"g", "2"}});
    CHECK(second->merged(1) == LabelMap{{"a", "c"}, {"g", "2"}});
    CHECK(second->merged(2) == LabelMap{{"__address__", "d"}, {"g", "2"}});
    CHECK(second->size() == 3);
}

TEST_CASE("TargetGroup: parts outlive the group that they were made for") {
    TargetGroupPtr group = make({{{"a"}}, {{"b"}, {"x"}}});
    for (int i = 0; i < 10; ++i) {
        const TargetGroupPtr next = make({{{"a"}}, {{std::to_string(i)}, {"x"}}}, group);
        CHECK(Access::parts(*next)[0].part == Access::parts(*group)[0].part);
        group = next;
    }
    CHECK(addresses(*group) == Texts{"a", "9", "x"});
}

TEST_CASE("compare_targets: names what changed among parts that are shared") {
    const auto before = make({{{"1a", "2a"}, {"x"}, 2}, {{"1b", "2b"}, {"y"}, 2}, {{"c"}, {"z"}}});
    const auto now =
        make({{{"1a", "2a"}, {"x"}, 2}, {{"1b", "2B"}, {"w", "y"}, 2}, {{"c"}, {"z"}}}, before);
    const TargetChanges changes = compare_targets(before, now);
    CHECK(changes.kept == Indices{0, 1, 2, 4, 5, 7, 8});
    CHECK(changes.added == Indices{3, 6});  // 2B, w
    CHECK(changes.removed == Indices{3});   // 2b
}

TEST_CASE("compare_targets: agrees with a multiset on random groups with parts") {
    std::mt19937 random(7);
    const auto draw = [&](std::size_t most) {
        Texts texts(random() % most);
        for (std::string& text : texts)
            text = std::string(1, static_cast<char>('a' + random() % 9));
        return texts;
    };
    const auto draw_parts = [&] {
        std::vector<Part> parts;
        while (parts.size() < 6) {
            if (random() % 3 == 0) {
                const std::size_t targets = 1 + random() % 3;
                for (int i = 0; i < 2; ++i) {
                    Texts regular(targets);
                    for (auto& text : regular) text = std::string(1, "abcdefghi"[random() % 9]);
                    parts.push_back({regular, draw(3), 2});
                }
            } else {
                parts.push_back({draw(4), draw(3), 1});
            }
        }
        return parts;
    };
    std::vector<Part> parts = draw_parts();
    TargetGroupPtr before = make(parts);
    for (int round = 0; round < 500; ++round) {
        if (random() % 4 == 0) {
            parts = draw_parts();
        } else {
            Part& part = parts[random() % parts.size()];
            for (std::string& text : part.regular) text += "'";
            part.extra = draw(3);
        }
        const TargetGroupPtr now = make(parts, before);
        const TargetGroupPtr anew = make(parts);
        REQUIRE((now == nullptr) == (anew == nullptr));
        if (!now) continue;
        CHECK(*now == *anew);
        CHECK(addresses(*now) == addresses(*anew));
        if (before) {
            const TargetChanges changes = compare_targets(before, now);
            const Texts was = addresses(*before), is = addresses(*now);
            std::map<std::string, int> left;
            for (const std::string& address : was) ++left[address];
            for (const std::size_t i : changes.removed) --left[was.at(i)];
            std::map<std::string, int> kept;
            for (const std::size_t i : changes.kept) ++kept[is.at(i)];
            std::erase_if(left, [](const auto& entry) { return entry.second == 0; });
            CHECK(left == kept);
            Indices all = changes.kept;
            all.insert(all.end(), changes.added.begin(), changes.added.end());
            std::sort(all.begin(), all.end());
            CHECK(all.size() == now->size());
            CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
            std::map<std::string, int> in_both;
            for (const std::string& address : is) {
                const auto n = std::count(was.begin(), was.end(), address);
                const auto m = std::count(is.begin(), is.end(), address);
                if (n > 0) in_both[address] = static_cast<int>(std::min(n, m));
            }
            CHECK(kept == in_both);
        }
        before = now;
    }
}

TEST_CASE("TargetGroup: versions that share parts are read and released in other threads") {
    std::vector<Part> parts(20);
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].regular = {"t" + std::to_string(i)};
    TargetGroupPtr newest = make(parts);
    std::atomic<std::size_t> wrong = 0;
    std::vector<std::thread> readers;
    for (std::size_t round = 0; round < 40; ++round) {
        parts[round % 20].regular = {"r" + std::to_string(round)};
        newest = make(parts, newest);
        readers.emplace_back([group = newest, expected = addresses(*newest), &wrong]() mutable {
            for (int i = 0; i < 20; ++i) wrong += addresses(*group) == expected ? 0 : 1;
            group.reset();
        });
    }
    newest.reset();
    for (std::thread& reader : readers) reader.join();
    CHECK(wrong == 0);
}
