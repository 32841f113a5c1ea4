#include "support/role_fixture.hpp"

#include "k8s_sd/detail/kinds/generate.hpp"

#include <utility>

namespace k8s_sd::test {

World::World(LabelDialect dialect, AttachMetadata attach, bool by_namespace)
    : maker_{{&detail::rules_of(dialect), attach, by_namespace}, {}} {}

World::World(PrometheusVersion version, AttachMetadata attach)
    : World(LabelDialect::prometheus, attach) {
    maker_.options.version_rules = &detail::version_rules_of({.version = version});
}

World::~World() = default;

World& World::add(Kind kind, std::string_view json) {
    ObjectPtr object = decode_object(kind, maker_, json);
    const Key key{kind, object->ns(), object->name()};
    objects_[key] = std::move(object);
    return *this;
}

TargetGroupPtr World::group(Role role, const std::string& ns, const std::string& name) {
    asked_.clear();
    detail::GeneratorContext generation{maker_.options, maker_.factory, *this, builder_};
    return generate(role, object(main_kind(role), ns, name), generation);
}

std::vector<LabelMap> World::targets(Role role, const std::string& ns, const std::string& name) {
    std::vector<LabelMap> all;
    const TargetGroupPtr made = group(role, ns, name);
    for (std::size_t i = 0; made && i < made->size(); ++i) all.push_back(made->merged(i));
    return all;
}

std::vector<std::string> World::addresses(Role role, const std::string& ns,
                                          const std::string& name) {
    std::vector<std::string> all;
    for (const LabelMap& target : targets(role, ns, name)) {
        const auto address = target.find("__address__");
        all.push_back(address == target.end() ? "" : address->second);
    }
    return all;
}

const Object* World::find(Kind kind, std::string_view ns, std::string_view name) {
    const Key key{kind, ns, name};
    asked_.insert(key);
    const auto it = objects_.find(key);
    return it == objects_.end() ? nullptr : it->second.get();
}

}  // namespace k8s_sd::test
