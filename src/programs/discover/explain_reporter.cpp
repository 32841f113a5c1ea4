#include "cli/json_text.hpp"
#include "cli/option_values.hpp"
#include "cli/terminal.hpp"
#include "k8s_sd/labels.hpp"
#include "k8s_sd/target_groups.hpp"
#include "reporter.hpp"
#include "shown_labels.hpp"
#include "target_pairs.hpp"
#include "text_labels.hpp"

#include <unistd.h>
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace discover {

namespace {

using cli::counted;
using cli::printable;
using cli::StyledLine;
using cli::Tone;
using k8s_sd::Kind;
using k8s_sd::LabelMap;
using k8s_sd::LabelOrigin;
using k8s_sd::TargetGroup;

constexpr std::string_view port_protocol = "__meta_kubernetes_pod_container_port_protocol";

/// "Pod shop/web-1": the source object of a target's label.
class Objects {
 public:
    Objects(k8s_sd::Role role, const TargetGroup& group) : role_(role), group_(group) {}

    std::string name(Kind kind, const LabelMap& target) const {
        const std::string_view source = group_.source();
        if (kind == main_kind(role_)) return std::string(source.substr(source.find('/') + 1));
        const std::string name = value(target, name_label(kind));
        std::string ns = value(target, kind == Kind::gateway ? "gateway_namespace" : "namespace");
        if (kind == Kind::namespace_) return ns;
        return name.empty() || kind == Kind::node ? name : ns + "/" + name;
    }

 private:
    /// The label with the name of the object, if it is not the group's own object.
    static std::string_view name_label(Kind kind) {
        switch (kind) {
            case Kind::node: return "node_name";
            case Kind::pod: return "pod_name";
            case Kind::service: return "service_name";
            case Kind::gateway: return "gateway_name";
            case Kind::replicaset:
            case Kind::job: return "pod_controller_name";
            default: return "namespace";
        }
    }
    static std::string value(const LabelMap& labels, std::string_view name) {
        const auto it = labels.find("__meta_kubernetes_" + std::string(name));
        return it == labels.end() ? "" : it->second;
    }

    k8s_sd::Role role_;
    const TargetGroup& group_;
};

/// Explains the origin of each label of one object's targets.
class ExplainReporter final : public Reporter {
 public:
    ExplainReporter(LineWriter& out, const Options& options)
        : out_(out), options_(options), terminal_(STDOUT_FILENO, options.colours) {}

    void diff(unsigned job, const k8s_sd::TargetGroupDiff& diff) override {
        if (job == 0) groups_.apply(diff);
    }

    void synced() override {
        const TargetGroup& group = find();
        const Objects objects(options_.config.role, group);
        if (options_.output == Output::json) {
            print_json(group, objects);
        } else {
            print_text(group, objects);
        }
    }

 private:
    const TargetGroup& find() const {
        std::vector<std::string> sources;
        const TargetGroup* found = nullptr;
        groups_.for_each_group([&](const k8s_sd::TargetGroupPtr& group) {
            if (group->source() == options_.explain) found = group.get();
            sources.emplace_back(group->source());
        });
        if (found) return *found;
        std::string text =
            "--explain: nothing with targets is called " + printable(options_.explain, 300) + "; ";
        const std::vector<std::string> near = cli::nearest(options_.explain, sources, 3);
        text += near.empty() ? "there are no targets at all" : "the nearest are ";
        for (const std::string& source : near) {
            text += (&source == &near.front() ? "" : ", ") + printable(source, 300);
        }
        throw cli::Unusable(text);
    }

    /// \param labels  labels of the target
    std::optional<LabelOrigin> origin(const std::string& label, const LabelMap& labels) const {
        const bool of_port = label == "__address__" || label == port_protocol;
        const bool from_pod = of_port && is_further_port(labels);
        auto from =
            k8s_sd::label_origin(label, from_pod ? k8s_sd::Role::pod : options_.config.role,
                                 options_.config.dialect, options_.config.prometheus_version);
        const auto init = labels.find("__meta_kubernetes_pod_container_init");
        if (from && init != labels.end() && init->second == "true") {
            replace(from->field, "spec.containers", "spec.initContainers");
            replace(from->field, "status.containerStatuses", "status.initContainerStatuses");
        }
        return from;
    }
    /// Whether the target is a port of an endpoint's pod, without an endpoint of its own.
    static bool is_further_port(const LabelMap& labels) {
        const auto has = [&](const char* name) {
            return labels.contains("__meta_kubernetes_" + std::string(name));
        };
        return (has("endpoints_name") || has("endpointslice_name")) &&
               has("pod_container_port_number") && !has("endpoint_ready") &&
               !has("endpointslice_endpoint_conditions_ready") && !has("endpointslice_port");
    }
    static void replace(std::string& text, std::string_view what, std::string_view by) {
        const std::size_t place = text.find(what);
        if (place != std::string::npos) text.replace(place, what.size(), by);
    }

    void print_json(const TargetGroup& group, const Objects& objects) {
        out_ << "{\"source\":";
        write_json(out_, group.source());
        out_ << ",\"role\":";
        write_json(out_, to_string(options_.config.role));
        out_ << ",\"targets\":[";
        for (std::size_t i = 0; i < group.size(); ++i) {
            const LabelMap labels = group.merged(i);
            const char* separator = i == 0 ? "{" : ",{";
            for (const auto& [name, value] : labels) {
                out_ << separator;
                write_json(out_, name);
                out_ << ":{\"value\":";
                write_json(out_, value);
                if (const auto from = origin(name, labels)) write_origin(*from, objects, labels);
                out_ << "}";
                separator = ",";
            }
            out_ << "}";
        }
        out_ << "]}";
        out_.end_line();
    }
    void write_origin(const LabelOrigin& from, const Objects& objects, const LabelMap& labels) {
        out_ << ",\"kind\":";
        write_json(out_, resource_of(from.kind).kind);
        out_ << ",\"object\":";
        write_json(out_, objects.name(from.kind, labels));
        out_ << ",\"field\":";
        write_json(out_, from.field);
    }

    void print_text(const TargetGroup& group, const Objects& objects) {
        line(StyledLine()
                 .add(printable(group.source(), 300), Tone::heading)
                 .add(": " + counted(group.size(), "target") + " of role " +
                      std::string(to_string(options_.config.role))));
        line(StyledLine().add("Labels of all of them:", Tone::heading));
        print_labels(group_labels(group), group.merged(0), objects);
        for (std::size_t i = 0; i < group.size(); ++i) {
            line(
                StyledLine().add("Target " + printable(address_of(group, i)) + ":", Tone::heading));
            print_labels(target_labels(group, i), group.merged(i), objects);
        }
    }

    /// \param all  all labels of the target, including the names of objects
    void print_labels(const LabelMap& labels, const LabelMap& all, const Objects& objects) {
        constexpr std::size_t widest = 70;
        std::size_t column = 0;
        for (const auto& [name, value] : labels) {
            const std::size_t length = cli::columns(label_text(name, value));
            if (length <= widest) column = std::max(column, length);
        }
        for (const auto& [name, value] : labels) {
            std::string text = label_text(name, value);
            StyledLine label;
            label.add("  " + text);
            const auto from = origin(name, all);
            if (!from) {
                line(label);
                continue;
            }
            const std::string object = std::string(resource_of(from->kind).kind) + " " +
                                       printable(objects.name(from->kind, all), 300);
            const std::size_t space = column + 2 - std::min(column, cli::columns(text));
            const std::size_t needed =
                4 + std::max(column, cli::columns(text)) + object.size() + 2 + from->field.size();
            // Text too wide for the label's line is printed below it.
            if (terminal_.width() > 0 && needed > terminal_.width()) {
                line(label);
                label = StyledLine().add("      ");
            } else {
                label.add(std::string(space, ' '));
            }
            line(label.add(object, Tone::note).add("  " + printable(from->field, 300)));
        }
    }
    static std::string label_text(const std::string& name, const std::string& value) {
        return printable(name, 300) + " = \"" + printable(value, 200) + "\"";
    }

    void line(const StyledLine& text) {
        out_ << terminal_.whole(text);
        out_.end_line();
    }

    LineWriter& out_;
    const Options& options_;
    cli::Terminal terminal_;
    k8s_sd::TargetGroups groups_;
};

}  // namespace

std::unique_ptr<Reporter> make_explain_reporter(LineWriter& out, const Options& options) {
    return std::make_unique<ExplainReporter>(out, options);
}

}  // namespace discover
