//@ expect: assert
//@ execs: 500
//@ cause: count.load() == 0 | count.fetch_sub(1);
//@ says: count T1 T2
// A reference count of a template: the decrement and the look at it are two steps, and the object ends twice.
#include <atomic>
#include <cassert>
#include <thread>

template <typename T> class Ref {
public:
    explicit Ref(T *object) : object(object) { object->count.fetch_add(1); }
    Ref(const Ref &other) : Ref(other.object) {}
    ~Ref()
    {
        object->count.fetch_sub(1);
        if (object->count.load() == 0)
            object->dispose();
    }

private:
    T *object;
};

struct Image {
    std::atomic<int> count{0};
    std::atomic<int> disposed{0};
    void dispose() { assert(disposed.exchange(1) == 0); }
};

static Image image;

static void render(Ref<Image> *shared) { delete shared; }

int main()
{
    Ref<Image> *first = new Ref<Image>(&image);
    Ref<Image> *second = new Ref<Image>(*first);
    std::thread one(render, first);
    std::thread two(render, second);
    one.join();
    two.join();
}
