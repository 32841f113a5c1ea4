// Applies relabelling rules, or all steps from discovered target to scrape target of a job, to
// label sets from standard input. See docs/programs/relabel.md.

#include "cli/process_variables.hpp"
#include "input.hpp"
#include "k8s_sd/relabel/relabel_yaml.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "k8s_sd/scrape/target_builder.hpp"
#include "options.hpp"
#include "output.hpp"

#include <cstddef>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace relabel;
using MaybeLabels = std::optional<k8s_sd::LabelMap>;

/// The processing of label sets.
class Machine {
 public:
    virtual ~Machine() = default;
    virtual MaybeLabels apply(const k8s_sd::LabelMap&) = 0;
    /// The same with an explanation. `number`: of the label set, from 1.
    virtual MaybeLabels explain(const k8s_sd::LabelMap&, std::size_t number, LineWriter&) = 0;
};

/// Rules without a job.
class Rules final : public Machine {
 public:
    explicit Rules(const Options& options)
        : relabeler_(k8s_sd::load_relabel_configs(options.rules_file, options.rules,
                                                  cli::process_variables()),
                     options.rules) {}

    MaybeLabels apply(const k8s_sd::LabelMap& map) override {
        fill(map);
        return relabeler_.apply(labels_) ? MaybeLabels(labels_.to_map()) : std::nullopt;
    }
    MaybeLabels explain(const k8s_sd::LabelMap& map, std::size_t number, LineWriter& out) override {
        fill(map);
        const std::vector<k8s_sd::RelabelStep> steps = relabeler_.explain(labels_);
        write_steps(out, number, relabeler_.rules(), steps);
        if (!steps.empty() && steps.back().refused) {
            throw k8s_sd::RelabelError(steps.back().rule, steps.back().reason);
        }
        const bool dropped = !steps.empty() && steps.back().dropped;
        return dropped ? std::nullopt : MaybeLabels(labels_.to_map());
    }

 private:
    void fill(const k8s_sd::LabelMap& map) {
        labels_.clear();
        for (const auto& [name, value] : map) labels_.set(name, value);
    }

    k8s_sd::Relabeler relabeler_;
    k8s_sd::MutableLabels labels_;
};

/// The rules of a job; the label sets are its targets.
class Targets final : public Machine {
 public:
    explicit Targets(const Options& options) : builder_(find_job(options)) {}

    MaybeLabels apply(const k8s_sd::LabelMap& map) override { return builder_.explain(map).labels; }
    MaybeLabels explain(const k8s_sd::LabelMap& map, std::size_t number, LineWriter& out) override {
        const k8s_sd::TargetExplanation explanation = builder_.explain(map);
        write_steps(out, number, builder_.config().relabel_configs, explanation.rules);
        for (const std::string& step : explanation.steps) {
            out << "  " << step;
            out.end_line();
        }
        return explanation.labels;
    }

 private:
    static k8s_sd::ScrapeConfig find_job(const Options& options) {
        k8s_sd::ScrapeConfigOptions how;
        how.dialect = options.rules.dialect;
        how.prometheus_version = options.prometheus_version;
        how.variables = cli::process_variables();
        const auto file = k8s_sd::load_scrape_configs(options.config_file, how);
        std::string names;
        for (const k8s_sd::ScrapeJob& job : file.jobs) {
            if (job.scrape.job_name == options.job) return job.scrape;
            names += (names.empty() ? "" : ", ") + job.scrape.job_name;
        }
        for (const k8s_sd::ScrapeConfigFailure& failure : file.failures) {
            if (failure.job != options.job) continue;
            throw cli::Unusable(failure.where + ": " + failure.message);
        }
        throw cli::Unusable(options.config_file + ": there is no job " + options.job +
                            (names.empty() ? "" : "; there are " + names));
    }

    k8s_sd::TargetBuilder builder_;
};

void explain(Machine& machine, Input& input, LineWriter& out) {
    std::size_t number = 0;
    input.read([&](const k8s_sd::LabelMap& map) {
        const MaybeLabels result = machine.explain(map, ++number, out);
        out << "  result: ";
        write_result(out, result);
        out.end_line();
    });
}

void apply(Machine& machine, Input& input, LineWriter& out) {
    const char* separator = "[";
    input.read([&](const k8s_sd::LabelMap& map) {
        if (input.is_array()) out << separator;
        separator = ",";
        write_result(out, machine.apply(map));
        if (!input.is_array()) out.end_line();
    });
    if (!input.is_array()) return;
    out << (*separator == '[' ? "[]" : "]");
    out.end_line();
}

std::unique_ptr<Machine> make_machine(const Options& options) {
    if (options.config_file.empty()) return std::make_unique<Rules>(options);
    return std::make_unique<Targets>(options);
}

cli::ExitStatus run(const Options& options) {
    check(options);
    const std::unique_ptr<Machine> machine = make_machine(options);
    Input input(std::cin);
    LineWriter out;
    if (options.explain) {
        explain(*machine, input, out);
    } else {
        apply(*machine, input, out);
    }
    return cli::exit_fine;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    return cli::run_program(command_line(options), argc, argv, [&] { return run(options); });
}
