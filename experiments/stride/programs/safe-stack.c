#define UNLINK 1
#include "../../../programs/fail/papers/safe_stack.c"
