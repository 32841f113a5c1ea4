#include "api/object_question.hpp"

#include "lists/selection.hpp"
#include "table/target_json.hpp"

#include <array>
#include <utility>

namespace bridge {

namespace {

constexpr std::size_t most_bytes = 1024;
constexpr std::string_view meta = "__meta_kubernetes_";

/// Labels whose value is an address of the object.
bool is_address(std::string_view label) {
    constexpr std::array names = {"pod_ip", "service_cluster_ip"};
    if (!label.starts_with(meta)) return false;
    label.remove_prefix(meta.size());
    return std::find(names.begin(), names.end(), label) != names.end() ||
           label.starts_with("node_address_");
}

/// Without the port, and without the brackets of IPv6.
std::string_view host_of(std::string_view address) {
    if (address.starts_with('[')) return address.substr(1, address.find(']') - 1);
    const std::size_t colon = address.rfind(':');
    const bool several = colon != address.npos && address.find(':') != colon;
    return several ? address : address.substr(0, colon);
}

}  // namespace

ObjectQuestion::ObjectQuestion(std::string text) : text_(std::move(text)) {
    if (text_.empty()) {
        throw BadRequest(
            "q: name a pod, a service, a node or an IP address, such as pod/shop/web-1");
    }
    if (text_.size() > most_bytes) throw BadRequest("q: is longer than 1024 bytes");
    const std::size_t slash = text_.find('/');
    if (slash == text_.npos) return;
    kind_ = text_.substr(0, slash);
    text_.erase(0, slash + 1);
    if (kind_ == "svc") kind_ = "service";
}

/// \returns the object if the label of a target says that it is the one
std::string ObjectQuestion::named(const TargetRow& row, std::string_view label,
                                  std::string_view value) const {
    const bool path = !kind_.empty();
    for (const std::string_view kind : {"pod", "service"}) {
        if (path && kind != kind_) continue;
        if (label.size() != meta.size() + kind.size() + 5 || !label.ends_with("_name") ||
            label.substr(meta.size(), kind.size()) != kind || !label.starts_with(meta)) {
            continue;
        }
        const std::string full = std::string(row.ns) + "/" + std::string(value);
        if ((path ? full : value) == text_) return std::string(kind) + "/" + full;
    }
    return {};
}

std::string ObjectQuestion::object_of(const TargetRow& row) const {
    const std::string_view source = row.group->source();
    if ((kind_ == "node" || kind_.empty()) && row.node == text_) return "node/" + text_;
    if (!kind_.empty() && source.starts_with(kind_) && source.substr(kind_.size(), 1) == "/" &&
        source.substr(kind_.size() + 1) == text_) {
        return std::string(source);
    }
    if (kind_.empty() && host_of(row.address) == text_)
        return bridge::object_of(*row.group, row.index);
    for (const k8s_sd::Labels& labels : {(*row.group)[row.index], row.group->labels()}) {
        for (const auto& [name, value] : labels) {
            if (kind_.empty() && value == text_ && is_address(name))
                return bridge::object_of(*row.group, row.index);
            if (auto object = named(row, name, value); !object.empty()) return object;
        }
    }
    return {};
}

}  // namespace bridge
