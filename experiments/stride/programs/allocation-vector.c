#define N 10
#include "../../../programs/fail/papers/allocation_vector.c"
