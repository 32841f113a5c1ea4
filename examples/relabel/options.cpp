#include "options.hpp"

#include "support/option_values.hpp"

namespace relabel {

support::CommandLine command_line(Options& options) {
    const auto dialects = support::dialects();
    const support::Choices<k8s_sd::NameValidation> validations{
        {"utf8", k8s_sd::NameValidation::utf8}, {"legacy", k8s_sd::NameValidation::legacy}};
    return {
        .program = "relabel",
        .about =
            R"(Applies relabel_configs to label sets from standard input, and prints the results.

Input: a JSON array of objects with text values, or one object a line. The output has the same
form, with null for a label set that a rule dropped. Lines are answered as they come. An empty
value means that the label is absent.
)",
        .sections = {{"",
                      {{.name = "--rules",
                        .argument = "FILE",
                        .help = "relabel_configs in YAML: the list, or a mapping with that key",
                        .set = support::text(options.rules_file),
                        .required = true},
                       {"--explain", "", "print what each rule compared and changed, for people",
                        support::flag(options.explain)},
                       {"--dialect", "DIALECT",
                        "hashes and templates of " +
                            support::either(support::names_of(dialects),
                                            to_string(options.rules.dialect)),
                        support::choice(options.rules.dialect, dialects)},
                       {"--name-validation", "SCHEME",
                        "label names: utf8 (default) or legacy, [a-zA-Z_][a-zA-Z0-9_]*",
                        support::choice(options.rules.names, validations)}}}},
        .notes = "Exit status: 0 fine, 2 unusable arguments, rules or input, 1 anything else.\n"};
}

}  // namespace relabel
