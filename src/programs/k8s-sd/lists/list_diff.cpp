#include "lists/list_diff.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace k8s_sd_program {

namespace {

constexpr std::string_view before_targets = R"({"targets":[)";
constexpr std::string_view before_labels = R"(],"labels":)";

/// The position after a JSON string.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
    std::size_t end = begin + 1;
    while (text[end] != '"') end += text[end] == '\\' ? 2U : 1U;
    return end + 1;
}

/// A group of a list: a line, parsed lazily.
class Group {
 public:
    explicit Group(std::string_view line) : line_(line), at_(before_targets.size()) {
        std::size_t end = end_of_string(line, at_);
        while (line[end] == ',') end = end_of_string(line, end + 1);
        end_of_targets_ = end;
    }

    std::string_view labels() const {
        std::string_view labels = line_.substr(end_of_targets_ + before_labels.size());
        labels.remove_suffix(1);
        return labels;
    }
    /// The next target, a JSON string; empty: none is left.
    std::string_view target() const {
        if (at_ >= end_of_targets_) return {};
        return line_.substr(at_, end_of_string(line_, at_) - at_);
    }
    void next_target() { at_ = end_of_string(line_, at_) + 1; }

 private:
    std::string_view line_;
    std::size_t at_;
    std::size_t end_of_targets_ = 0;
};

/// The groups of a list, one a line.
class Groups {
 public:
    explicit Groups(std::string_view body) : rest_(body) {
        next();  // the bracket
    }
    /// Empty: no group is left.
    std::string_view line() const { return line_; }
    void next() {
        const std::size_t end = std::min(rest_.find('\n'), rest_.size());
        line_ = {};
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        if (!rest_.starts_with('{')) return;
        line_ = rest_.substr(0, rest_.find('\n'));
        if (line_.ends_with(',')) line_.remove_suffix(1);
    }

 private:
    std::string_view rest_;
    std::string_view line_;
};

/// A list under construction, in the order of its targets.
class Side {
 public:
    void add(std::string_view target, std::string_view labels) {
        if (text_.size() > 1 && labels == labels_) {
            text_ += ',';
        } else {
            end_group();
            text_ += text_.size() > 1 ? "," : "";
            text_ += before_targets;
            labels_ = labels;
        }
        text_ += target;
    }
    void add_all(Group group) {
        for (; !group.target().empty(); group.next_target()) add(group.target(), group.labels());
    }
    std::string finish() && {
        end_group();
        return std::move(text_) + ']';
    }

 private:
    void end_group() {
        if (text_.size() > 1) text_.append(before_labels).append(labels_) += '}';
    }

    std::string text_ = "[";
    std::string_view labels_;
};

/// Compares two groups with equal labels.
void compare(Group from, Group to, Side& removed, Side& added) {
    while (!from.target().empty() || !to.target().empty()) {
        const std::string_view a = from.target();
        const std::string_view b = to.target();
        if (a == b) {
            from.next_target();
            to.next_target();
        } else if (b.empty() || (!a.empty() && a < b)) {
            removed.add(a, from.labels());
            from.next_target();
        } else {
            added.add(b, to.labels());
            to.next_target();
        }
    }
}

}  // namespace

ListDiff diff_of(std::string_view from, std::string_view to) {
    Side removed;
    Side added;
    Groups before(from);
    Groups now(to);
    while (!before.line().empty() || !now.line().empty()) {
        if (before.line() == now.line()) {
            before.next();
            now.next();
        } else if (now.line().empty()) {
            removed.add_all(Group(before.line()));
            before.next();
        } else if (before.line().empty()) {
            added.add_all(Group(now.line()));
            now.next();
        } else {
            const Group a(before.line());
            const Group b(now.line());
            const int order = a.labels().compare(b.labels());
            if (order < 0) removed.add_all(a);
            if (order > 0) added.add_all(b);
            if (order == 0) compare(a, b, removed, added);
            if (order <= 0) before.next();
            if (order >= 0) now.next();
        }
    }
    return {std::move(removed).finish(), std::move(added).finish()};
}

}  // namespace k8s_sd_program
