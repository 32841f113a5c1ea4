#include "k8s_sd/objects/generic.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "property/for_each_seed.hpp"
#include "property/random_cluster.hpp"
#include "property/random_faults.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

namespace json = boost::json;

/// Reference implementation: the parts of a value kept by paths of fields. `paths` continue from
/// here.
std::optional<json::value> kept_of(const json::value& value,
                                   const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
        if (path.empty()) return value;
    }
    if (paths.empty()) return std::nullopt;
    if (const json::array* elements = value.if_array()) {
        json::array kept;
        for (const json::value& element : *elements)
            kept.push_back(kept_of(element, paths).value_or(nullptr));
        return kept;
    }
    if (!value.is_object()) return std::nullopt;
    json::object kept;
    for (const auto& [key, member] : value.get_object()) {
        std::vector<std::string> below;
        for (const std::string& path : paths) {
            const std::size_t dot = path.find('.');
            if (path.substr(0, dot) == std::string_view(key))
                below.push_back(dot == path.npos ? "" : path.substr(dot + 1));
        }
        if (auto part = kept_of(member, below)) kept.emplace(key, std::move(*part));
    }
    return kept;
}

/// An object as a watcher of some fields has it: without the fields kept for others.
struct KeptWidget {
    std::string uid;
    json::object content;
    std::map<std::string, std::string> labels, annotations;
    bool operator==(const KeptWidget&) const = default;
};
using KeptWidgets = std::map<std::string, KeptWidget>;

json::object kept_content(json::object document, const Fields& fields) {
    document.erase("metadata");
    return kept_of(document, fields.paths()).value_or(json::object()).get_object();
}

KeptWidget keep_widget(const Generic& object, const Fields& fields) {
    KeptWidget kept{std::string(object.metadata.uid), kept_content(object.content, fields), {}, {}};
    if (fields.reaches("metadata.labels"))
        for (const auto& [key, value] : object.metadata.labels) kept.labels.emplace(key, value);
    if (fields.reaches("metadata.annotations"))
        for (const auto& [key, value] : object.metadata.annotations)
            kept.annotations.emplace(key, value);
    return kept;
}

std::map<std::string, std::string> strings_of(const json::object& meta, std::string_view name) {
    std::map<std::string, std::string> strings;
    if (const json::value* pairs = meta.if_contains(name))
        for (const auto& [key, value] : pairs->get_object())
            strings.emplace(key, value.get_string());
    return strings;
}

KeptWidget keep_widget(const json::object& stored, const Fields& fields) {
    const json::object& meta = stored.at("metadata").get_object();
    KeptWidget kept{std::string(meta.at("uid").get_string()), kept_content(stored, fields), {}, {}};
    if (fields.reaches("metadata.labels")) kept.labels = strings_of(meta, "labels");
    if (fields.reaches("metadata.annotations")) kept.annotations = strings_of(meta, "annotations");
    return kept;
}

std::string widget_text(const KeptWidget& widget) {
    std::string text = widget.uid + " " + serialize(widget.content);
    for (const auto& [key, value] : widget.labels) text += " " + key + "=" + value;
    for (const auto& [key, value] : widget.annotations) text += " @" + key + "=" + value;
    return text;
}

std::string widget_difference(const KeptWidgets& state, const KeptWidgets& expected) {
    for (const auto& [name, widget] : expected) {
        const auto it = state.find(name);
        if (it == state.end()) return name + " is missing";
        if (it->second != widget)
            return name + " is " + widget_text(it->second) + ", not " + widget_text(widget);
    }
    return state.size() == expected.size() ? "" : "it has objects that are gone";
}

/// A host's state from consecutive diffs, which must be consistent.
struct WidgetLedger {
    explicit WidgetLedger(Fields of) : fields(std::move(of)) {}

    static std::string name_of(const Generic& object) {
        return std::string(object.metadata.namespace_) + "/" + std::string(object.metadata.name);
    }
    void apply(const ObjectDiff<Generic>& diff) {
        if (diff.full == known) complaints += "full at the wrong time; ";
        if (known && diff.added.empty() && diff.changed.empty() && diff.removed.empty())
            complaints += "an empty diff; ";
        known = true;
        for (const auto& object : diff.removed) {
            expect_received(*object);
            received.erase(name_of(*object));
        }
        for (const auto& object : diff.added) {
            if (!received.emplace(name_of(*object), object).second)
                complaints += name_of(*object) + " was there; ";
        }
        for (const auto& [before, after] : diff.changed) {
            expect_received(*before);
            if (keep_widget(*before, fields) == keep_widget(*after, fields))
                complaints += name_of(*after) + " is the same; ";
            if (before->metadata.uid != after->metadata.uid)
                complaints += name_of(*after) + " is another one; ";
            received[name_of(*after)] = after;
        }
    }
    void expect_received(const Generic& object) {
        const auto it = received.find(name_of(object));
        if (it == received.end() || keep_widget(*it->second, fields) != keep_widget(object, fields))
            complaints += name_of(object) + " was not as it was delivered; ";
    }
    KeptWidgets state() const {
        KeptWidgets state;
        for (const auto& [name, object] : received)
            state.emplace(name, keep_widget(*object, fields));
        return state;
    }

