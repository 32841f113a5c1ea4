#pragma once

#include "k8s_sd/detail/monitors/object_view.hpp"
#include "k8s_sd/detail/monitors/relabelings.hpp"
#include "k8s_sd/selector.hpp"

#include <optional>
#include <string>
#include <string_view>

/// Label selectors in their form as objects: `matchLabels` and `matchExpressions`.
namespace k8s_sd::inline v0::detail {

/// The selector as text of the API, its requirements sorted by key: "app=web,tier in (a,b)".
/// An invalid selector is a fault; the text is unusable then.
std::string selector_text(const ObjectView& selector);

/// The selector for matching objects.
/// \returns nullopt, and a fault, for an invalid selector; nullopt without a fault if it is absent
std::optional<LabelSelector> read_label_selector(const ObjectView& selector);

/// The selector as rules about the labels of the discovered objects. Values are not escaped. An
/// unknown operator makes no rule.
/// \param object  "service", "pod" or "ingress"
void add_selector_rules(RuleList&, const ObjectView& selector, const std::string& object);

}  // namespace k8s_sd::inline v0::detail
