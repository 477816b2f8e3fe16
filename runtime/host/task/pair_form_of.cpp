#include "task/pair_form_of.h"

namespace hd {
namespace {

std::string text_of(const hd_text &text) { return {text.bytes, text.size}; }

KeyFields fields_of(const hd_text &separator, const hd_key_range *ranges, uint64_t n) {
  std::vector<KeyRange> all;
  for (uint64_t i = 0; i < n; ++i) {
    const hd_key_range &r = ranges[i];
    all.push_back({r.first_field, r.first_char, r.last_field, r.last_char, r.numeric != 0, r.reverse != 0});
  }
  return {text_of(separator), std::move(all)};
}

}  // namespace

PairForm pair_form_of(const hd_pair_form *form) {
  PairForm made;
  if (!form) return made;
  made.map_out = {text_of(form->map_out), form->map_fields};
  made.reduce_out = {text_of(form->reduce_out), form->reduce_fields};
  made.reduce_in = text_of(form->reduce_in);
  made.out = text_of(form->out);
  made.by_fields = form->by_fields != 0;
  made.ordered = form->ordered != 0;
  made.partition = fields_of(form->key_fields, form->partition, form->n_partition);
  made.order = fields_of(form->key_fields, form->order, form->n_order);
  return made;
}

}  // namespace hd
