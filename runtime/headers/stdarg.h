#ifndef HD_STDARG_H
#define HD_STDARG_H
typedef __builtin_va_list va_list;
#ifndef HD_HEADER_TEST
void __builtin_va_start(__builtin_va_list, ...);
void __builtin_va_end(__builtin_va_list);
void __builtin_va_copy(__builtin_va_list, __builtin_va_list);
#endif
#define va_start(ap, last) __builtin_va_start(ap, last)
#define va_end(ap) __builtin_va_end(ap)
#define va_copy(to, from) __builtin_va_copy(to, from)
#define va_arg(ap, type) __builtin_va_arg(ap, type)
#endif
