#include "k8s_sd/api/pod.hpp"
#include "k8s_sd/detail/objects/object_tag.hpp"
#include "k8s_sd/detail/watch/watch_intake.hpp"

#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::detail {
namespace {

/// Pods taken from a list, a probe or a watch, and the reported changes.
struct IntakeFixture final : TaggingObserver {
    explicit IntakeFixture(WatchOptions with = {}) : options(with) {}

    void on_change(const ObjectChange& change) override {
        changes += !change.before ? '+' : !change.after ? '-' : '~';
        changes += (change.after ? change.after : change.before)->name();
        if (after_change) after_change();
    }
    void on_synced() override {}
    void on_batch_end() override {}
    void on_status() override {}
    bool wants(std::string_view, std::string_view name) override { return name != unwanted; }
    std::optional<std::uint16_t> tag_of(const DecodedObject&) override { return tag; }
    void keep_apart(const ObjectPtr& object) override { apart += object->name(); }

    /// An event of a pod, as the coordinator passes it on.
    void event(EventType type, std::string_view name, std::string_view uid = "u") {
        event(type, named(name, uid));
    }
    static api::Pod named(std::string_view name, std::string_view uid = "u") {
        api::Pod pod;
        pod.metadata.namespace_ = "ns";
        pod.metadata.name = name;
        pod.metadata.uid = uid;
        return pod;
    }
    void event(EventType type, const api::Pod& pod) {
        const DecodedObject decoded{Kind::pod, pod.metadata, &pod, certain};
        const WatchIntake::Tag given = intake.tag_of(exchange, type, decoded);
        if (intake.is_one_too_many(exchange, type, given.has_value(), pod.metadata)) return;
        if (before_take) before_take();
        intake.take(exchange, decoded, given);
    }
    void add(std::string_view name, std::string_view uid = "u") {
        event(EventType::added, name, uid);
    }
    void remove(std::string_view name) { event(EventType::deleted, name); }
    void bad(std::string_view name, std::string_view uid, errc ec = errc::object_too_large) {
        intake.take_bad(exchange, {"ns", name, uid, "7", ec, "why"});
    }
    void watch() { exchange.purpose = Purpose::watch; }
    WatchSubject subject_of(ObjectShare share) const {
        WatchQuery query;
        query.share = std::move(share);
        return WatchSubject(std::make_shared<const WatchSetup>(
            std::move(query), std::make_shared<const WatchOptions>(options),
            std::make_shared<ObjectMaker>()));
    }
    std::string take_changes() { return std::exchange(changes, {}); }

    WatchOptions options;
    std::string server = "https://a:6443";
    Metrics all_metrics;
    Metrics::PerKind& metrics = all_metrics.of(Kind::pod);
    Logger logger{LogLevel::off, {}};
    ReportContext context{server, all_metrics, logger, [](std::string text) { return text; }};
    WatchSubject subject = subject_of({});
    WatchReport report{subject, context, {}};
    WatchIntake intake{subject, *this, this, report};
    Exchange exchange;
    std::string changes, apart, unwanted;
    std::optional<std::uint16_t> tag = std::uint16_t{0};
    bool certain = true;
    std::function<void()> before_take, after_change;
};

WatchOptions at_most(std::size_t objects) {
    WatchOptions options;
    options.max_objects = objects;
    return options;
}

}  // namespace

TEST_CASE("WatchIntake: a list brings objects, and its end removes the others") {
    IntakeFixture f;
    f.intake.begin_list();
    f.add("a");
    f.add("b");
    f.intake.remove_missing();
    CHECK(f.take_changes() == "+a+b");
    f.intake.begin_list();
    f.add("b");
    f.add("c");
    CHECK(f.take_changes() == "+c");
    f.intake.remove_missing();
    CHECK(f.take_changes() == "-a");
    CHECK(f.exchange.items == 4);
    CHECK(f.report.status().objects == 2);
}

TEST_CASE("WatchIntake: events add, replace and remove objects, and are not counted as items") {
    IntakeFixture f;
    f.watch();
    f.add("a");
    f.add("a");
    f.add("a", "v");
    f.remove("a");
    f.remove("a");
    CHECK(f.take_changes() == "+a~a-a");
    CHECK(f.exchange.items == 0);
}

TEST_CASE("WatchIntake: the observer selects by name, and by the tag") {
    IntakeFixture f;
    f.watch();
    f.add("a");
    f.add("b");
    f.unwanted = "a";
    f.remove("a");
    CHECK(f.take_changes() == "+a+b");
    f.tag.reset();
    f.add("b");
    CHECK(f.take_changes() == "-b");
    f.tag = ObjectTag::apart;
    f.add("c");
    CHECK(f.apart == "c");
}

