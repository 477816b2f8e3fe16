/* No include guard: NDEBUG may change between two inclusions. */
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __hd_assert_fail(#condition, __FILE__, __LINE__))
#endif
#ifndef HD_ASSERT_H
#define HD_ASSERT_H
#define static_assert _Static_assert
void __hd_assert_fail(const char *condition, const char *file, int line);
#endif
