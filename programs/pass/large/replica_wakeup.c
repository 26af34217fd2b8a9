//@ expect: pass
//@ execs: 400
//@ flags: -DFIXED
// The program of the same name under programs/fail, corrected.
#include "../../fail/large/replica_wakeup.c"
