#pragma once

#include "k8s_sd/detail/codec/list_watch_reader.hpp"
#include "k8s_sd/detail/kinds/generate.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"
#include "k8s_sd/selector.hpp"
#include "property/random_cluster.hpp"
#include "support/host.hpp"

#include <boost/json/serialize.hpp>
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace k8s_sd::test {

/// The targets of a configuration, computed from all the server's objects at once: no watches, no
/// dependencies, no differences.
class ExpectedTargets final : private detail::Lookup, private detail::EventSink {
 public:
    ExpectedTargets(const sim::ApiServer& server, const DiscoveryConfig& config) : config_(config) {
        maker_.options = {&detail::rules_of(config.dialect), config.attach_metadata,
                          !config.namespaces.empty()};
        maker_.options.version_rules = &detail::version_rules_of(detail::dialect_of(config));
        for (const Kind kind : detail::needed_kinds(config.role, config.attach_metadata)) {
            for (const auto& [ns, name] : RandomCluster::names(kind)) {
                const auto object = server.get(to_string(kind), ns, name);
                if (object && is_selected(kind, ns, *object)) decode(kind, *object);
            }
        }
    }

    TargetsBySource state() {
        TargetsBySource state;
        detail::GroupBuilder builder;
        for (const auto& [key, object] : objects_) {
            if (std::get<0>(key) != main_kind(config_.role)) continue;
            detail::GeneratorContext generation{maker_.options, maker_.factory, *this, builder};
            const TargetGroupPtr group = detail::generate(config_.role, *object, generation);
            if (group) state.emplace(group->source(), merged(*group));
        }
        return state;
    }

 private:
    bool is_selected(Kind kind, const std::string& ns, const boost::json::object& object) const {
        const auto& namespaces = config_.namespaces;
        if (resource_of(kind).namespaced && !namespaces.empty() &&
            std::find(namespaces.begin(), namespaces.end(), ns) == namespaces.end()) {
            return false;
        }
        const auto text = [](const boost::json::value* value) -> std::optional<std::string_view> {
            if (value == nullptr) return std::nullopt;
            return std::string_view(value->get_string());
        };
        return std::all_of(
            config_.selectors.begin(), config_.selectors.end(), [&](const Selector& s) {
                if (main_kind(s.role) != kind) return true;
                const auto* labels = object.at("metadata").as_object().if_contains("labels");
                return LabelSelector::parse(s.label).matches([&](std::string_view key) {
                    return labels ? text(labels->get_object().if_contains(key)) : std::nullopt;
                }) && FieldSelector::parse(s.field).matches([&](std::string_view path) {
                    const std::size_t dot = path.find('.');
                    const auto* part = object.if_contains(path.substr(0, dot));
                    return part ? text(part->get_object().if_contains(path.substr(dot + 1)))
                                : std::nullopt;
                });
            });
    }

    void decode(Kind kind, const boost::json::object& object) {
        detail::ListWatchReader reader(detail::schema_of(kind, *maker_.options.version_rules),
                                       std::size_t{1} << 20, *this);
        reader.expect(detail::Document::list);
        reader.choose_decoder("application/json");
        reader.feed(R"({"kind":")" + std::string(resource_of(kind).kind) +
                    R"(List","metadata":{"resourceVersion":"1"},"items":[)" +
                    boost::json::serialize(object) + "]}");
    }

    const Object* find(Kind kind, std::string_view ns, std::string_view name) override {
        const auto it = objects_.find(std::tuple(kind, std::string(ns), std::string(name)));
        return it == objects_.end() ? nullptr : it->second.get();
    }
    void on_object(detail::EventType, const detail::DecodedObject& decoded) override {
        ObjectPtr object = maker_.make(decoded);
        const std::tuple key(object->kind(), std::string(object->ns()),
                             std::string(object->name()));
        objects_.emplace(key, std::move(object));
    }
    void on_bookmark(std::string_view, bool) override {}
    void on_error_event(const detail::ServerStatus&) override {}
    void on_bad_object(const detail::BadObject&) override {}

    DiscoveryConfig config_;
    detail::ObjectMaker maker_;
    std::map<std::tuple<Kind, std::string, std::string>, ObjectPtr> objects_;
};

}  // namespace k8s_sd::test
