#include "api/object_question.hpp"

#include "lists/list_selection.hpp"
#include "table/target_json.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace k8s_sd_program {

namespace {

constexpr std::size_t max_bytes = 1024;
constexpr std::string_view meta = "__meta_kubernetes_";

/// Labels with an address of the object.
bool is_address(std::string_view label) {
    constexpr std::array names = {"pod_ip", "service_cluster_ip"};
    if (!label.starts_with(meta)) return false;
    label.remove_prefix(meta.size());
    return std::find(names.begin(), names.end(), label) != names.end() ||
           label.starts_with("node_address_");
}

/// Strips the port, and the brackets of IPv6.
std::string_view host_of(std::string_view address) {
    if (address.starts_with('[')) return address.substr(1, address.find(']') - 1);
    const std::size_t colon = address.rfind(':');
    const bool several = colon != address.npos && address.find(':') != colon;
    return several ? address : address.substr(0, colon);
}

/// Names of kinds, including those of kubectl.
std::string kind_named(std::string_view name) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kinds = {
        {{"pod", "pod"},
         {"pods", "pod"},
         {"po", "pod"},
         {"service", "service"},
         {"services", "service"},
         {"svc", "service"},
         {"ingress", "ingress"},
         {"ingresses", "ingress"},
         {"ing", "ingress"},
         {"node", "node"},
         {"nodes", "node"},
         {"no", "node"}}};
    for (const auto& [known, kind] : kinds) {
        if (name == known) return std::string(kind);
    }
    return {};
}

/// Host and port of a URL; empty if it is not a URL.
std::string_view authority_in(std::string_view text) {
    const std::size_t begin = text.find("://");
    if (begin == text.npos) return {};
    text.remove_prefix(begin + 3);
    return text.substr(0, text.find_first_of("/?#"));
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == text.npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

}  // namespace

ObjectQuestion::ObjectQuestion(std::string_view text) {
    text = trimmed(text);
    if (text.empty()) {
        throw BadRequest("q: name a pod, a service, an ingress, a node or an address, such as "
                         "pod/shop/web-1, web-1 or 10.0.0.1:9100");
    }
    if (text.size() > max_bytes) throw BadRequest("q: is longer than 1024 bytes");
    if (const auto authority = authority_in(text); !authority.empty()) {
        place_ = authority;
        return;
    }
    std::string_view name = text;
    if (const std::size_t slash = text.find('/'); slash != text.npos) {
        kind_ = kind_named(text.substr(0, slash));
        if (!kind_.empty()) name.remove_prefix(slash + 1);
    }
    source_ = kind_.empty() ? std::string(text) : kind_ + "/" + std::string(name);
    if (const std::size_t slash = name.find('/'); slash != name.npos) {
        ns_ = name.substr(0, slash);
        name.remove_prefix(slash + 1);
    } else if (kind_.empty()) {
        place_ = name;
    }
    is_begin_ = name.ends_with('*');
    if (is_begin_) name.remove_suffix(1);
    name_ = name;
}

bool ObjectQuestion::is_name(std::string_view name) const {
    return is_begin_ ? name.starts_with(name_) : name == name_;
}

std::string ObjectQuestion::subject() const {
    if (name_.empty()) return "this address";
    if (is_begin_) return "a name that begins so";
    const bool both = !place_.empty();
    return std::string(both ? "this name or address" : "this name") + " (" + name_ +
           "* finds all names that begin so)";
}

/// Whether the target is at the requested address: with the port, or without.
bool ObjectQuestion::is_at_place(const TargetRow& row) const {
    if (place_.empty()) return false;
    const auto is_it = [&](std::string_view address) {
        return address == place_ || host_of(address) == place_;
    };
    if (is_it(row.address)) return true;
    return row.target &&
           (is_it(row.target->get("__address__")) || is_it(row.target->get("instance")));
}

/// \returns the object if the label of a target identifies it
std::string ObjectQuestion::named(const TargetRow& row, std::string_view label,
                                  std::string_view value) const {
    if (name_.empty() || !is_name(value) || (ns_ && row.ns != *ns_)) return {};
    for (const std::string_view kind : {"pod", "service", "ingress"}) {
        if (!kind_.empty() && kind != kind_) continue;
        if (label.size() != meta.size() + kind.size() + 5 || !label.ends_with("_name") ||
            label.substr(meta.size(), kind.size()) != kind || !label.starts_with(meta)) {
            continue;
        }
        return std::string(kind) + "/" + std::string(row.ns) + "/" + std::string(value);
    }
    return {};
}

bool ObjectQuestion::asks_for_node(const TargetRow& row) const {
    return !ns_ && !name_.empty() && (kind_.empty() || kind_ == "node") && is_name(row.node);
}

std::string ObjectQuestion::object_of(const TargetRow& row) const {
    if (asks_for_node(row)) return "node/" + std::string(row.node);
    if (is_at_place(row)) return k8s_sd_program::object_of(*row.group, row.index);
    for (const k8s_sd::Labels& labels : {(*row.group)[row.index], row.group->labels()}) {
        for (const auto& [name, value] : labels) {
            if (!place_.empty() && value == place_ && is_address(name)) {
                return k8s_sd_program::object_of(*row.group, row.index);
            }
            if (auto object = named(row, name, value); !object.empty()) return object;
        }
    }
    return row.group->source() == source_ ? source_ : std::string();
}

}  // namespace k8s_sd_program
