#include "k8s_sd/detail/monitors/byte_size.hpp"
#include "k8s_sd/detail/monitors/object_view.hpp"
#include "k8s_sd/detail/text/printable.hpp"

#include <algorithm>

namespace k8s_sd::inline v0::detail {

namespace {

std::string_view text_view(const boost::json::string& text) { return {text.data(), text.size()}; }

}  // namespace

void ObjectView::refuse(std::string_view problem, std::string remedy) const {
    const std::string at = path();
    faults_->add(at + (at.empty() ? "" : ": ") + printable(problem), std::move(remedy));
}

void ObjectView::wrong_type(std::string_view wanted) const {
    refuse("must be " + std::string(wanted), "correct the type of the field");
}

std::string ObjectView::path() const {
    if (!key_) return around_;
    std::string path = around_;
    if (!path.empty()) path += '.';
    return path += printable(*key_);
}

const boost::json::value* ObjectView::member(std::string_view key) const {
    if (is_absent()) return nullptr;
    const boost::json::object* object = value_->if_object();
    if (object == nullptr) {
        wrong_type("an object");
        return nullptr;
    }
    const boost::json::value* found = object->if_contains(key);
    return found == nullptr || found->is_null() ? nullptr : found;
}

ObjectView ObjectView::operator[](std::string_view key) const {
    return {member(key), path(), key, *faults_};
}

std::vector<ObjectView> ObjectView::items() const {
    std::vector<ObjectView> result;
    if (is_absent()) return result;
    const boost::json::array* list = value_->if_array();
    if (list == nullptr) {
        wrong_type("a list");
        return result;
    }
    result.reserve(list->size());
    const std::string at = path();
    for (std::size_t i = 0; i < list->size(); ++i) {
        result.push_back({&(*list)[i], at + "[" + std::to_string(i) + "]", *faults_});
    }
    return result;
}

std::vector<std::pair<std::string_view, ObjectView>> ObjectView::members() const {
    std::vector<std::pair<std::string_view, ObjectView>> result;
    if (is_absent()) return result;
    const boost::json::object* object = value_->if_object();
    if (object == nullptr) {
        wrong_type("an object");
        return result;
    }
    const std::string at = path();
    for (const auto& [key, value] : *object) {
        if (value.is_null()) continue;
        const std::string_view name(key.data(), key.size());
        result.emplace_back(name, ObjectView(&value, at, name, *faults_));
    }
    std::sort(result.begin(), result.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    return result;
}

bool ObjectView::is_empty_object() const { return members().empty(); }

std::optional<std::string_view> ObjectView::as_text() const {
    if (is_absent()) return std::nullopt;
    const boost::json::string* text = value_->if_string();
    if (text == nullptr) {
        wrong_type("a text");
        return std::nullopt;
    }
    return text_view(*text);
}

std::optional<bool> ObjectView::as_flag() const {
    if (is_absent()) return std::nullopt;
    const bool* flag = value_->if_bool();
    if (flag == nullptr) {
        wrong_type("true or false");
        return std::nullopt;
    }
    return *flag;
}

std::optional<std::uint64_t> ObjectView::as_number() const {
    if (is_absent()) return std::nullopt;
    if (const std::uint64_t* number = value_->if_uint64()) return *number;
    const std::int64_t* number = value_->if_int64();
    if (number == nullptr || *number < 0) {
        wrong_type("a whole number, not below 0");
        return std::nullopt;
    }
    return static_cast<std::uint64_t>(*number);
}

std::optional<double> ObjectView::as_quantity() const {
    if (is_absent()) return std::nullopt;
    if (value_->is_number()) return value_->to_number<double>();
    const std::optional<double> number = parse_quantity(as_text().value_or(""));
    if (!number) wrong_type("a quantity, such as \"1.2\"");
    return number;
}

std::optional<std::int32_t> ObjectView::as_integer() const {
    if (is_absent()) return std::nullopt;
    const std::int64_t* number = value_->if_int64();
    if (number == nullptr || *number != static_cast<std::int32_t>(*number)) {
        wrong_type("a number of 32 bits");
        return std::nullopt;
    }
    return static_cast<std::int32_t>(*number);
}

std::vector<std::string> ObjectView::as_texts() const {
    std::vector<std::string> result;
    if (is_absent()) return result;
    const boost::json::array* list = value_->if_array();
    if (list == nullptr) {
        wrong_type("a list");
        return result;
    }
    result.reserve(list->size());
    for (const boost::json::value& item : *list) {
        const boost::json::string* text = item.if_string();
        if (text == nullptr && !item.is_null()) {
            const std::string at = path() + "[" + std::to_string(result.size()) + "]";
            ObjectView(&item, at, *faults_).wrong_type("a text");
        }
        result.emplace_back(text != nullptr ? text_view(*text) : std::string_view());
    }
    return result;
}

std::optional<bool> ObjectView::flag(std::string_view key) const {
    return member(key) != nullptr ? (*this)[key].as_flag() : std::nullopt;
}

std::optional<std::uint64_t> ObjectView::number(std::string_view key) const {
    return member(key) != nullptr ? (*this)[key].as_number() : std::nullopt;
}

std::vector<ObjectView> ObjectView::items(std::string_view key) const {
    return member(key) != nullptr ? (*this)[key].items() : std::vector<ObjectView>();
}

std::vector<std::string> ObjectView::texts(std::string_view key) const {
    return member(key) != nullptr ? (*this)[key].as_texts() : std::vector<std::string>();
}

std::string_view ObjectView::text(std::string_view key) const {
    const boost::json::value* found = member(key);
    if (found == nullptr) return {};
    if (const boost::json::string* text = found->if_string()) return text_view(*text);
    (*this)[key].wrong_type("a text");
    return {};
}

}  // namespace k8s_sd::inline v0::detail
