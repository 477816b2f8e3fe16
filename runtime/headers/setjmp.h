#ifndef HD_SETJMP_H
#define HD_SETJMP_H
#ifndef HD_HEADER_TEST
typedef struct { long hd_registers[25]; } jmp_buf[1];
int setjmp(jmp_buf state);
#define setjmp(state) setjmp(state)
#endif
#ifndef HD_HEADER_TEST
void longjmp(jmp_buf state, int value);
#endif
#endif
