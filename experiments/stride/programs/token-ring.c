#include "../../../programs/fail/papers/token_ring.c"
