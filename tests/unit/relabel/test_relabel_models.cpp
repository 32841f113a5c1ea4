// Relabelling of large label sets, compared with simple, slow models.

#include "k8s_sd/scrape/duration_text.hpp"
#include "support/effort.hpp"
#include "support/relabelling.hpp"

#include <algorithm>
#include <random>

using namespace k8s_sd;
using Action = RelabelAction;

namespace {

using List = std::vector<std::pair<std::string, std::string>>;

std::string* find(List& list, const std::string& name) {
    const auto it = std::find_if(list.begin(), list.end(),
                                 [&](const auto& label) { return label.first == name; });
    return it == list.end() ? nullptr : &it->second;
}

void set(List& list, const std::string& name, const std::string& value) {
    if (std::string* found = find(list, name)) {
        *found = value;
    } else {
        list.emplace_back(name, value);
    }
}

/// Unordered labels; some names differ only in the first letter, some values are empty.
List random_labels(std::mt19937_64& random, std::size_t count) {
    List list;
    while (list.size() < count) {
        const std::string name =
            std::string(1, "abc"[random() % 3]) + "_" + std::to_string(random() % count);
        set(list, name, random() % 8 == 0 ? "" : std::to_string(random() % 100));
    }
    return list;
}

List result_of(const List& labels, const RelabelRule& rule, const RelabelOptions& options) {
    MutableLabels changed;
    for (const auto& [name, value] : labels) changed.set(name, value);
    const Relabeler relabeler({rule}, options);
    REQUIRE(relabeler.apply(changed));
    List list;
    for (const auto& [name, value] : changed.labels()) list.emplace_back(name, value);
    return list;
}

void erase_blanks(List& list) {
    std::erase_if(list, [](const auto& label) { return label.second.empty(); });
}

/// Equivalent to labelmap with `[ab]_(.*)`.
List mapped(const List& labels, bool copies_empty) {
    List list = labels;
    for (const auto& [name, value] : labels) {
        if (name[0] == 'c' || (value.empty() && !copies_empty)) continue;
        set(list, name.substr(2), value);
    }
    erase_blanks(list);
    return list;
}

/// Equivalent to labelmap_all with `[ab]_` and `x_`.
List renamed(const List& labels) {
    List list;
    for (const auto& [name, value] : labels) {
        if (!value.empty()) set(list, name[0] == 'c' ? name : "x" + name.substr(1), value);
    }
    return list;
}

}  // namespace

TEST_CASE("Relabelling: labelmap and labelmap_all do what slow models do, for sets of any size") {
    std::mt19937_64 random(7);
    const RelabelRule map{.action = Action::labelmap, .regex = "[ab]_(.*)"};
    const RelabelRule all{.action = Action::labelmap_all, .regex = "[ab]_", .replacement = "x_"};
    for (int round = 0; round < 120; ++round) {
        const List labels = random_labels(random, 1 + random() % (round % 10 == 0 ? 700 : 150));
        INFO(labels.size());
        for (const LabelDialect dialect :
             {LabelDialect::prometheus, LabelDialect::victoriametrics}) {
            const bool copies_empty = dialect == LabelDialect::victoriametrics;
            CHECK(result_of(labels, map, {.dialect = dialect}) == mapped(labels, copies_empty));
            CHECK(result_of(labels, all, {.dialect = dialect}) == renamed(labels));
        }
    }
}

TEST_CASE("Durations: whatever comes is read within bounds, or refused") {
    std::mt19937_64 random(3);
    constexpr std::string_view characters = "0123456789.-+eEmMsShHdDwWyYi ix_";
    for (int i = 0; i < k8s_sd::test::rounds(50'000); ++i) {
        std::string text;
        for (std::size_t n = random() % 9; n > 0; --n) {
            text += characters[random() % characters.size()];
        }
        for (const LabelDialect dialect :
             {LabelDialect::prometheus, LabelDialect::victoriametrics}) {
            try {
                const auto duration = parse_duration(text, dialect);
                REQUIRE(std::abs(duration.count()) <= INT64_MAX / 1'000'000);
                if (dialect == LabelDialect::prometheus) REQUIRE(duration.count() >= 0);
            } catch (const ConfigError&) {
            }
        }
    }
}
