#include "options.hpp"

#include "cli/dialect_option.hpp"
#include "cli/option_values.hpp"

namespace relabel {

cli::CommandLine command_line(Options& options) {
    const cli::Choices<k8s_sd::NameValidation> validations{
        {"utf8", k8s_sd::NameValidation::utf8}, {"legacy", k8s_sd::NameValidation::legacy}};
    return {
        .program = "relabel",
        .about =
            R"(Applies relabel_configs to label sets from standard input, and prints the results.

Input: a JSON array of objects with text values, or one object a line. The output has the same
form, with null for a label set that a rule dropped. Lines are answered as they come. An empty
value means that the label is absent.

With --rules, the rules alone are applied, to any label sets. With --config and --job, the label
sets are targets: they get the job's defaults, go through its rules and become scrape targets, or
null where they are dropped or cannot be scraped.
)",
        .sections = {{"",
                      {{.name = "--rules",
                        .argument = "FILE",
                        .help = "relabel_configs in YAML: the list, or a mapping with that key",
                        .set = cli::text(options.rules_file)},
                       {"--config", "FILE",
                        "instead of --rules: a configuration of Prometheus or vmagent",
                        cli::text(options.config_file)},
                       {"--job", "NAME", "the job in it whose targets the label sets are",
                        cli::text(options.job)},
                       {"--explain", "",
                        "print what each rule compared and changed, and what came of a target, for "
                        "people",
                        cli::flag(options.explain)},
                       cli::dialect_option("hashes, templates and targets of",
                                           options.rules.dialect, options.prometheus_version),
                       {"--name-validation", "SCHEME",
                        "label names: utf8 (default) or legacy, [a-zA-Z_][a-zA-Z0-9_]*",
                        cli::choice(options.rules.names, validations)}}}},
        .notes = "Exit status: 0 fine, 2 unusable arguments, rules or input, 1 anything else.\n",
        .on_signal = cli::CommandLine::OnSignal::as_usual};
}

void check(const Options& options) {
    const bool has_job = !options.config_file.empty() || !options.job.empty();
    if (!options.rules_file.empty() && has_job) {
        throw cli::UsageError("--rules is not for --config and --job, which have their own");
    }
    if (options.rules_file.empty() && !has_job) {
        throw cli::UsageError("--rules FILE is missing, or --config FILE and --job NAME");
    }
    if (!has_job) return;
    if (options.rules.names != k8s_sd::NameValidation::utf8) {
        throw cli::UsageError("--name-validation is not for --config: a job has its own");
    }
    if (options.config_file.empty()) throw cli::UsageError("--job needs --config FILE");
    if (options.job.empty()) throw cli::UsageError("--config needs --job NAME");
}

}  // namespace relabel