    const Fields fields;
    bool known = false;
    std::map<std::string, std::shared_ptr<const Generic>> received;
    std::string complaints;
};

enum class Way { callback, store, reading };

/// One watcher of widgets, with any way of delivering diffs.
class WidgetWatcher {
 public:
    WidgetWatcher(Simulation& sim, const WatcherConfig& config, Way way)
        : config_(config), way_(way), ledger_(std::make_shared<WidgetLedger>(config.fields)) {
        const auto executor = sim.context.get_executor();
        const auto receive = [ledger = ledger_](const auto& diff) { ledger->apply(diff); };
        if (way == Way::reading) watcher_.emplace(executor, config);
        if (way == Way::callback) watcher_.emplace(executor, config, receive);
        if (way == Way::store) watcher_.emplace(executor, config, store_, receive);
        if (way == Way::reading) {
            read();
            return;
        }
        watcher_->async_run([](error_code) {});
    }
    WidgetWatcher(const WidgetWatcher&) = delete;
    WidgetWatcher& operator=(const WidgetWatcher&) = delete;

    /// For a reading host: requests the next diff, unless a read is pending.
    void read() {
        if (way_ != Way::reading || *waits_) return;
        *waits_ = true;
        watcher_->async_next([ledger = ledger_, waits = waits_](error_code ec, const auto& diff) {
            *waits = false;
            if (!ec) ledger->apply(diff);
        });
    }
    std::string problem(const sim::ApiServer& server) const {
        if (!ledger_->complaints.empty()) return ledger_->complaints;
        const DiscovererStatus status = watcher_->status();
        if (!status.synced || status.error) return "not well: " + status.message;
        const KeptWidgets state = ledger_->state();
        const std::string difference = widget_difference(state, expected(server));
        if (!difference.empty()) return difference;
        if (way_ != Way::store) return {};
        if (store_.size() != state.size()) return "the store has another size";
        for (const auto& [name, object] : ledger_->received) {
            if (store_.find(object->metadata.namespace_, object->metadata.name) != object)
                return name + " is another one in the store";
        }
        return {};
    }

 private:
    KeptWidgets expected(const sim::ApiServer& server) const {
        KeptWidgets expected;
        for (json::object& object : server.list("widgets")) {
            object["apiVersion"] = "example.com/v1";
            const json::object& meta = object.at("metadata").get_object();
            const std::string ns(meta.at("namespace").get_string());
            if (!config_.namespaces.empty() && config_.namespaces.front() != ns) continue;
            if (!config_.label_selector.empty() && !strings_of(meta, "labels").contains("app"))
                continue;
            expected.emplace(ns + "/" + std::string(meta.at("name").get_string()),
                             keep_widget(object, config_.fields));
        }
        return expected;
    }

    const WatcherConfig config_;
    const Way way_;
    const std::shared_ptr<WidgetLedger> ledger_;
    const std::shared_ptr<bool> waits_ = std::make_shared<bool>(false);
    Store<Generic> store_;
    std::optional<Watcher<Generic>> watcher_;
};

/// Widgets from small sets of names and values, whose definition is created, deleted and changed.
class RandomWidgets {
 public:
    RandomWidgets(Random& random, sim::ApiServer& server) : random_(random), server_(server) {
        define();
    }

    void change() {
        if (!defined_) return;
        const std::string ns = random_.pick<std::string>({"a", "b"});
        const std::string name = random_.numbered("w", 6);
        if (random_.one_in(3)) {
            server_.remove("widgets", ns, name);
        } else {
            server_.apply(make(ns, name));
        }
    }
    void disturb() {
        using After = sim::ApiServer::After;
        if (!defined_) return define();
        switch (random_.below(6)) {
            case 0:
                server_.remove_resource("widgets");
                defined_ = false;
                break;
            case 1: server_.deny("widgets"); break;
            case 2: server_.allow("widgets"); break;
            case 3:
                server_.send_to_watches(
                    "widgets",
                    random_.pick<std::string>({"garbage\n", R"({"type":"DELETED","obj)", "{}\n",
                                               R"({"type":"ADDED","object":[]})",
                                               R"({"type":"ERROR","object":{"code":410}})"}),
                    random_.pick<After>({After::go_on, After::end, After::drop}));
                break;
            default:
                server_.set_served("widgets", random_.pick<std::vector<std::string>>(
                                                  {{"v1"}, {"v1beta1"}, {"v1", "v1beta1"}, {}}));
        }
    }
    void end() {
        if (!defined_) define();
        server_.allow("widgets");
        server_.set_served("widgets", {"v1"});
    }

 private:
    void define() {
        server_.add_resource({.group = "example.com", .kind = "Widget", .plural = "widgets"});
        defined_ = true;
    }
    Strings strings() {
        Strings strings;
        for (const char* key : {"app", "a.b/c"}) {
            if (random_.one_in(2)) strings[key] = random_.pick<std::string>({"x", "y", ""});
        }
        return strings;
    }
    json::object strings_object() {
        json::object object;
        for (const auto& [key, value] : strings()) object[key] = value;
        return object;
    }
    json::value port() {
        if (random_.one_in(6)) return random_.pick<json::value>({nullptr, "http", 80});
        return json::object{{"name", random_.numbered("port", 2)}, {"port", random_.below(3)}};
    }
    json::object make(const std::string& ns, const std::string& name) {
        json::object meta{{"name", name}, {"namespace", ns}};
        if (random_.one_in(2)) meta["labels"] = strings_object();
        if (random_.one_in(3)) meta["annotations"] = strings_object();
        json::object spec{{"size", random_.below(3)}, {"ratio", random_.below(2) / 2.0}};
        json::array ports;
        for (unsigned i = random_.below(3); i > 0; --i) ports.push_back(port());
        if (random_.one_in(2)) spec["ports"] = std::move(ports);
        json::object object{{"apiVersion", "example.com/v1"},
                            {"kind", "Widget"},
                            {"metadata", std::move(meta)},
                            {"spec", std::move(spec)}};
        if (random_.one_in(2))
            object["status"] = json::object{{"phase", random_.pick<std::string>({"on", "off"})}};
        return object;
    }

    Random& random_;
    sim::ApiServer& server_;
    bool defined_ = false;
};

