#define N 7
#include "../../../programs/fail/papers/wronglock.c"
