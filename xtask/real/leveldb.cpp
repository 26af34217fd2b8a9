// Two writers fill small memory tables, so that they are compacted; an iterator must see what its snapshot saw.
#include "helpers/memenv/memenv.h"
#include "leveldb/db.h"
#include "leveldb/env.h"
#include <cassert>
#include <memory>
#include <string>
#include <thread>

int main() {
    std::unique_ptr<leveldb::Env> env(leveldb::NewMemEnv(leveldb::Env::Default()));
    leveldb::Options options;
    options.create_if_missing = true;
    options.env = env.get();
    options.write_buffer_size = 64 << 10;
    leveldb::DB *raw = nullptr;
    assert(leveldb::DB::Open(options, "/db", &raw).ok());
    std::unique_ptr<leveldb::DB> db(raw);
    auto write = [&](char id) {
        std::string value(8000, id);
        for (int i = 0; i < 10; i++) assert(db->Put({}, id + std::to_string(i), value).ok());
    };
    std::thread first(write, 'a'), second(write, 'b');
    leveldb::ReadOptions read;
    read.snapshot = db->GetSnapshot();
    int counts[2] = {};
    for (int &count : counts) {
        std::unique_ptr<leveldb::Iterator> it(db->NewIterator(read));
        for (it->SeekToFirst(); it->Valid(); it->Next()) count++;
    }
    assert(counts[0] == counts[1]);
    db->ReleaseSnapshot(read.snapshot);
    first.join(), second.join();
    std::string value;
    assert(db->Get({}, "a9", &value).ok() && value == std::string(8000, 'a'));
    db.reset();
}
