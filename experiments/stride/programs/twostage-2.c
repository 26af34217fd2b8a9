#define N 2
#include "../../../programs/fail/papers/twostage.c"
