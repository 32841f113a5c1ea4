#include "answer.hpp"

#include "cli/json_text.hpp"
#include "cli/terminal_text.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <algorithm>
#include <cstddef>

namespace kubectl_sd {

namespace json = boost::json;

namespace {

using Row = std::vector<std::string>;

std::string text_at(const json::object& object, std::string_view name) {
    const json::value* value = object.if_contains(name);
    const json::string* text = value ? value->if_string() : nullptr;
    return text ? cli::printable(std::string_view(*text), 400) : std::string();
}

/// As kubectl prints a missing value.
std::string or_none(std::string text) { return text.empty() ? "<none>" : text; }

Row row_of(const json::object& target, bool wide) {
    const std::string state = text_at(target, "state");
    const std::string url = text_at(target, "url");
    Row row{or_none(text_at(target, "cluster")), or_none(text_at(target, "job")),
            or_none(text_at(target, "object")),
            or_none(url.empty() ? text_at(target, "address") : url),
            state == "active" ? "yes" : "no"};
    if (wide) row.push_back(or_none(text_at(target, "node")));
    row.push_back(state == "active" ? "" : or_none(text_at(target, "reason")));
    return row;
}

bool are_several(const std::vector<ClusterAnswer>& answers) {
    return !answers.empty() && !answers.front().cluster.empty();
}

Row heading(bool wide) {
    Row row{"CLUSTER", "JOB", "OBJECT", "TARGET", "SCRAPED"};
    if (wide) row.push_back("NODE");
    row.push_back("REASON");
    return row;
}

void append_yaml(std::string& out, const json::value& value, std::size_t indent);

void append_item(std::string& out, const json::value& value, std::size_t indent) {
    const json::object* object = value.if_object();
    const json::array* array = value.if_array();
    if ((object && !object->empty()) || (array && !array->empty())) {
        out += '\n';
        append_yaml(out, value, indent);
    } else {
        out += ' ' +
               (value.is_string() ? cli::json_string(std::string_view(value.get_string()))
                                  : json::serialize(value)) +
               '\n';
    }
}

void append_yaml(std::string& out, const json::value& value, std::size_t indent) {
    const std::string start(indent, ' ');
    if (const json::object* object = value.if_object()) {
        for (const auto& member : *object) {
            out += start + cli::json_string(std::string_view(member.key())) + ':';
            append_item(out, member.value(), indent + 2);
        }
    } else if (const json::array* array = value.if_array()) {
        for (const json::value& item : *array) {
            out += start + '-';
            append_item(out, item, indent + 2);
        }
    }
}

/// Why the job has no such target: its text, without the beginning that names the job.
std::string reason_of(const json::object& job) {
    const std::string text = text_at(job, "text");
    const std::string begin = "Not in job " + text_at(job, "job") + ": ";
    return text.starts_with(begin) ? text.substr(begin.size()) : text;
}

void add_rows(std::vector<Row>& rows, const json::value* targets, bool wide) {
    if (!targets || !targets->is_array()) return;
    for (const json::value& target : targets->get_array()) {
        if (const json::object* object = target.if_object()) rows.push_back(row_of(*object, wide));
    }
}

void add_jobs(std::vector<Row>& rows, const json::object& answer, bool wide) {
    const json::value* jobs = answer.if_contains("jobs");
    for (const json::value& item : jobs && jobs->is_array() ? jobs->get_array() : json::array()) {
        const json::object* job = item.if_object();
        if (!job) continue;
        const std::size_t before = rows.size();
        add_rows(rows, job->if_contains("in"), wide);
        add_rows(rows, job->if_contains("not"), wide);
        if (rows.size() > before) continue;
        Row row{"<none>", text_at(*job, "job"), "<none>", "<none>", "no"};
        if (wide) row.emplace_back("<none>");
        row.push_back(reason_of(*job));
        rows.push_back(std::move(row));
    }
}

/// The table with the rows of each cluster. Without names of clusters they have no column.
template <class AddRows>
std::string table_of(const std::vector<ClusterAnswer>& answers, bool wide, AddRows add) {
    std::vector<Row> rows{heading(wide)};
    bool has_clusters = are_several(answers);
    for (const ClusterAnswer& one : answers) {
        const std::size_t before = rows.size();
        add(rows, one);
        for (std::size_t i = before; i < rows.size(); ++i) {
            std::string& cluster = rows[i].front();
            if (cluster == "<none>" && !one.cluster.empty()) {
                cluster = cli::printable(one.cluster, 200);
            }
            has_clusters = has_clusters || cluster != "<none>";
        }
    }
    for (Row& row : rows) {
        if (!has_clusters) row.erase(row.begin());
    }
    return table_text(rows);
}

/// The object after a member with the name of the cluster, unless it has one: a configuration may
/// name its own server.
json::object with_cluster(const std::string& cluster, const json::object& object) {
    if (object.contains("cluster")) return object;
    json::object result{{"cluster", cluster}};
    for (const auto& member : object) result.emplace(member.key(), member.value());
    return result;
}

json::value why_json(const std::vector<ClusterAnswer>& answers) {
    if (!are_several(answers)) return answers.front().answer;
    json::array clusters;
    for (const ClusterAnswer& one : answers) {
        clusters.push_back(with_cluster(
            one.cluster, one.is_answered ? one.answer : json::object{{"error", one.error}}));
    }
    return json::object{{"clusters", std::move(clusters)}};
}

json::value targets_json(const std::vector<ClusterAnswer>& answers) {
    if (!are_several(answers)) return answers.front().rows;
    json::array rows;
    for (const ClusterAnswer& one : answers) {
        for (const json::value& row : one.rows) {
            if (row.is_object()) rows.push_back(with_cluster(one.cluster, row.get_object()));
        }
    }
    return rows;
}

}  // namespace

std::string table_text(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    for (const Row& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], cli::columns(row[i]));
        }
    }
    std::string text;
    for (const Row& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += row[i] + std::string(widths[i] + 3 - cli::columns(row[i]), ' ');
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    }
    return text;
}

std::string yaml_text(const json::value& value) {
    std::string text;
    append_yaml(text, value, 0);
    return text.empty() ? json::serialize(value) + '\n' : text;
}

std::string why_text(const std::vector<ClusterAnswer>& answers, Form form) {
    if (form == Form::json) return json::serialize(why_json(answers)) + '\n';
    if (form == Form::yaml) return yaml_text(why_json(answers));
    const bool wide = form == Form::wide;
    return table_of(answers, wide, [&](std::vector<Row>& rows, const ClusterAnswer& one) {
        add_jobs(rows, one.answer, wide);
    });
}

std::string targets_text(const std::vector<ClusterAnswer>& answers, Form form) {
    if (form == Form::json) return json::serialize(targets_json(answers)) + '\n';
    if (form == Form::yaml) return yaml_text(targets_json(answers));
    const bool wide = form == Form::wide;
    return table_of(answers, wide, [&](std::vector<Row>& rows, const ClusterAnswer& one) {
        const json::value targets(one.rows);
        add_rows(rows, &targets, wide);
    });
}

}  // namespace kubectl_sd
