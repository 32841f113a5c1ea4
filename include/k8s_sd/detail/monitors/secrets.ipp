#include "k8s_sd/detail/monitors/secrets.hpp"

#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

std::string absence_text(const MonitorReference& reference, ReferencedValue::State state) {
    const bool secret = reference.kind == MonitorReference::Kind::secret;
    const std::string object =
        (secret ? "Secret " : "ConfigMap ") + reference.object_namespace + "/" + reference.name;
    if (reference.name.empty()) {
        return std::string(secret ? "the name of the Secret" : "the name of the ConfigMap") +
               " is missing";
    }
    switch (state) {
        case ReferencedValue::State::no_key:
            return "the " + object + " has no key '" + reference.key + "'";
        case ReferencedValue::State::unknown: return "the " + object + " has not been read";
        default: return "the " + object + " does not exist";
    }
}

std::string absence_remedy(const MonitorReference& reference, ReferencedValue::State state) {
    if (reference.name.empty()) return "add name and key";
    if (state == ReferencedValue::State::no_key) {
        return "add the key, or name another one";
    }
    if (state == ReferencedValue::State::unknown) {
        return "allow get, list and watch of it; it is read as soon as that is possible";
    }
    return "create it in the namespace of the object, or correct the name";
}

}  // namespace

std::optional<std::string> required_value(const MonitorReference& reference, const ObjectView& at,
                                          const JobContext& context) {
    ReferencedValue found = context.references.find(reference);
    if (found.state == ReferencedValue::State::found) return std::move(found.value);
    at.refuse(absence_text(reference, found.state), absence_remedy(reference, found.state));
    return std::nullopt;
}

std::optional<std::string> required_secret(const ObjectView& selector, const JobContext& context) {
    return required_value(context.reference(MonitorReference::Kind::secret, selector), selector,
                          context);
}

std::optional<std::string> present_value(const MonitorReference& reference,
                                         const JobContext& context) {
    return context.references.value(reference);
}

std::optional<MonitorReference> secret_or_config_map(const ObjectView& selector,
                                                     const JobContext& context) {
    using Kind = MonitorReference::Kind;
    if (const ObjectView secret = selector["secret"]) {
        return context.reference(Kind::secret, secret);
    }
    if (const ObjectView config_map = selector["configMap"]) {
        return context.reference(Kind::config_map, config_map);
    }
    return std::nullopt;
}

void check_secret_or_config_map(const ObjectView& selector) {
    if (selector.has("secret") && selector.has("configMap")) {
        selector.refuse("names both a Secret and a ConfigMap", "remove one of them");
    }
}

}  // namespace k8s_sd::inline v0::detail
