#pragma once

// One letter at a time, from one thread to another.
void mailbox_put(int letter);
int mailbox_take(void);
