#define LINKS 3
#define PADDING 10
#include "../../../programs/fail/papers/chain.c"
