#define N 100
#include "../../../programs/fail/papers/reorder.c"
