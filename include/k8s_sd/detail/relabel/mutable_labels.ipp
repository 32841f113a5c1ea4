#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/relabel/mutable_labels.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <utility>

namespace k8s_sd::inline v0 {

namespace {

// Capacity kept by clear(), ample for most targets.
constexpr std::size_t max_kept_labels = 512;
constexpr std::size_t max_kept_texts = 64;
constexpr std::size_t max_kept_text_size = 1024;

/// Up to this size, a linear search is fast.
constexpr std::size_t small_set = 64;
/// After this many searches of a set, building a hash map pays off.
constexpr std::size_t many_searches = 64;

/// A cheap hash of a name.
std::uint8_t hash_of_name(std::string_view name) noexcept {
    const std::size_t size = name.size();
    if (size == 0) return 0;
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(name[i]); };
    return static_cast<std::uint8_t>(size * 37 + byte(size - 1) * 5U + byte(size / 2) * 11U);
}

/// The bit of a name in the filter of names.
struct NameBit {
    explicit NameBit(std::string_view name) noexcept {
        const std::size_t hash = hash_of_name(name);
        word = hash / 64;
        mask = std::uint64_t{1} << hash % 64;
    }
    std::size_t word = 0;
    std::uint64_t mask = 1;
};

}  // namespace

/// Seeded, because names are chosen by third parties: known hashes would allow collision attacks.
class MutableLabels::Places
    : public boost::unordered_flat_map<std::string_view, std::size_t, detail::SeededHash> {};

MutableLabels::MutableLabels() = default;
MutableLabels::~MutableLabels() = default;

MutableLabels::MutableLabels(MutableLabels&& other) noexcept
    : labels_(std::exchange(other.labels_, {})),
      texts_(std::move(other.texts_)),
      texts_in_use_(std::exchange(other.texts_in_use_, 0)),
      is_chained_(std::exchange(other.is_chained_, false)),
      heads_(other.heads_),
      next_(other.next_),
      places_(std::move(other.places_)),
      searches_(std::exchange(other.searches_, 0)),
      seen_(std::exchange(other.seen_, {})) {
    other.texts_.clear();
}

MutableLabels& MutableLabels::operator=(MutableLabels&& other) noexcept {
    labels_.swap(other.labels_);
    texts_.swap(other.texts_);
    std::swap(texts_in_use_, other.texts_in_use_);
    std::swap(is_chained_, other.is_chained_);
    heads_.swap(other.heads_);
    next_.swap(other.next_);
    places_.swap(other.places_);
    std::swap(searches_, other.searches_);
    seen_.swap(other.seen_);
    if (this != &other) other.clear();
    return *this;
}

void MutableLabels::clear() noexcept {
    forget_places();
    seen_ = {};
    labels_.clear();
    if (labels_.capacity() > max_kept_labels) std::vector<Label>().swap(labels_);
    while (texts_.size() > max_kept_texts) texts_.pop_back();
    const auto used = static_cast<std::ptrdiff_t>(std::min(texts_in_use_, texts_.size()));
    std::for_each(texts_.begin(), texts_.begin() + used, [](std::string& text) {
        if (text.capacity() > max_kept_text_size) std::string().swap(text);
    });
    texts_in_use_ = 0;
}

void MutableLabels::set(std::string_view name, std::string_view value) {
    if (const std::size_t i = search(name); i < labels_.size()) {
        labels_[i].value = value;
    } else {
        append(name, value);
    }
}

void MutableLabels::append(std::string_view name, std::string_view value) {
    labels_.push_back({name, value});
    const NameBit bit(name);
    seen_[bit.word] |= bit.mask;
    if (is_chained_) chain(labels_.size() - 1);
    if (places_) places_->emplace(name, labels_.size() - 1);
}

void MutableLabels::append_if_absent(std::string_view name, std::string_view value) {
    if (search(name) == labels_.size()) append(name, value);
}

void MutableLabels::erase_empty() {
    const auto is_blank = [](const Label& label) { return label.value.empty(); };
    if (std::erase_if(labels_, is_blank) != 0) forget_places();
}

std::string& MutableLabels::new_text() {
    if (texts_in_use_ == texts_.size()) texts_.emplace_back();
    std::string& text = texts_[texts_in_use_++];
    text.clear();
    return text;
}

void MutableLabels::erase(std::string_view name) {
    const std::size_t i = index_of(name);
    if (i == labels_.size()) return;
    forget_places();
    labels_.erase(labels_.begin() + static_cast<std::ptrdiff_t>(i));
}

void MutableLabels::sort() {
    forget_places();
    // Most names differ in their first byte: that is cheaper than to compare all of them.
    const auto first = [](const Label& label) {
        return label.name.empty() ? 0 : static_cast<unsigned char>(label.name.front());
    };
    std::sort(labels_.begin(), labels_.end(), [&](const Label& a, const Label& b) {
        return first(a) == first(b) ? a.name < b.name : first(a) < first(b);
    });
}

LabelMap MutableLabels::to_map() const {
    LabelMap map;
    for (const auto& [name, value] : labels_) {
        if (!value.empty()) map.emplace(name, value);
    }
    return map;
}

std::size_t MutableLabels::index_of(std::string_view name) const noexcept {
    if (places_) {
        const auto found = places_->find(name);
        return found == places_->end() ? labels_.size() : found->second;
    }
    const NameBit bit(name);
    if ((seen_[bit.word] & bit.mask) == 0) return labels_.size();
    if (is_chained_) {
        std::size_t next = heads_[hash_of_name(name)];
        while (next != 0 && labels_[next - 1].name != name) next = next_[next - 1];
        return next == 0 ? labels_.size() : next - 1;
    }
    const Label* label = find(labels_, name);
    return label ? static_cast<std::size_t>(label - labels_.data()) : labels_.size();
}

std::size_t MutableLabels::search(std::string_view name) {
    if (!places_ && !is_chained_ && labels_.size() > small_set && ++searches_ > many_searches) {
        places_ = std::make_unique<Places>();
        places_->reserve(labels_.size());
        // The first of several equal names wins, as in a linear search.
        for (std::size_t i = 0; i < labels_.size(); ++i) places_->emplace(labels_[i].name, i);
    }
    return index_of(name);
}

void MutableLabels::index_names() noexcept {
    if (labels_.size() > max_chained) return;
    heads_ = {};
    is_chained_ = true;
    // The first of several equal names wins, as in a linear search: it is chained last.
    for (std::size_t i = labels_.size(); i-- > 0;) chain(i);
}

void MutableLabels::chain(std::size_t i) noexcept {
    is_chained_ = i < max_chained;
    if (!is_chained_) return;
    std::uint8_t& head = heads_[hash_of_name(labels_[i].name)];
    next_[i] = std::exchange(head, static_cast<std::uint8_t>(i + 1));
}

void MutableLabels::forget_places() noexcept {
    is_chained_ = false;
    places_.reset();
    searches_ = 0;
}

}  // namespace k8s_sd::inline v0
