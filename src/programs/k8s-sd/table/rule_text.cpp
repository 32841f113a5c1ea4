#include "table/rule_text.hpp"

namespace k8s_sd_program {

namespace {

using k8s_sd::RelabelAction;
using k8s_sd::RelabelRule;
using k8s_sd::RelabelRules;

std::string joined(const std::vector<std::string>& texts, std::string_view separator) {
    std::string all;
    for (const std::string& text : texts) {
        if (&text != &texts.front()) all += separator;
        all += text;
    }
    return all;
}

std::string what_it_does(const RelabelRule& rule, const std::string& sources) {
    std::string action(to_string(rule.action));
    switch (rule.action) {
        case RelabelAction::keep:
        case RelabelAction::drop:
            if (rule.source_labels.empty() && !rule.if_.empty()) return action;
            return action + " if " + sources + " matches " + rule.regex;
        case RelabelAction::keepequal: return "keep if " + sources + " is " + rule.target_label;
        case RelabelAction::dropequal: return "drop if " + sources + " is " + rule.target_label;
        case RelabelAction::keep_if_equal: return "keep if all of " + sources + " are equal";
        case RelabelAction::drop_if_equal: return "drop if all of " + sources + " are equal";
        case RelabelAction::keep_if_contains:
            return "keep if " + rule.target_label + " contains " + sources;
        case RelabelAction::drop_if_contains:
            return "drop if " + rule.target_label + " contains " + sources;
        case RelabelAction::hashmod:
            return rule.target_label + " := hash of " + sources + " modulo " +
                   std::to_string(rule.modulus);
        case RelabelAction::labelmap:
        case RelabelAction::labelmap_all:
            return action + " " + rule.regex + " to " + rule.replacement;
        case RelabelAction::labeldrop:
        case RelabelAction::labelkeep: return action + " " + rule.regex;
        default: return action + " " + rule.target_label + " by " + sources;
    }
}

}  // namespace

std::string quoted(std::string_view text) { return cli::json_string(text); }

std::string quoted(const std::vector<std::string>& texts) {
    std::string out;
    JsonWriter json(out);
    json.begin('[');
    for (const std::string& text : texts) json.value(text);
    json.end(']');
    return out;
}

std::string in_words(const RelabelRule& rule) {
    std::string text = what_it_does(rule, joined(rule.source_labels, rule.separator));
    if (!rule.if_.empty()) text += " if " + joined(rule.if_, " or ");
    return text;
}

std::string to_yaml(const RelabelRule& rule) {
    const RelabelRule usual;
    std::string text = "- action: " + std::string(to_string(rule.action)) + "\n";
    const auto add = [&](const char* key, const std::string& value) {
        text += std::string("  ") + key + ": " + value + "\n";
    };
    if (!rule.source_labels.empty()) add("source_labels", quoted(rule.source_labels));
    if (rule.separator != usual.separator) add("separator", quoted(rule.separator));
    if (rule.regex != usual.regex) add("regex", quoted(rule.regex));
    if (rule.modulus != 0) add("modulus", std::to_string(rule.modulus));
    if (!rule.target_label.empty()) add("target_label", quoted(rule.target_label));
    if (rule.replacement != usual.replacement) add("replacement", quoted(rule.replacement));
    if (!rule.if_.empty()) add("if", quoted(rule.if_));
    return text;
}

std::string to_yaml(const RelabelRules& rules) {
    std::string text;
    for (const RelabelRule& rule : rules) text += to_yaml(rule);
    return text;
}

void write_rule(JsonWriter& json, const RelabelRule& rule) {
    json.begin('{');
    if (!rule.source_labels.empty()) {
        json.name("sourceLabels").begin('[');
        for (const std::string& label : rule.source_labels) json.value(label);
        json.end(']');
    }
    const auto add = [&](const char* key, const std::string& text) {
        if (!text.empty()) json.member(key, text);
    };
    add("separator", rule.separator);
    json.member("regex", rule.regex);
    if (rule.modulus != 0) json.member("modulus", rule.modulus);
    add("targetLabel", rule.target_label);
    add("replacement", rule.replacement);
    json.member("action", to_string(rule.action));
    if (!rule.if_.empty()) {
        json.name("if").begin('[');
        for (const std::string& selector : rule.if_) json.value(selector);
        json.end(']');
    }
    json.end('}');
}

}  // namespace k8s_sd_program
