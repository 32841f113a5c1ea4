#include "naive_relabeler.hpp"

#include <re2/re2.h>
#include <cstdlib>

namespace bench {

namespace {

using k8s_sd::LabelMap;
using k8s_sd::RelabelAction;
using k8s_sd::RelabelRule;
using Groups = std::vector<re2::StringPiece>;

std::string source(const LabelMap& labels, const RelabelRule& rule) {
    std::string text;
    for (std::size_t i = 0; i < rule.source_labels.size(); ++i) {
        if (i > 0) text += rule.separator;
        const auto found = labels.find(rule.source_labels[i]);
        if (found != labels.end()) text += found->second;
    }
    return text;
}

bool match(const re2::RE2& regex, const std::string& text, Groups& groups) {
    groups.resize(static_cast<std::size_t>(regex.NumberOfCapturingGroups()) + 1);
    return regex.Match(text, 0, text.size(), re2::RE2::ANCHOR_BOTH, groups.data(),
                       static_cast<int>(groups.size()));
}

/// $1 and ${1} only.
std::string expand(const std::string& text, const Groups& groups) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '$') {
            result += text[i];
            continue;
        }
        const bool braces = text[i + 1] == '{';
        const auto group = static_cast<std::size_t>(text[i + (braces ? 2 : 1)] - '0');
        result.append(groups[group].data(), groups[group].size());
        i += braces ? 3 : 1;
    }
    return result;
}

void set(LabelMap& labels, const std::string& name, const std::string& value) {
    if (value.empty()) {
        labels.erase(name);
    } else {
        labels[name] = value;
    }
}

bool apply_rule(const RelabelRule& rule, const re2::RE2& regex, LabelMap& labels) {
    Groups groups;
    switch (rule.action) {
        case RelabelAction::replace: {
            const std::string text = source(labels, rule);
            if (!match(regex, text, groups)) return true;
            set(labels, expand(rule.target_label, groups), expand(rule.replacement, groups));
            return true;
        }
        case RelabelAction::keep: return match(regex, source(labels, rule), groups);
        case RelabelAction::drop: return !match(regex, source(labels, rule), groups);
        case RelabelAction::labelmap:
            for (const auto& [name, value] : LabelMap(labels)) {
                if (match(regex, name, groups))
                    set(labels, expand(rule.replacement, groups), value);
            }
            return true;
        case RelabelAction::labeldrop:
            std::erase_if(labels, [&](const auto& l) { return match(regex, l.first, groups); });
            return true;
        default: std::abort();
    }
}

}  // namespace

NaiveRelabeler::NaiveRelabeler(std::vector<RelabelRule> rules) : rules_(std::move(rules)) {
    for (const RelabelRule& rule : rules_) {
        regexes_.push_back(std::make_shared<const re2::RE2>("(?s:" + rule.regex + ")"));
    }
}

bool NaiveRelabeler::apply(LabelMap& labels) const {
    for (std::size_t i = 0; i < rules_.size(); ++i) {
        if (!apply_rule(rules_[i], *regexes_[i], labels)) return false;
    }
    return true;
}

}  // namespace bench
