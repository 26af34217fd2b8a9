// Two writers that add keys and a reader that must see all or nothing of each transaction.
#include <assert.h>
#include <lmdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MUST(call) do { int rc_ = (call); if (rc_) { fprintf(stderr, "%s: %s\n", #call, mdb_strerror(rc_)); abort(); } } while (0)

static MDB_env *env;
static MDB_dbi dbi;

static void put(MDB_txn *txn, int key, int value) {
    MDB_val k = {sizeof key, &key}, v = {sizeof value, &value};
    MUST(mdb_put(txn, dbi, &k, &v, 0));
}

static void *writer(void *arg) {
    int base = *(int *)arg;
    for (int i = 0; i < 4; i++) {
        MDB_txn *txn;
        MUST(mdb_txn_begin(env, NULL, 0, &txn));
        put(txn, base + 2 * i, i);
        put(txn, base + 2 * i + 1, i);
        MUST(mdb_txn_commit(txn));
    }
    return NULL;
}

static size_t n_entries(void) {
    MDB_txn *txn;
    MDB_stat stat;
    MUST(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn));
    MUST(mdb_stat(txn, dbi, &stat));
    mdb_txn_abort(txn);
    return stat.ms_entries;
}

static void *reader(void *arg) {
    for (int i = 0; i < 4; i++) assert(n_entries() % 2 == 0);
    return arg;
}

int main(void) {
    char path[64], lock[80];
    snprintf(path, sizeof path, "/dev/shm/raddle-lmdb-%d", getpid());
    snprintf(lock, sizeof lock, "%s-lock", path);
    unlink(path), unlink(lock);
    MUST(mdb_env_create(&env));
    MUST(mdb_env_open(env, path, MDB_NOSUBDIR, 0600));
    MDB_txn *txn;
    MUST(mdb_txn_begin(env, NULL, 0, &txn));
    MUST(mdb_dbi_open(txn, NULL, MDB_CREATE | MDB_INTEGERKEY, &dbi));
    MUST(mdb_txn_commit(txn));
    pthread_t t[3];
    int base[2] = {0, 100};
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, writer, &base[i]);
    pthread_create(&t[2], NULL, reader, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    assert(n_entries() == 16);
    mdb_env_close(env);
    unlink(path), unlink(lock);
    return 0;
}
