#include "k8s_sd/relabel/mutable_labels.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;

namespace {

std::string text_of(const MutableLabels& labels) {
    std::string text;
    for (const auto& [name, value] : labels.labels()) {
        text += std::string(name) + "=" + std::string(value) + ",";
    }
    return text;
}

}  // namespace

TEST_CASE("MutableLabels: the order is that of insertion, a label set again keeps its place") {
    MutableLabels labels;
    labels.set("c", "1");
    labels.set("a", "2");
    labels.set("b", "3");
    labels.set("a", "4");
    CHECK(text_of(labels) == "c=1,a=4,b=3,");
    labels.erase("c");
    labels.set("c", "5");
    CHECK(text_of(labels) == "a=4,b=3,c=5,");
    labels.sort();
    labels.set("aa", "6");
    CHECK(text_of(labels) == "a=4,b=3,c=5,aa=6,");
    labels.erase_if([](std::string_view name) { return name.starts_with('a'); });
    CHECK(text_of(labels) == "b=3,c=5,");
}

TEST_CASE("MutableLabels: the first of several equal names wins, with an index, too") {
    MutableLabels labels;
    labels.append("a", "1");
    labels.append("b", "2");
    labels.append("a", "3");
    CHECK(labels.get("a") == "1");
    labels.index_names();
    CHECK(labels.get("a") == "1");
}

TEST_CASE("MutableLabels: an empty value is no label, but keeps the place of one") {
    MutableLabels labels;
    labels.set("a", "");
    labels.set("b", "1");
    labels.set("c", "2");
    labels.set("b", "");
    CHECK(labels.get("a").empty());
    CHECK(labels.get("b").empty());
    CHECK(labels.to_map() == LabelMap{{"c", "2"}});
    labels.set("b", "3");
    CHECK(text_of(labels) == "a=,b=3,c=2,");
    labels.erase_empty();
    CHECK(text_of(labels) == "b=3,c=2,");
    labels.set("c", "");
    labels.erase("c");
    labels.erase("b");
    CHECK(labels.empty());
}

TEST_CASE("MutableLabels: what is there already is not appended, be it a blank") {
    MutableLabels labels;
    labels.append_if_absent("a", "1");
    labels.append_if_absent("b", "");
    labels.append_if_absent("a", "2");
    labels.append_if_absent("b", "2");
    CHECK(text_of(labels) == "a=1,b=,");
    // In large sets too.
    for (int i = 0; i < 500; ++i) labels.append_if_absent(labels.copy(std::to_string(i)), "3");
    for (int i = 0; i < 500; ++i) labels.append_if_absent(labels.copy(std::to_string(i)), "4");
    CHECK(labels.size() == 502);
    CHECK(labels.get("a") == "1");
    CHECK(labels.get("499") == "3");
}

TEST_CASE("MutableLabels: kept texts stay where they are until clear()") {
    MutableLabels labels;
    for (int round = 0; round < 2; ++round) {
        labels.clear();
        CHECK(labels.empty());
        std::map<std::string, std::string_view> kept;
        for (int i = 0; i < 200; ++i) {
            const std::string text = std::to_string(round * 1000 + i);
            kept[text] = labels.copy(text);
            labels.set(kept[text], kept[text]);
        }
        for (const auto& [text, view] : kept) CHECK(text == view);
        CHECK(labels.size() == 200);
        std::string& built = labels.new_text();
        CHECK(built.empty());
    }
}

TEST_CASE("MutableLabels: finds what a map would find, whatever happened before") {
    // Few labels, almost too many for chains, and too many.
    const std::uint64_t names = GENERATE(5U, 40U, 260U, 400U);
    // The second form has equal hashes: they depend on the size, and on two characters.
    const bool is_hostile = GENERATE(false, true);
    std::mt19937_64 random(42);
    const auto name_of = [&](std::uint64_t i) {
        const std::string number = std::to_string(1'000 + i % names);
        return is_hostile ? number + "_of_the_label" : "label_" + number;
    };
    MutableLabels labels;
    std::map<std::string, std::string, std::less<>> model;
    for (int i = 0; i < 10'000; ++i) {
        const std::string name = name_of(random());
        switch (random() % 8) {
            case 0:
                if (random() % 10 == 0) labels.erase(name), model.erase(name);
                break;
            case 1: labels.set(labels.copy(name), ""), model.erase(name); break;
            case 2:
                if (random() % 50 == 0) labels.sort();
                if (random() % 50 == 0) labels.erase_empty();
                if (random() % 20 == 0) labels.index_names();
                break;
            default: labels.set(labels.copy(name), labels.copy(name)), model[name] = name;
        }
        const std::string other = name_of(random());
        REQUIRE(labels.get(other) == (model.contains(other) ? other : ""));
        if (i % 1'000 == 0) REQUIRE(labels.to_map() == model);
        if (i % 5'000 == 0) labels.clear(), model.clear();
    }
}

TEST_CASE("MutableLabels: a moved-from one has no labels and can be used again") {
    MutableLabels a;
    a.set("x", a.copy("1"));
    MutableLabels b = std::move(a);
    CHECK(text_of(b) == "x=1,");
    CHECK(a.empty());
    a.set("y", a.copy("2"));
    CHECK(text_of(a) == "y=2,");
    a = std::move(b);
    CHECK(text_of(a) == "x=1,");
    CHECK(b.empty());
    b.set("z", b.copy("3"));
    CHECK(text_of(b) == "z=3,");
    CHECK(text_of(a) == "x=1,");
    // Large ones too.
    for (int i = 0; i < 500; ++i) b.set(b.copy(std::to_string(i)), "v");
    MutableLabels c = std::move(b);
    b.set("1", "w");
    CHECK(b.size() == 1);
    CHECK(c.size() == 501);
    CHECK(c.get("1") == "v");
}

TEST_CASE("MutableLabels: what only a huge target needed goes with it") {
    MutableLabels labels;
    std::vector<const void*> texts;
    for (int i = 0; i < 10; ++i) texts.push_back(&labels.new_text());
    labels.new_text().assign(1 << 20, 'x');
    for (int i = 0; i < 1000; ++i) labels.set(labels.copy("label_" + std::to_string(i)), "v");
    labels.clear();
    CHECK(labels.empty());
    CHECK(labels.get("label_1").empty());
    CHECK(labels.labels().data() == nullptr);  // the buffer for labels has been freed
    for (int i = 0; i < 100; ++i) labels.set(labels.copy("label_" + std::to_string(i)), "v");
    labels.clear();
    CHECK(labels.labels().data() != nullptr);
    for (int i = 0; i < 11; ++i) {
        const std::string& text = labels.new_text();
        CHECK(text.capacity() <= 1024);
        // The texts that a target usually needs are kept.
        if (i < 10) CHECK(&text == texts[static_cast<std::size_t>(i)]);
    }
}
