#define ROUNDS 5
#include "../../../programs/fail/papers/clean.c"
