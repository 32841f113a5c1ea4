#include "table/target_page.hpp"

#include "lists/list_selection.hpp"
#include "table/target_json.hpp"
#include "table/target_owners.hpp"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

namespace k8s_sd_program {

namespace {

constexpr std::size_t facet_values = 20;

std::string hex(std::string_view text) {
    constexpr char hex_digits[] = "0123456789abcdef";
    std::string result;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        result += hex_digits[byte >> 4U];
        result += hex_digits[byte & 0xFU];
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

bool TargetPage::read(const std::string& job, const TargetTable& table, const GoesOn& has_time) {
    if (reading_ != job) reader_ = {};
    reading_ = job;
    return reader_.read(table, has_time, [&](const TargetRow& row, std::size_t number) {
        examine(job, table, row, number);
        return true;
    });
}

TargetPage::RowValues TargetPage::values_of(Facet facet, const std::string& job,
                                            const TargetTable& table, const TargetRow& row) const {
    switch (facet) {
        case Facet::state: {
            const AllocationViewPtr& collectors = request_.filter.collectors;
            const bool unowned = collectors && row.state == TargetState::active &&
                                 collectors_of(row, *collectors).empty();
            return {to_string(row.state), unowned ? unowned_state : std::string_view()};
        }
        case Facet::job: return {job};
        case Facet::ns: return {cut(row.ns)};
        case Facet::node: return {cut(row.node)};
        default: return {cut(table.reason(row))};
    }
}

/// A facet counts the rows matching the query and the other facets, so that more of its values can
/// be selected.
void TargetPage::examine(const std::string& job, const TargetTable& table, const TargetRow& row,
                         std::size_t number) {
    std::array<RowValues, facet_count> values;
    std::size_t misses = 0, missed = 0;
    for (std::size_t i = 0; i < facet_count; ++i) {
        const auto& wanted = request_.filter.wanted[i];
        if (wanted.empty() && !request_.facets) continue;
        values[i] = values_of(static_cast<Facet>(i), job, table, row);
        const bool fits = std::any_of(values[i].begin(), values[i].end(), [&](auto value) {
            return !value.empty() && wanted.contains(value);
        });
        if (wanted.empty() || fits) continue;
        missed = i;
        if (++misses > (request_.facets ? 1 : 0)) return;
    }
    if (!request_.filter.query.matches(row, table)) return;
    if (misses != 0) return count(counts_[missed], values[missed]);
    ++total_;
    if (request_.facets) {
        for (std::size_t i = 0; i < facet_count; ++i) count(counts_[i], values[i]);
    }
    if (!more_ && !is_shown_before(job, row, number)) show(job, table, row, number);
}

/// Whether the row is on an earlier page.
bool TargetPage::is_shown_before(const std::string& job, const TargetRow& row,
                                 std::size_t number) const {
    if (!request_.after) return false;
    const TargetCursor& after = *request_.after;
    if (job != after.job) return job < after.job;
    if (OrderOfRows()(after.position, row)) return false;
    return OrderOfRows()(row, after.position) || number <= after.equal;
}

void TargetPage::show(const std::string& job, const TargetTable& table, const TargetRow& row,
                      std::size_t number) {
    more_ = shown_ == request_.limit;
    if (more_) return;
    std::string text;
    JsonWriter json(text);
    write_row(json, table, row);
    more_ = shown_ != 0 && rows_.size() + text.size() > max_bytes;
    if (more_) return;
    if (shown_++ != 0) rows_ += ',';
    rows_ += text;
    last_ = {job, {std::string(row.address), row.id}, static_cast<std::uint32_t>(number)};
}

void TargetPage::count(Counts& counts, const RowValues& values) const {
    for (const std::string_view value : values) {
        if (value.empty()) continue;
        const auto known = counts.find(value, Hash(), std::equal_to<>());
        if (known != counts.end()) {
            ++known->second;
        } else if (counts.size() < max_values) {
            counts.emplace(value, 1);
        }
    }
}

void TargetPage::write_facets(JsonWriter& json) const {
    json.name("facets").begin('{');
    for (std::size_t i = 0; i < facet_count; ++i) {
        std::vector<std::pair<std::string_view, std::size_t>> values(counts_[i].begin(),
                                                                     counts_[i].end());
        std::sort(values.begin(), values.end(), [](const auto& a, const auto& b) {
            return a.second != b.second ? a.second > b.second : a.first < b.first;
        });
        if (values.size() > facet_values) values.resize(facet_values);
        json.name(to_string(static_cast<Facet>(i))).begin('[');
        for (const auto& [value, number] : values) {
            json.begin('{').member("value", value).member("count", number).end('}');
        }
        json.end(']');
    }
    json.end('}');
}

std::string TargetPage::text(bool all) const {
    std::string text;
    JsonWriter json(text);
    json.begin('{').member("total", total_).name("rows").begin('[').raw(rows_).end(']');
    json.name("next");
    more_ ? json.value(last_.text()) : json.null();
    json.member("complete", all && has_all_groups());
    if (missing_ != 0) json.member("building", missing_);
    if (request_.facets) write_facets(json);
    json.end('}');
    return text;
}

}  // namespace k8s_sd_program
