// What a task's specification says of its pairs.
#pragma once
#include "pairs/pair_form.h"
#include "task/api.h"

namespace hd {

// NULL: pairs are text with a tab, and in the order of their bytes.
PairForm pair_form_of(const hd_pair_form *form);

}  // namespace hd
