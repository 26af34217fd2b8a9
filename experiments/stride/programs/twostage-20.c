#define N 20
#include "../../../programs/fail/papers/twostage.c"
