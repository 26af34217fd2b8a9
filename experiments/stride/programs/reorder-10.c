#define N 10
#include "../../../programs/fail/papers/reorder.c"
