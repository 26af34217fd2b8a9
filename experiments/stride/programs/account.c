#include "../../../programs/fail/papers/account.c"
