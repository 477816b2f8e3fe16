#ifndef HD_STDNORETURN_H
#define HD_STDNORETURN_H
#define noreturn _Noreturn
#endif
