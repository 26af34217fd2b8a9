#define LINKS 4
#define PADDING 5
#include "../../../programs/fail/papers/chain.c"
