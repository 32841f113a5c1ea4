#include "table/target_page.hpp"

#include "lists/selection.hpp"
#include "table/target_json.hpp"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

namespace bridge {

namespace {

constexpr std::size_t facet_values = 20;

std::string hex(std::string_view text) {
    constexpr char digits[] = "0123456789abcdef";
    std::string result;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        result += digits[byte >> 4U];
        result += digits[byte & 0xFU];
    }
    return result;
}

[[noreturn]] void refuse_cursor() {
    throw BadRequest("this cursor is none that an answer had in \"next\"");
}

template <class Number>
Number read_hex(std::string_view digits) {
    Number number{};
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
    if (error != std::errc{} || end != digits.data() + digits.size()) refuse_cursor();
    return number;
}

std::string unhex(std::string_view digits) {
    if (digits.size() % 2 != 0) refuse_cursor();
    std::string text;
    for (std::size_t i = 0; i < digits.size(); i += 2) {
        text += static_cast<char>(read_hex<unsigned char>(digits.substr(i, 2)));
    }
    return text;
}

}  // namespace

std::string TargetCursor::text() const {
    return id_text(position.id) + "." + std::to_string(equal) + "." + hex(job) + "." +
           hex(position.address);
}

TargetCursor read_cursor(std::string_view text) {
    std::vector<std::string_view> parts;
    while (parts.size() < 3) {
        const std::size_t dot = text.find('.');
        if (dot == text.npos) refuse_cursor();
        parts.push_back(text.substr(0, dot));
        text.remove_prefix(dot + 1);
    }
    TargetCursor cursor;
    cursor.position = {unhex(text), read_hex<std::uint64_t>(parts[0])};
    cursor.job = unhex(parts[2]);
    const auto [end, error] =
        std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), cursor.equal);
    if (error != std::errc{} || end != parts[1].data() + parts[1].size()) refuse_cursor();
    return cursor;
}

bool TargetFilter::matches(const TargetRow& row, const TargetTable& table) const {
    return (states.empty() || states.contains(row.state)) && (!ns || row.ns == *ns) &&
           (!node || row.node == *node) && (!reason || table.reason(row) == *reason) &&
           query.matches(row, table);
}

bool TargetPage::read(const std::string& job, const TargetTable& table, std::size_t rows) {
    if (reading_ != job) reader_ = {};
    reading_ = job;
    return reader_.read(table, rows, [&](const TargetRow& row, std::size_t number) {
        if (request_.filter.matches(row, table)) take(job, table, row, number);
        return true;
    });
}

/// Whether it is on a page before this one.
bool TargetPage::is_shown_before(const std::string& job, const TargetRow& row,
                                 std::size_t number) const {
    if (!request_.after) return false;
    const TargetCursor& after = *request_.after;
    if (job != after.job) return job < after.job;
    if (OrderOfRows()(after.position, row)) return false;
    return OrderOfRows()(row, after.position) || number <= after.equal;
}

void TargetPage::take(const std::string& job, const TargetTable& table, const TargetRow& row,
                      std::size_t number) {
    ++total_;
    if (request_.facets) {
        count(states_, to_string(row.state));
        count(jobs_, job);
        if (!row.ns.empty()) count(namespaces_, row.ns);
        if (!row.node.empty()) count(nodes_, row.node);
        if (row.state != TargetState::active) count(reasons_, table.reason(row));
    }
    if (more_ || is_shown_before(job, row, number)) return;
    if (shown_ == request_.limit) {
        more_ = true;
    } else {
        write_row(json_, table, row);
        ++shown_;
        last_ = {job, {std::string(row.address), row.id}, static_cast<std::uint32_t>(number)};
    }
}

void TargetPage::count(Facet& facet, std::string_view value) {
    const auto known = facet.values.find(value, Hash(), std::equal_to<>());
    if (known != facet.values.end()) {
        ++known->second;
    } else if (facet.values.size() < max_values) {
        facet.values.emplace(value, 1);
    }
}

std::string TargetPage::text() const {
    std::string text;
    JsonWriter json(text);
    json.begin('{').member("total", total_).name("rows").begin('[').raw(rows_).end(']');
    json.name("next");
    more_ ? json.value(last_.text()) : json.null();
    if (missing_ != 0) json.member("building", missing_);
    if (request_.facets) {
        json.name("facets").begin('{');
        for (const Facet* facet : {&states_, &jobs_, &namespaces_, &nodes_, &reasons_}) {
            std::vector<std::pair<std::string_view, std::size_t>> values(facet->values.begin(),
                                                                         facet->values.end());
            std::sort(values.begin(), values.end(), [](const auto& a, const auto& b) {
                return a.second != b.second ? a.second > b.second : a.first < b.first;
            });
            if (values.size() > facet_values) values.resize(facet_values);
            json.name(facet->name).begin('[');
            for (const auto& [value, number] : values) {
                json.begin('{').member("value", value).member("count", number).end('}');
            }
            json.end(']');
        }
        json.end('}');
    }
    json.end('}');
    return text;
}

}  // namespace bridge
