// A CPU-bound program of one thread: a sort, a hash map, a product of matrices. Argument: how often.
#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "meter.h"

namespace {

struct Random {
    uint64_t state;
    uint64_t next() {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return state >> 33;
    }
};

uint64_t sort(Random &random) {
    std::vector<uint64_t> numbers(200'000);
    for (auto &it : numbers)
        it = random.next();
    std::sort(numbers.begin(), numbers.end());
    return numbers[numbers.size() / 2];
}

uint64_t hash_map(Random &random) {
    std::unordered_map<uint64_t, uint64_t> counts;
    for (int i = 0; i < 300'000; i++)
        counts[random.next() % 50'000] += i;
    std::unordered_map<std::string, int> words;
    for (int i = 0; i < 50'000; i++)
        words["word " + std::to_string(random.next() % 5'000)]++;
    return counts.size() + words.size();
}

uint64_t matrix(Random &random) {
    constexpr size_t n = 160;
    std::vector<double> a(n * n), b(n * n), c(n * n);
    for (size_t i = 0; i < n * n; i++) {
        a[i] = double(random.next() % 100);
        b[i] = double(random.next() % 100);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
    return uint64_t(c[n]);
}

} // namespace

int main(int argc, char **argv) {
    long n_rounds = number_arg(argc, argv, 1, 1);
    Random random{1};
    uint64_t sum = 0;
    long long start = cpu_ns();
    for (long i = 0; i < n_rounds; i++)
        sum += sort(random) + hash_map(random) + matrix(random);
    tell(cpu_ns() - start);
    return sum == 1;
}