TEST_CASE("WatchIntake: an object that the observer drops after its tag is not taken") {
    IntakeFixture f;
    f.watch();
    f.before_take = [&] { f.unwanted = "a"; };
    f.add("a");
    CHECK(f.take_changes().empty());
    CHECK(f.report.status().objects == 0);
}

TEST_CASE("WatchIntake: objects of another share are dropped") {
    IntakeFixture f;
    f.watch();
    f.add("a", "u");
    f.subject = f.subject_of(ObjectShare::part(0, 2).contains("u") ? ObjectShare::part(1, 2)
                                                                   : ObjectShare::part(0, 2));
    f.add("a", "u");
    CHECK(f.take_changes() == "+a-a");
    f.bad("b", "u");
    CHECK(f.metrics.bad_objects == 0);
}

TEST_CASE("WatchIntake: a list has a limit, wanted or not; so has a watch") {
    IntakeFixture f(at_most(2));
    SECTION("list") {
        f.unwanted = "a";
        f.add("a");
        f.add("b");
        CHECK_FALSE(f.exchange.too_many);
        f.add("c");
        CHECK(f.exchange.too_many);
        CHECK(f.take_changes() == "+b");
        CHECK(f.intake.problem_of_count(f.exchange) ==
              "more than 2 objects; select fewer, or raise max_objects");
    }
    SECTION("unreadable objects of a list") {
        for (int i = 0; i < 3; ++i) f.intake.count_bad(f.exchange);
        CHECK(f.exchange.too_many);
    }
    SECTION("watch") {
        f.watch();
        for (const char* name : {"a", "b", "a"}) f.add(name, "v");
        CHECK_FALSE(f.exchange.too_many);
        f.add("c");
        CHECK(f.exchange.too_many);
        CHECK(f.take_changes() == "+a+b");
    }
    SECTION("changes during a streamed list") {
        f.exchange.streamed = true;
        f.add("a");
        f.add("b");
        f.event(EventType::modified, "a", "v");
        f.remove("b");
        CHECK_FALSE(f.exchange.too_many);
        CHECK(f.take_changes() == "+a+b~a-b");
    }
}

TEST_CASE("WatchIntake: a probe only counts") {
    IntakeFixture f(at_most(2));
    f.exchange.purpose = Purpose::probe;
    for (int i = 0; i < 100; ++i) f.add("a");
    CHECK_FALSE(f.exchange.too_many);
    f.add("a");
    CHECK(f.exchange.too_many);
    CHECK(f.changes.empty());
}

TEST_CASE("WatchIntake: objects of a list with unknown kind are held until its end") {
    IntakeFixture f;
    f.certain = false;
    f.add("a");
    CHECK(f.changes.empty());
    CHECK(f.intake.held().size() == 1);
    SECTION("right") {
        f.intake.end_body(true);
        CHECK(f.changes == "+a");
    }
    SECTION("wrong") {
        f.intake.end_body(false);
        CHECK(f.changes.empty());
    }
    CHECK(f.intake.held().empty());
}

TEST_CASE("WatchIntake: the last state of an unreadable object stays") {
    IntakeFixture f;
    f.intake.begin_list();
    f.add("a");
    f.intake.remove_missing();
    f.take_changes();
    SECTION("in a list") {
        f.intake.begin_list();
        f.bad("a", "u");
        f.intake.remove_missing();
        CHECK(f.changes.empty());
        CHECK(f.report.is_unread("ns", "a"));
    }
    SECTION("unless a watch shows another UID") {
        f.watch();
        f.bad("a", "v");
        CHECK(f.changes == "-a");
    }
    SECTION("as all objects do in a list with an unnamed one") {
        f.intake.begin_list();
        f.bad("", "", errc::bad_object);
        f.intake.remove_missing();
        CHECK(f.changes.empty());
        CHECK(f.report.whole_status().error == errc::bad_object);
    }
}

