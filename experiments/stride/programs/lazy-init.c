#include "../../../programs/fail/papers/lazy_init.c"
