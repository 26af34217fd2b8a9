#define N 5
#include "../../../programs/fail/papers/reorder.c"
