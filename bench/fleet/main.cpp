// The behaviour of a fleet when members join, leave, crash or lose the API server: N members of the
// library in one process, in virtual time, against a simulated server, beside models of other
// projects under the same events. See docs/internals/benchmarks.md and
// docs/internals/fleet-benchmark.md.

#include "cluster.hpp"
#include "course.hpp"
#include "measure.hpp"
#include "plan.hpp"
#include "table.hpp"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace bench;

struct Options {
    std::size_t targets = 100'000;
    std::vector<unsigned> members{1, 2, 4, 8, 100, 1000};
    bool markdown = false;
    std::string series;  ///< a file for plots; empty: none
};

using Model = Outcome (*)(const Plan&, const Pace&, std::size_t targets);
constexpr Model models[] = {model_of_vmagent, model_of_alloy, model_of_prometheus_operator,
                            model_of_target_allocator};

void print(const Options& options, const Table& table) {
    std::cout << (options.markdown ? table.markdown() : table.text()) << std::flush;
}

// --- scenarios ----------------------------------------------------------------------------------

/// The library with each discovery of members, then the models.
using Outcomes = std::vector<Outcome>;
constexpr const char* columns[] = {"slices", "Leases",         "vmagent",
                                   "Alloy",  "prom.-operator", "Target Alloc."};

Outcomes outcomes_of(const Plan& plan, std::size_t targets) {
    Outcomes all;
    for (const Provider provider : {Provider::slices, Provider::leases}) {
        all.push_back(in_process([&] {
            FleetCluster fleet(plan, {}, targets, Discovery::watches, provider);
            fleet.start();
            return fleet.run();
        }));
    }
    // The models assign one owner to each target.
    for (const Model model : models)
        all.push_back(plan.replicas == 1 ? model(plan, {}, targets) : Outcome{-1, -1, -1, -1});
    return all;
}

void print_scenarios(const Options& options, std::ostream& series) {
    Table plan_table{"The scenarios", {"scenario", "what happens"}, {}};
    std::vector<std::string> header{"scenario"};
    for (const char* column : columns) header.emplace_back(column);
    Table gaps{"Longest time without an owner, of any target, in seconds", header, {}};
    Table means{"Time without an owner, mean of all targets, in seconds", header, {}};
    Table doubles{"Time with more owners than wanted, mean of all targets, in seconds", header, {}};
    Table moved{"Targets that somebody began to scrape, in % of all", header, {}};
    const auto all = static_cast<double>(options.targets);
    for (const Plan& plan : plans()) {
        const Outcomes outcomes = outcomes_of(plan, options.targets);
        const auto add = [&](Table& table, int digits, double (*value)(const Outcome&, double)) {
            std::vector<std::string> row{plan.name};
            for (const Outcome& outcome : outcomes)
                row.push_back(decimal(value(outcome, all), digits));
            table.rows.push_back(std::move(row));
        };
        plan_table.rows.push_back({plan.name, plan.text});
        add(gaps, 0, [](const Outcome& o, double) { return o.max_gap; });
        add(means, 1, [](const Outcome& o, double n) { return o.gap_seconds / n; });
        add(doubles, 1, [](const Outcome& o, double n) { return o.double_seconds / n; });
        add(moved, 1, [](const Outcome& o, double n) { return 100 * o.moved / n; });
        for (std::size_t i = 0; i < outcomes.size(); ++i) {
            series << "gap\t" << plan.name << '\t' << columns[i] << '\t' << outcomes[i].max_gap
                   << '\n';
        }
        std::cerr << plan.name << std::endl;
    }
    for (const Table& table : {plan_table, gaps, means, doubles, moved}) print(options, table);
}

// --- size ---------------------------------------------------------------------------------------

/// A fleet of one size.
struct Sized {
    Costs start, run;
    Outcome outcome;
};

