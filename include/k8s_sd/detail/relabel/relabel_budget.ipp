#include "k8s_sd/detail/relabel/relabel_budget.hpp"

namespace k8s_sd::inline v0::detail {

void RelabelBudget::fail_steps() const {
    throw RelabelLimitReached("the regular expressions need more than " +
                              std::to_string(limits_.regex_steps) +
                              " steps for this label set, which is the limit");
}

void RelabelBudget::fail_text() const {
    throw RelabelLimitReached("a text would be longer than " + std::to_string(limits_.text_bytes) +
                              " bytes, which is the limit of what a rule may make");
}

void RelabelBudget::fail_made() const {
    throw RelabelLimitReached("the rules make more than " + std::to_string(limits_.made_bytes) +
                              " bytes of this label set, which is the limit");
}

}  // namespace k8s_sd::inline v0::detail
