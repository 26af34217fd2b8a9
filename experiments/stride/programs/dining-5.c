#define SEATS 5
#include "../../../programs/fail/mutex/dining_philosophers.c"
