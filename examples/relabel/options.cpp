#include "options.hpp"

#include <algorithm>
#include <iterator>

namespace relabel {

namespace {

k8s_sd::LabelDialect parse_dialect(const std::string& value) {
    if (const auto dialect = k8s_sd::dialect_from_string(value)) return *dialect;
    throw UsageError("--dialect: \"" + value +
                     "\" is not allowed; allowed are prometheus, victoriametrics");
}

k8s_sd::NameValidation parse_name_validation(const std::string& value) {
    if (value == "utf8") return k8s_sd::NameValidation::utf8;
    if (value == "legacy") return k8s_sd::NameValidation::legacy;
    throw UsageError("--name-validation: \"" + value +
                     "\" is not allowed; allowed are utf8, legacy");
}

/// An option: its name, whether it takes a value, and what it does with it.
struct OptionRule {
    std::string_view name;
    bool has_value;
    void (*apply)(Options&, const std::string& value);
};

using Text = const std::string&;

constexpr OptionRule rules[] = {
    {"--rules", true, [](Options& o, Text v) { o.rules_file = v; }},
    {"--explain", false, [](Options& o, Text) { o.explain = true; }},
    {"--dialect", true, [](Options& o, Text v) { o.rules.dialect = parse_dialect(v); }},
    {"--name-validation", true,
     [](Options& o, Text v) { o.rules.names = parse_name_validation(v); }},
    {"--help", false, [](Options& o, Text) { o.help = true; }},
    {"--version", false, [](Options& o, Text) { o.version = true; }},
};

const OptionRule& find_rule(std::string_view name) {
    const auto* rule = std::find_if(std::begin(rules), std::end(rules),
                                    [&](const OptionRule& r) { return r.name == name; });
    if (rule != std::end(rules)) return *rule;
    throw UsageError((name.starts_with('-') ? "unknown option " : "unexpected argument ") +
                     std::string(name) + "; --help lists the options");
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
    Options options;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        // "--name value" and "--name=value"
        const std::string& text = arguments[i];
        const std::size_t equals = text.starts_with("--") ? text.find('=') : std::string::npos;
        const OptionRule& rule = find_rule(std::string_view(text).substr(0, equals));
        std::string value;
        if (equals != std::string::npos) {
            if (!rule.has_value) throw UsageError(std::string(rule.name) + " takes no value");
            value = text.substr(equals + 1);
        } else if (rule.has_value && i + 1 < arguments.size()) {
            value = arguments[++i];
        }
        if (rule.has_value && value.empty()) {
            throw UsageError(std::string(rule.name) + " needs a value");
        }
        rule.apply(options, value);
        if (options.help || options.version) return options;
    }
    if (options.rules_file.empty()) throw UsageError("--rules FILE is missing");
    return options;
}

std::string_view help_text() noexcept {
    return R"(Usage: relabel --rules FILE [OPTION]...
Applies relabel_configs to label sets from standard input, and prints what becomes of them.

Input: a JSON array of objects with text values, or one object a line. The output has the same
form, with null for what a rule dropped. Lines are answered as they come. An empty value means
that the label is absent.

  --rules FILE               relabel_configs in YAML: the list, or a mapping with that key
  --explain                  print what each rule compared and changed, for people
  --dialect DIALECT          hashes and templates of prometheus (default) or victoriametrics
  --name-validation SCHEME   label names: utf8 (default) or legacy, [a-zA-Z_][a-zA-Z0-9_]*
  --help, --version

Exit status: 0 fine, 2 unusable arguments, rules or input, 1 anything else.
)";
}

}  // namespace relabel
