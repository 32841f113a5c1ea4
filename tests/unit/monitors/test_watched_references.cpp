#include "k8s_sd/detail/monitors/watched_references.hpp"

#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::test {

namespace {

using detail::MonitorKey;
using detail::MonitorKeys;
using detail::MonitorReferences;
using detail::ReferencedObject;
using detail::WatchedReferences;
using ReferencedObjects = std::set<ReferencedObject>;

ReferencedObject secret_named(const std::string& name) {
    return {MonitorReference::Kind::secret, "a", name};
}

/// "+new -old".
std::string changes_text(const WatchedReferences::Changes& changes) {
    std::string text;
    for (const ReferencedObject& object : changes.begin) text += " +" + object.name;
    for (const ReferencedObject& object : changes.end) text += " -" + object.name;
    return text;
}

const MonitorKey monitor_x{0, "a/x"};
const MonitorKey monitor_y{0, "a/y"};

DataObjectPtr empty_secret() {
    std::size_t size = 0;
    const std::vector<std::string_view> texts{"a", "s", "Opaque"};
    for (const auto& text : texts) size += detail::PackedTexts::packed_size(text.size());
    detail::PackedTexts packed(size);
    for (const auto& text : texts) packed.append(text);
    return new DataObject(k8s_sd::Kind::secret, "uid", false, std::move(packed));
}

}  // namespace

TEST_CASE("WatchedReferences: what monitors name is watched as long as one of them does") {
    MonitorKeys marked;
    WatchedReferences references(marked);
    MonitorReferences of_x;
    MonitorReferences of_y;
    references.replace(monitor_x, of_x, {secret_named("s"), secret_named("t")}, {});
    references.replace(monitor_y, of_y, {secret_named("t")}, {});
    CHECK(references.has_changed());
    CHECK(references.begin_admission() == 2);
    CHECK_FALSE(references.has_changed());
    references.watch_all();
    CHECK(changes_text(references.take_changes()) == " +s +t");
    CHECK(references.watched_count() == 2);

    references.replace(monitor_x, of_x, {}, {});
    CHECK(references.begin_admission() == 1);
    references.watch_all();
    CHECK(changes_text(references.take_changes()) == " -s");
    CHECK(references.find(secret_named("s")) == nullptr);
    CHECK(marked.empty());
}

TEST_CASE("WatchedReferences: the same references again change nothing") {
    MonitorKeys marked;
    WatchedReferences references(marked);
    MonitorReferences of_x;
    references.replace(monitor_x, of_x, {secret_named("s")}, {secret_named("t")});
    references.begin_admission();
    references.replace(monitor_x, of_x, {secret_named("s")}, {secret_named("t")});
    CHECK_FALSE(references.has_changed());
}

TEST_CASE("WatchedReferences: an object of scrape classes only is not watched") {
    MonitorKeys marked;
    WatchedReferences references(marked);
    MonitorReferences of_x;
    references.replace(monitor_x, of_x, {}, {secret_named("s")});
    CHECK(references.begin_admission() == 0);
    references.watch_all();
    CHECK(changes_text(references.take_changes()).empty());
    CHECK(references.find(secret_named("s")));
}

TEST_CASE("WatchedReferences: monitors with a scrape class depend on values and on loaders") {
    MonitorKeys marked;
    WatchedReferences references(marked);
    MonitorReferences of_x;
    MonitorReferences of_y;
    references.replace(monitor_x, of_x, {}, {secret_named("s")});
    references.replace(monitor_y, of_y, {secret_named("s")}, {});
    references.begin_admission();
    references.watch_all();
    const auto* const found = references.set_value(secret_named("s"), empty_secret());
    REQUIRE(found);
    CHECK(found->users == MonitorKeys{monitor_y});
    CHECK(std::exchange(marked, {}) == MonitorKeys{monitor_x});
    CHECK(references.set_value(secret_named("unknown"), nullptr) == nullptr);

    references.set_loading(monitor_y, of_y, true);
    CHECK(std::exchange(marked, {}) == MonitorKeys{monitor_x});
    references.set_loading(monitor_y, of_y, true);
    CHECK(marked.empty());
    references.replace(monitor_y, of_y, {}, {});
    CHECK(std::exchange(marked, {}) == MonitorKeys{monitor_x});
}

