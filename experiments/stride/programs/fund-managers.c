#define MANAGERS 3
#define TRANSFERS 20
#include "../../../programs/fail/papers/fund_managers.c"
