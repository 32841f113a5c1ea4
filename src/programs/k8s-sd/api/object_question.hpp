#pragma once

#include "table/target_table.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd_program {

/// Finds the targets of an object: "pod/shop/web-1", "shop/web-1", "svc/web", "ing/web", "no/n1",
/// any source of groups, or the name of a pod, service, ingress or node alone. Also finds the
/// targets at an address: "10.0.0.1", "10.0.0.1:9100", "http://10.0.0.1:9100/metrics". A `*` at the
/// end of a name matches any characters.
class ObjectQuestion {
 public:
    /// \throws BadRequest if the text is empty
    explicit ObjectQuestion(std::string_view text);

    /// The matching object of the target; empty if there is none.
    std::string object_of(const TargetRow&) const;
    /// The property of missing targets, in words: "this name".
    std::string subject() const;

 private:
    bool is_name(std::string_view) const;
    bool is_at_place(const TargetRow&) const;
    bool asks_for_node(const TargetRow&) const;
    std::string named(const TargetRow&, std::string_view label, std::string_view value) const;

    std::string kind_{};               ///< "pod", "service", "ingress" or "node"; empty: any
    std::optional<std::string> ns_{};  ///< nullopt: any
    std::string name_{};               ///< empty: any
    bool is_begin_ = false;            ///< name_ is a prefix
    std::string place_{};              ///< an address, with or without a port; empty: none
    std::string source_{};             ///< of a group
};

}  // namespace k8s_sd_program
