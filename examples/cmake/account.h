#pragma once

#include <mutex>

// Money that several threads pay in.
class Account {
public:
    void deposit(int amount);
    int balance() const { return balance_; }

private:
    std::mutex mutex_;
    int balance_ = 0;
};