/// Limits the number of targets, so that views of large fleets are computed in reasonable time.
std::size_t targets_of(const Options& options, unsigned members) {
    return members < 500 ? options.targets : std::min<std::size_t>(options.targets, 20'000);
}

Discovery discovery_of(unsigned members) {
    return members < 50 ? Discovery::watches : Discovery::source;
}

Sized measure(unsigned members, std::size_t targets) {
    return in_process([&] {
        Sized sized;
        FleetCluster fleet(small_plan(members), {}, targets, discovery_of(members));
        sized.start = fleet.start();
        sized.outcome = fleet.run();
        sized.run = fleet.costs();
        return sized;
    });
}

void print_sizes(const Options& options, std::ostream& series) {
    Table fleet{"One joins, and five minutes later one crashes",
                {"members", "targets", "longest gap, s", "moved, % of all", "least possible, %",
                 "more than that, %"},
                {}};
    Table server{"What the server is asked",
                 {"members", "discovery", "start: requests", "lists", "bytes",
                  "10 minutes: requests", "lists", "bytes"},
                 {}};
    Table member{
        "What a member costs",
        {"members", "targets", "of its own", "memory, MB", "start: CPU, s", "10 minutes: CPU, s"},
        {}};
    for (const unsigned members : options.members) {
        const std::size_t targets = targets_of(options, members);
        const Sized sized = measure(members, targets);
        const auto all = static_cast<double>(targets);
        const auto many = static_cast<double>(members);
        const double moved = 100 * sized.outcome.moved / all;
        // The minimum: one share each to the joining member, from the crashing one, and back.
        const double least = 100 * 3 / (many + 1);
        const auto number = [](std::uint64_t value) { return rounded(static_cast<double>(value)); };
        const std::string name = std::to_string(members);
        const bool watches = discovery_of(members) == Discovery::watches;
        fleet.rows.push_back({name, number(targets), decimal(sized.outcome.max_gap, 1),
                              decimal(moved, 2), decimal(least, 2),
                              decimal(std::max(0.0, 100 * (moved / least - 1)), 1)});
        server.rows.push_back({name, watches ? "watches" : "none", number(sized.start.requests),
                               number(sized.start.lists), number(sized.start.bytes),
                               number(sized.run.requests), number(sized.run.lists),
                               number(sized.run.bytes)});
        member.rows.push_back({name, number(targets), number(targets / members),
                               decimal(sized.start.memory / many / 1e6, 1),
                               decimal(sized.start.cpu / many, 3),
                               decimal(sized.run.cpu / many, 3)});
        series << "size\t" << members << '\t' << sized.start.memory / many << '\t'
               << static_cast<double>(sized.start.bytes) / many << '\t' << sized.start.bytes << '\t'
               << sized.run.bytes << '\t' << watches << '\n';
        std::cerr << members << " members" << std::endl;
    }
    for (const Table& table : {fleet, server, member}) print(options, table);
}

// --- command line -------------------------------------------------------------------------------

constexpr const char* usage =
    "usage: bench_fleet [--targets N] [--members N,N...] [--markdown] [--series FILE]\n"
    "    --targets   targets of a fleet (100000); fleets of 500 and more have 20000\n"
    "    --members   fleet sizes (1,2,4,8,100,1000)\n"
    "    --markdown  tables as in docs/internals/fleet-benchmark.md\n"
    "    --series    also writes the numbers of the plots to this file\n";

std::vector<unsigned> numbers_of(const std::string& text) {
    std::vector<unsigned> numbers;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, ',');)
        numbers.push_back(static_cast<unsigned>(std::stoul(part)));
    return numbers;
}

Options read(const std::vector<std::string>& arguments) {
    Options options;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& name = arguments[i];
        if (name == "--markdown") {
            options.markdown = true;
            continue;
        }
        if (i + 1 == arguments.size()) throw std::invalid_argument(name);
        const std::string& value = arguments[++i];
        if (name == "--targets") {
            options.targets = std::stoul(value);
        } else if (name == "--members") {
            options.members = numbers_of(value);
        } else if (name == "--series") {
            options.series = value;
        } else {
            throw std::invalid_argument(name);
        }
    }
    return options;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    try {
        options = read({argv + 1, argv + argc});
    } catch (const std::logic_error&) {
        std::cout << usage;
        return argc == 2 && std::string_view(argv[1]) == "--help" ? 0 : 2;
    }
    std::ofstream series(options.series);
    print_scenarios(options, series);
    print_sizes(options, series);
    return 0;
}
