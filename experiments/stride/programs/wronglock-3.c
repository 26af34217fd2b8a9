#define N 3
#include "../../../programs/fail/papers/wronglock.c"
