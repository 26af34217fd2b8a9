#define N 4
#include "../../../programs/fail/papers/reorder.c"