/// Random watchers of widgets, with random faults between.
class WidgetScenario {
 public:
    explicit WidgetScenario(std::uint64_t seed)
        : random_(seed),
          sim_(random_server(random_), random_transport(random_)),
          widgets_(random_, sim_.server),
          faults_(random_, sim_) {
        for (unsigned i = random_.below(30); i > 0; --i) widgets_.change();
        watch_.page_size = random_.below(4);
        watch_.watch_list = random_.one_in(2);
        watch_.protobuf = !random_.one_in(3);
        for (unsigned i = 0; i < 6; ++i) replace(watchers_.emplace_back());
    }

    void run() {
        faults_.begin();
        for (unsigned i = 100; i > 0; --i) {
            step();
            for (unsigned n = random_.below(40); n > 0; --n) sim_.context.poll_one();
            if (random_.one_in(3)) sim_.advance(std::chrono::milliseconds(random_.below(4000)));
            if (random_.one_in(20)) sim_.advance(2min);
        }
        widgets_.end();
        faults_.end();
        // A reading host needs only one diff for all unread changes.
        for (int i = 0; i < 2; ++i) {
            for (const auto& watcher : watchers_) watcher->read();
            sim_.settle();
        }
    }
    void check() {
        for (std::size_t i = 0; i < watchers_.size(); ++i) {
            CAPTURE(i, texts_[i]);
            CHECK(watchers_[i]->problem(sim_.server) == "");
        }
        watchers_.clear();
        sim_.settle();
        CHECK(sim_.server.open_connections() == 0);
        CHECK(sim_.clock->next_expiry() == TimePoint::max());
    }

 private:
    void step() {
        const unsigned what = random_.below(24);
        if (what < 4) return faults_.disturb();
        if (what < 7) return widgets_.disturb();
        auto& watcher = watchers_[random_.below(static_cast<unsigned>(watchers_.size()))];
        if (what == 7) return replace(watcher);
        if (what < 12) return watcher->read();
        widgets_.change();
    }
    void replace(std::unique_ptr<WidgetWatcher>& watcher) {
        watcher.reset();
        WatcherConfig config;
        config.api_server.url = sim_.server.url();
        config.resource = {.group = "example.com", .kind = "Widget"};
        config.watch = watch_;
        if (random_.one_in(4)) config.namespaces = {"a"};
        if (random_.one_in(4)) config.label_selector = "app";
        config.fields = random_.pick<Fields>(
            {Fields::all(), Fields{"metadata"}, Fields{"metadata.labels"}, Fields{"spec.size"},
             Fields{"spec.ports.name", "metadata.annotations"}, Fields{"apiVersion", "status"},
             Fields{"spec.ports.port", "spec.ratio", "kind"}, Fields{"metadata", "spec.ports"}});
        const Way way = random_.pick<Way>({Way::callback, Way::store, Way::reading});
        watcher = std::make_unique<WidgetWatcher>(sim_, config, way);
        texts_.resize(watchers_.size());
        std::string& text = texts_[static_cast<std::size_t>(&watcher - watchers_.data())];
        text = "way " + std::to_string(static_cast<int>(way)) + " " + config.label_selector;
        for (const std::string& path : config.fields.paths()) text += " [" + path + "]";
        for (const std::string& ns : config.namespaces) text += " in " + ns;
    }

    Random random_;
    Simulation sim_;
    RandomWidgets widgets_;
    RandomFaults faults_;
    WatchOptions watch_;
    std::vector<std::unique_ptr<WidgetWatcher>> watchers_;
    std::vector<std::string> texts_;  ///< description of each watcher, for messages
};

}  // namespace

TEST_CASE("Watcher<Generic>: once faults stop, each has the kept fields of what the cluster has") {
    for_each_seed("WIDGETS", 40, [&](std::uint64_t seed) {
        WidgetScenario scenario(seed);
        scenario.run();
        scenario.check();
    });
}
