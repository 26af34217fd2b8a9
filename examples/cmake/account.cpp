#include "account.h"

void Account::deposit(int amount) {
#ifdef LOCKED
    std::lock_guard<std::mutex> lock(mutex_);
#endif
    balance_ += amount;
}
