// Linearizability tests of data structures with Raddle, for C++17. `raddle cc`, `raddle c++` and `raddle run` find this file.
//
//     int main() {
//         raddle::linear<Stack>()
//             .op("push", 2, [](Stack &stack, long x) { stack.push(x); })   // push(1), push(2)
//             .op("pop", [](Stack &stack) { return stack.pop(); })          // returns a std::optional<int>
//             .check();
//     }
//
// What the operations should return, the structure itself says, called by one thread. A second type is a model, with a second
// function for each operation:
//
//     raddle::linear<Stack, std::vector<long>>()
//         .op("push", 2, [](Stack &stack, long x) { stack.push(x); }, [](auto &model, long x) { model.push_back(x); })
//
// Operations return nothing, an integer, a boolean, or a std::optional of those.
#ifndef RADDLE_HPP
#define RADDLE_HPP

#if __cplusplus < 201703L
#error "raddle.hpp needs C++17: compile with -std=c++17"
#endif

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "raddle_linear.h"

namespace raddle {

namespace detail {

template <class T> long as_long(const T &value) { return static_cast<long>(value); }

template <class T> long as_long(const std::optional<T> &value) { return value ? as_long(*value) : RADDLE_NONE; }

template <class F, class... Args> long result_of(F &f, Args &&...args) {
    if constexpr (std::is_void_v<std::invoke_result_t<F &, Args...>>) {
        f(std::forward<Args>(args)...);
        return RADDLE_VOID;
    } else {
        return as_long(f(std::forward<Args>(args)...));
    }
}

// With the argument, or without one.
template <class T, class F> std::function<long(T &, long)> wrap(F f) {
    if constexpr (std::is_invocable_v<F &, T &, long>)
        return [f](T &state, long x) mutable { return result_of(f, state, x); };
    else
        return [f](T &state, long) mutable { return result_of(f, state); };
}

struct no_model {};

} // namespace detail

template <class S, class M = detail::no_model> class linear {
    static constexpr bool has_model = !std::is_same_v<M, detail::no_model>;

    std::vector<raddle_op> ops;
    std::vector<std::function<long(S &, long)>> calls;
    std::vector<std::function<long(M &, long)>> models;
    raddle_linear test{};

    static const linear &self(const raddle_linear *test) { return *static_cast<const linear *>(test->context); }

  public:
    // An operation without an argument.
    template <class F> linear &op(const char *name, F f) { return add(name, 0, std::move(f)); }
    // An operation that is called with 1 .. n_arguments.
    template <class F> linear &op(const char *name, int n_arguments, F f) {
        return add(name, n_arguments, std::move(f));
    }
    // The same with what the model does.
    template <class F, class G, class = std::enable_if_t<!std::is_integral_v<F>>>
    linear &op(const char *name, F f, G g) {
        models.push_back(detail::wrap<M>(std::move(g)));
        return add(name, 0, std::move(f));
    }
    template <class F, class G> linear &op(const char *name, int n_arguments, F f, G g) {
        models.push_back(detail::wrap<M>(std::move(g)));
        return add(name, n_arguments, std::move(f));
    }

    // How many threads there are: 2 if it is not said.
    linear &threads(unsigned n) { return test.n_threads = n, *this; }
    // How many operations each thread calls, at most: 3 if it is not said.
    linear &operations(unsigned n) { return test.n_each = n, *this; }
    // How many operations are called before the threads start, and after they have ended, at most: 2 if it is not said.
    linear &before(unsigned n) { return test.n_before = n ? n : UINT_MAX, *this; }
    linear &after(unsigned n) { return test.n_after = n ? n : UINT_MAX, *this; }
    // Requires only that each thread's operations keep their order.
    linear &sequentially_consistent() { return test.consistency = 1, *this; }

    // Explores scenarios and schedules, within the budget of the command line.
    void check() {
        test.create = [] { return static_cast<void *>(new S()); };
        test.destroy = [](void *state) { delete static_cast<S *>(state); };
        test.ops = ops.data();
        test.n_ops = static_cast<unsigned>(ops.size());
        test.call = [](const raddle_linear *test, unsigned op, void *state, long x) {
            return self(test).calls[op](*static_cast<S *>(state), x);
        };
        if constexpr (has_model) {
            test.create_model = [] { return static_cast<void *>(new M()); };
            test.destroy_model = [](void *model) { delete static_cast<M *>(model); };
            test.call_model = [](const raddle_linear *test, unsigned op, void *model, long x) {
                return self(test).models[op](*static_cast<M *>(model), x);
            };
        }
        test.context = this;
        raddle_linear_check(&test);
    }

  private:
    template <class F> linear &add(const char *name, int n_arguments, F f) {
        ops.push_back({name, static_cast<unsigned>(n_arguments), nullptr, nullptr});
        calls.push_back(detail::wrap<S>(std::move(f)));
        return *this;
    }
};

} // namespace raddle

#endif