TEST_CASE("WatchedReferences: a failure marks the users once, and not if there is a value") {
    MonitorKeys marked;
    WatchedReferences references(marked);
    MonitorReferences of_x;
    references.replace(monitor_x, of_x, {secret_named("s")}, {});
    references.begin_admission();
    references.watch_all();
    CHECK(references.lacks_any(of_x));
    references.set_failure(secret_named("s"), "forbidden");
    CHECK(std::exchange(marked, {}) == MonitorKeys{monitor_x});
    CHECK_FALSE(references.lacks_any(of_x));
    references.set_failure(secret_named("s"), "forbidden");
    CHECK(marked.empty());

    references.set_value(secret_named("s"), empty_secret());
    references.set_failure(secret_named("s"), "unreachable");
    CHECK(marked.empty());
    CHECK(references.find(secret_named("s"))->state == WatchedReferences::State::present);
    CHECK(references.find(secret_named("s"))->problem.empty());
}

TEST_CASE("WatchedReferences: a monitor lacks a value until the last one is known") {
    MonitorKeys marked;
    WatchedReferences references(marked);
    MonitorReferences of_x;
    references.replace(monitor_x, of_x, {secret_named("s"), secret_named("t"), secret_named("u")},
                       {});
    references.begin_admission();
    references.watch_all();
    for (const char* const name : {"t", "u"}) {
        references.set_value(secret_named(name), nullptr);
        CHECK(references.lacks_any(of_x));
    }
    references.set_value(secret_named("s"), nullptr);
    CHECK_FALSE(references.lacks_any(of_x));
}

TEST_CASE("WatchedReferences: a released object is unknown when it is watched again") {
    MonitorKeys marked;
    WatchedReferences references(marked);
    MonitorReferences of_x;
    references.replace(monitor_x, of_x, {secret_named("s"), secret_named("t")}, {});
    references.begin_admission();
    references.watch_all();
    references.set_value(secret_named("s"), empty_secret());
    CHECK_FALSE(references.is_limited());
    references.watch_only({secret_named("t")});
    CHECK(references.is_limited());
    references.watch_only({secret_named("s")});
    CHECK(changes_text(references.take_changes()) == " +s +t +s -s -t");
    CHECK(references.find(secret_named("s"))->state == WatchedReferences::State::unknown);
    CHECK_FALSE(references.find(secret_named("s"))->value);
    references.watch_only({secret_named("s"), secret_named("t")});
    CHECK_FALSE(references.is_limited());
}

TEST_CASE("Admission of references: a monitor has all of them or none") {
    const ReferencedObjects two{secret_named("s"), secret_named("t")};
    const ReferencedObjects three{secret_named("s"), secret_named("u"), secret_named("v")};
    const ReferencedObjects one{secret_named("t")};
    const std::vector<detail::ReferenceRequest> requests{{"a", &two}, {"a", &three}, {"a", &one}};
    using Granted = std::vector<bool>;
    CHECK(detail::admit_references(requests, 4) == Granted{true, true, true});
    CHECK(detail::admit_references(requests, 3) == Granted{true, false, true});
    CHECK(detail::admit_references(requests, 1) == Granted{false, false, true});
}

TEST_CASE("Admission of references: the owner comes first, then namespaces have equal shares") {
    const ReferencedObjects of_owner{secret_named("o")};
    std::vector<ReferencedObjects> single;
    for (const char* const name : {"s", "t", "u", "v"}) single.push_back({secret_named(name)});
    const std::vector<detail::ReferenceRequest> requests{{"a", &single[0]},
                                                         {"a", &single[1]},
                                                         {"a", &single[2]},
                                                         {"b", &single[3]},
                                                         {"", &of_owner}};
    CHECK(detail::admit_references(requests, 3) ==
          std::vector<bool>{true, false, false, true, true});
    CHECK(detail::admit_references(requests, 1) ==
          std::vector<bool>{false, false, false, false, true});
}

}  // namespace k8s_sd::test
