#define SEATS 7
#include "../../../programs/fail/mutex/dining_philosophers.c"
