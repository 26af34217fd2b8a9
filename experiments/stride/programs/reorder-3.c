#define N 3
#include "../../../programs/fail/papers/reorder.c"
