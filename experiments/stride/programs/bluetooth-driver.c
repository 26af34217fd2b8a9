#include "../../../programs/fail/papers/bluetooth_driver.c"
