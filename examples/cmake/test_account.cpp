#undef NDEBUG
#include <cassert>
#include <thread>

#include "account.h"

int main() {
    Account account;
    std::thread other([&] { account.deposit(10); });
    account.deposit(20);
    other.join();
    assert(account.balance() == 30);
}
