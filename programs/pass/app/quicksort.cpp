//@ expect: pass
//@ execs: 100
//@ flags: -std=c++17
// A quicksort that gives one half of the array to another thread, to some depth, beside a merge sort
// over std::async, and compares both with std::sort.
#include <algorithm>
#include <cassert>
#include <cstdint>
#include <future>
#include <thread>
#include <vector>

template <class It> static It split(It first, It last)
{
    auto pivot = *(first + (last - first - 1) / 2);
    for (It left = first, right = last - 1;; ++left, --right) {
        while (*left < pivot)
            ++left;
        while (pivot < *right)
            --right;
        if (left >= right)
            return right + 1;
        std::iter_swap(left, right);
    }
}

template <class It> static void quicksort(It first, It last, int depth)
{
    if (last - first < 2)
        return;
    It middle = split(first, last);
    if (depth == 0) {
        quicksort(first, middle, 0);
        quicksort(middle, last, 0);
        return;
    }
    std::thread other([=] { quicksort(first, middle, depth - 1); });
    quicksort(middle, last, depth - 1);
    other.join();
}

static std::vector<int> mergesort(std::vector<int> values, int depth)
{
    if (values.size() < 2)
        return values;
    auto middle = values.begin() + values.size() / 2;
    std::vector<int> low(values.begin(), middle), high(middle, values.end());
    if (depth > 0) {
        auto left = std::async(std::launch::async, mergesort, std::move(low), depth - 1);
        high = mergesort(std::move(high), depth - 1);
        low = left.get();
    } else {
        low = mergesort(std::move(low), 0);
        high = mergesort(std::move(high), 0);
    }
    std::vector<int> merged(values.size());
    std::merge(low.begin(), low.end(), high.begin(), high.end(), merged.begin());
    return merged;
}

int main()
{
    std::vector<int> values;
    uint32_t state = 12345;
    for (int i = 0; i < 40; i++) {
        state = state * 1664525 + 1013904223;
        values.push_back((int)(state >> 16) % 100);
    }
    std::vector<int> wanted = values, merged = mergesort(values, 1);
    std::sort(wanted.begin(), wanted.end());
    quicksort(values.begin(), values.end(), 2);
    assert(values == wanted);
    assert(merged == wanted);
}
