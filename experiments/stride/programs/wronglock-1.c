#define N 1
#include "../../../programs/fail/papers/wronglock.c"