TEST_CASE("WatchIntake: an object with too large labels is unreadable, and its last state stays") {
    IntakeFixture f;
    f.watch();
    f.add("a");
    f.take_changes();
    api::Pod large = IntakeFixture::named("a");
    const std::string text(std::size_t{8} << 20, 'x');
    SECTION("a long text for each of many ports") {
        api::Container container;
        container.image = std::string_view(text).substr(0, 700 << 10);
        container.ports.resize(45'000);
        large.spec.containers = {container};
    }
    SECTION("a long ID for each of many containers of a name") {
        large.spec.containers.resize(130);
        large.status.container_statuses.resize(1);
        large.status.container_statuses[0].container_id = text;
    }
    for (int events = 0; events < 2; ++events) {
        f.event(EventType::modified, large);
        CHECK(f.changes.empty());
        CHECK(f.report.is_unread("ns", "a"));
        CHECK(f.report.take_unread_change() == (events == 0));
    }
    CHECK(f.metrics.bad_objects == 2);
    CHECK(f.report.whole_status().error == errc::object_too_large);
    f.add("a");
    CHECK(f.changes.empty());
    CHECK_FALSE(f.report.is_unread("ns", "a"));
    large.metadata.uid = "v";
    f.event(EventType::modified, large);
    CHECK(f.changes == "-a");
}

TEST_CASE("WatchIntake: a list without most of the known objects is suspicious") {
    IntakeFixture f;
    const auto list_nothing = [&f] {
        f.intake.begin_list();
        return f.intake.has_lost_much();
    };
    f.intake.begin_list();
    f.add("a");
    f.intake.remove_missing();
    CHECK_FALSE(list_nothing());  // not synced
    f.report.on_synced();
    CHECK(list_nothing());
    f.add("a");
    CHECK_FALSE(f.intake.has_lost_much());
    f.options.confirm_suspicious_lists = false;
    f.subject = f.subject_of({});
    CHECK_FALSE(list_nothing());
}

TEST_CASE("WatchIntake: adopted and forgotten objects are not reported, but counted") {
    IntakeFixture f;
    IntakeFixture other;
    other.add("a");
    other.intake.store().objects().for_each(
        [&](const ObjectPtr& object) { f.intake.adopt(object); });
    CHECK(f.report.status().objects == 1);
    f.intake.begin_list();
    CHECK(f.intake.has_lost_much());  // though not synced
    f.intake.forget("ns", "a");
    CHECK(f.report.status().objects == 0);
    CHECK(f.changes.empty());
}

TEST_CASE("WatchIntake: nothing is reported once the observer has stopped it") {
    IntakeFixture f;
    f.intake.begin_list();
    f.add("a");
    f.add("b");
    f.intake.remove_missing();
    f.take_changes();
    f.after_change = [&f] { f.intake.stop(); };
    f.intake.begin_list();
    f.intake.remove_missing();
    CHECK(f.take_changes().size() == 2);
    f.add("c");
    CHECK(f.changes.empty());
}

TEST_CASE("WatchIntake: a change that the observer could not take is one when it comes again") {
    IntakeFixture f;
    const auto fails = [&](const auto& call) {
        f.after_change = [] { throw std::bad_alloc(); };
        CHECK_THROWS_AS(call(), std::bad_alloc);
        f.after_change = {};
        f.take_changes();
    };
    f.intake.begin_list();
    f.add("a");
    fails([&] { f.add("b"); });
    CHECK(f.report.status().objects == 1);
    f.add("b");
    CHECK(f.take_changes() == "+b");
    f.intake.remove_missing();
    f.watch();
    fails([&] { f.add("a", "other"); });
    f.add("a", "other");
    CHECK(f.take_changes() == "~a");
    fails([&] { f.remove("a"); });
    CHECK(f.report.status().objects == 2);
    f.remove("a");
    CHECK(f.take_changes() == "-a");
    CHECK(f.report.status().objects == 1);
}

TEST_CASE("WatchIntake: objects that a list lacks, and whose removal failed, go with the next") {
    IntakeFixture f;
    f.intake.begin_list();
    for (const char* name : {"a", "b", "c"}) f.add(name);
    f.intake.remove_missing();
    f.take_changes();
    for (int i = 0; i < 2; ++i) {
        f.intake.begin_list();
        f.after_change = [] { throw std::bad_alloc(); };
        CHECK_THROWS_AS(f.intake.remove_missing(), std::bad_alloc);
        CHECK(f.report.status().objects == 3);
        CHECK(f.intake.store().size() == 3);
    }
    f.after_change = {};
    f.take_changes();
    f.intake.begin_list();
    CHECK(f.intake.remove_missing());
    CHECK(f.take_changes().size() == 6);
    CHECK(f.intake.store().size() == 0);
    CHECK(f.report.status().objects == 0);
}

}  // namespace k8s_sd::detail
