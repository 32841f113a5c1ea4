#include "config_check.hpp"

#include "cli/terminal_text.hpp"
#include "collectors/collector_config.hpp"
#include "jobs/job_notes.hpp"
#include "jobs/job_yaml.hpp"

#include <ostream>
#include <string>
#include <vector>

namespace k8s_sd_program {

namespace {

void write_line(std::ostream& out, const std::string& text) {
    out << cli::printable(text, std::string::npos) << '\n';
}

void add_mistakes(const std::vector<k8s_sd::ScrapeConfigFailure>& failures,
                  std::vector<std::string>& mistakes) {
    for (const k8s_sd::ScrapeConfigFailure& failure : failures) {
        mistakes.push_back(failure.where + ": " + failure.message);
    }
}

void write_jobs(const k8s_sd::ScrapeConfigFile& file, const Options& options, std::ostream& out) {
    for (const k8s_sd::ScrapeJob& job : file.jobs) {
        write_line(out, "job " + job.scrape.job_name + ": " + in_words(job.discovery) + "; " +
                            cli::counted(job.scrape.relabel_configs.size(), "rule"));
    }
    std::vector<std::string> notes = notes_of(file);
    if (options.allocator.enabled()) collector_configs(file, false, notes);
    for (const std::string& note : notes) write_line(out, "note: " + note);
}

}  // namespace

cli::ExitStatus check_config(const Options& options, std::ostream& out, std::ostream& errors) {
    k8s_sd::ScrapeConfigFile file;
    std::vector<std::string> mistakes;
    try {
        bool wanted = true;
        if (options.monitors.enabled) monitors_config(options.monitors, wanted);
        if (!wanted) write_line(out, "note: prometheus_cr.enabled is not true: no monitors");
    } catch (const k8s_sd::ConfigError& e) {
        mistakes.emplace_back(e.what());
    }
    try {
        if (!options.config_file.empty()) {
            file = k8s_sd::load_scrape_configs(options.config_file, scrape_config_options(options));
            add_mistakes(file.failures, mistakes);
            check_lists_jobs(file, options.config_file);
        }
    } catch (const k8s_sd::ScrapeConfigError& e) {
        add_mistakes(e.failures(), mistakes);
    } catch (const k8s_sd::ConfigError& e) {
        mistakes.emplace_back(e.what());
    }
    write_jobs(file, options, out);
    for (const std::string& mistake : mistakes) write_line(errors, mistake);
    const std::string& checked =
        options.config_file.empty() ? options.monitors.file : options.config_file;
    write_line(out, checked + ": " + cli::counted(file.jobs.size(), "usable job") + ", " +
                        cli::counted(mistakes.size(), "mistake"));
    return mistakes.empty() ? cli::exit_fine : cli::exit_unusable;
}

}  // namespace k8s_sd_program
