#include "k8s_sd/detail/monitors/names.hpp"
#include "k8s_sd/detail/monitors/selectors.hpp"
#include "k8s_sd/detail/text/label_names.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/error.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::string_view selector_remedy =
    "correct the label selector; see Labels and Selectors of Kubernetes";

void check_key(const ObjectView& at, std::string_view key) {
    if (!is_label_key(key)) {
        at.refuse("'" + std::string(key) + "' is no valid label key", std::string(selector_remedy));
    }
}

void check_value(const ObjectView& at, std::string_view value) {
    if (!is_label_value(value)) {
        at.refuse("'" + std::string(value) + "' is no valid label value",
                  std::string(selector_remedy));
    }
}

using KeyAndText = std::pair<std::string, std::string>;

KeyAndText expression_text(const ObjectView& expression) {
    std::string key(expression.text("key"));
    std::vector<std::string> values = expression.texts("values");
    const std::string_view op = expression.text("operator");
    check_key(expression["key"], key);
    for (const std::string& value : values) check_value(expression["values"], value);
    if (op == "In" || op == "NotIn") {
        if (values.empty()) {
            expression["values"].refuse("the operator " + std::string(op) + " needs values",
                                        "add values, or use Exists or DoesNotExist");
        }
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
        const char* word = op == "In" ? " in (" : " notin (";
        return {key, key + word + join(values, ",") + ")"};
    }
    if (op != "Exists" && op != "DoesNotExist") {
        expression["operator"].refuse("is no operator of a label selector",
                                      "use In, NotIn, Exists or DoesNotExist");
    } else if (!values.empty()) {
        expression["values"].refuse("the operator " + std::string(op) + " takes no values",
                                    "remove the values");
    }
    return {key, (op == "DoesNotExist" ? "!" : "") + key};
}

}  // namespace

std::string selector_text(const ObjectView& selector) {
    std::vector<KeyAndText> requirements;
    for (const auto& [key, value] : selector["matchLabels"].members()) {
        const std::string_view text = value.as_text().value_or("");
        check_key(value, key);
        check_value(value, text);
        requirements.emplace_back(key, std::string(key) + "=" + std::string(text));
    }
    for (const ObjectView& expression : selector.items("matchExpressions")) {
        requirements.push_back(expression_text(expression));
    }
    std::stable_sort(requirements.begin(), requirements.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> texts;
    for (KeyAndText& requirement : requirements) texts.push_back(std::move(requirement.second));
    return join(texts, ",");
}

std::optional<LabelSelector> read_label_selector(const ObjectView& selector) {
    if (selector.is_absent()) return std::nullopt;
    try {
        return LabelSelector::parse(selector_text(selector));
    } catch (const ConfigError& e) {
        selector.refuse(e.problem(), std::string(selector_remedy));
        return std::nullopt;
    }
}

void add_selector_rules(RuleList& rules, const ObjectView& selector, const std::string& object) {
    const std::string prefix = "__meta_kubernetes_" + object;
    const auto label = [&](std::string_view key) {
        return prefix + "_label_" + sanitize_label_key(key);
    };
    const auto present = [&](std::string_view key) {
        return prefix + "_labelpresent_" + sanitize_label_key(key);
    };
    const auto add = [&](std::string_view action, std::string_view key, std::string values) {
        rules.add({.action = action,
                   .sources = {label(key), present(key)},
                   .regex = "(" + std::move(values) + ");true"});
    };
    for (const auto& [key, value] : selector["matchLabels"].members()) {
        add("keep", key, std::string(value.as_text().value_or("")));
    }
    for (const ObjectView& expression : selector.items("matchExpressions")) {
        const std::string_view key = expression.text("key");
        const std::string_view op = expression.text("operator");
        if (op == "In") add("keep", key, join(expression.texts("values"), "|"));
        if (op == "NotIn") add("drop", key, join(expression.texts("values"), "|"));
        if (op == "Exists" || op == "DoesNotExist") {
            rules.add({.action = op == "Exists" ? "keep" : "drop",
                       .sources = {present(key)},
                       .regex = "true"});
        }
    }
}

}  // namespace k8s_sd::inline v0::detail
