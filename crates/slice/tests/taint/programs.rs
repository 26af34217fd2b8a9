//! Small functions over shared variables, in C and in Rust, and what calls each of them with several values.

use std::fmt::Write as _;

/// `way` and `also` show which way a branch went; they are two, so that no compiler makes one call of both ways.
const FUNCTIONS: &[(&str, &str)] = &[
    ("plain", "if (a > 3) way(1); else also(2);"),
    ("through_a_local", "int x = a + 1, y = x * 2; c = 9; if (y > 8) way(1);"),
    ("neither", "c = a; if (n > 0) way(1); else also(2);"),
    ("nested", "if (a) { if (b) way(1); else also(2); } else c = 3;"),
    ("by_call", "if (twice(a) > 4) way(1);"),
    ("by_result", "if (get_b() > 1) way(1);"),
    ("by_reference", "if (*p > 1) way(1);"),
    ("by_shared", "c = a + 1; if (c > 4) way(1);"),
    ("in_a_loop", "int s = 0; for (int i = 0; i < a; i++) s += b; if (s > 7) way(1);"),
    (
        "jump_table",
        "switch (a) { case 0: way(1); break; case 1: c++; way(2); break; case 2: also(3); way(4); break; \
            case 3: n++; break; case 4: also(5); c = 2; break; case 5: way(7); break; default: way(6); }",
    ),
    ("chosen", "int x = a > 2 ? b : n; c = x; if (x > 1) way(1);"),
    ("least", "int x = a < b ? a : b; x = x > n ? x : n; if (x == 3) way(1);"),
    ("truth", "int x = (a > 3) + (b > 3) * 2; c = x; if (x == 3) way(1);"),
    (
        "shifted",
        "unsigned x = 1u << (a & 7); if (x & 0x90) way(1); x >>= b & 3; if (x > 2) also(2);",
    ),
    ("rotated", "unsigned x = (unsigned)a; x = x << 5 | x >> 27; if (x > 64) way(1);"),
    (
        "carried",
        "unsigned long x = (unsigned long)a << 63; __int128 y = (__int128)x * 2 + b; if (y >> 64) way(1);",
    ),
    ("overflowed", "int x; if (__builtin_mul_overflow(a, 0x10000000, &x)) way(1); else c = x;"),
    ("divided", "if (b && a / b > 1) way(1); if (a % 3 == 1) also(2);"),
    (
        "bytes",
        "unsigned char x = (unsigned char)a; signed char y = (signed char)(b << 6); if (x + y < 0) way(1);",
    ),
    (
        "half",
        "short h[2] = {(short)a, (short)b}; int x; memcpy(&x, h, 4); if ((x >> 16) > 3) way(1);",
    ),
    ("floating", "double x = a * 0.5, y = b; if (x + y > 3.0) way(1);"),
    (
        "in_an_array",
        "int t[4]; for (int i = 0; i < 4; i++) t[i] = i == 2 ? b : 0; if (t[n & 3]) way(1);",
    ),
    ("by_index", "int t[8] = {0, 1, 0, 1, 0, 0, 1, 1}; if (t[a & 7]) way(1);"),
    ("early", "if (a == 7) return; if (b) way(1);"),
    ("by_pointer", "int x; fetch(&x); if (x > 1) way(1);"),
    ("by_structure", "struct pair s = {0, 0}; fill(&s); if (s.second > 1) way(1);"),
    ("by_copy", "struct pair s, t = {b, n}; memcpy(&s, &t, sizeof s); if (s.first > 1) way(1);"),
    (
        "by_large_copy",
        "struct large s, t; for (int i = 0; i < 24; i++) t.all[i] = i == 20 ? a : 0; \
            memcpy(&s, &t, sizeof s); keep(&s); if (s.all[20] > 1) way(1);",
    ),
    ("by_recursion", "if (sum(3) > 9) way(1);"),
    ("by_function_pointer", "if (n_of[n & 1]() > 1) way(1);"),
    ("spilled", "if (many(a, b, n, 1, 2, 3, b, 4, a) > 30) way(1);"),
    (
        "under_pressure",
        "int q = a, r = b, s = a ^ b, t = a + n, u = b * 3, v = a - b, w = a | 8, x = b & 6; way(q); also(r); \
            way(s); also(t); way(u); also(v); way(w); also(x); if (q + r + s + t + u + v + w + x > 40) way(9);",
    ),
    ("by_value", "struct large s = made(a); if (s.all[3] > 2) way(1);"),
    ("atomic", "if (__atomic_load_n(&a, __ATOMIC_SEQ_CST) > 1) way(1);"),
    ("added", "if (__atomic_fetch_add(&c, 2, __ATOMIC_SEQ_CST) == a) way(1);"),
    (
        "exchanged",
        "int e = b; if (__atomic_compare_exchange_n(&c, &e, 5, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) way(1); \
            else if (e > 1) also(2);",
    ),
    ("until", "int i = 0; do { i += 2; } while (i < b); if (i == 4) way(1);"),
    ("counted", "int k = 0; for (unsigned x = (unsigned)a; x; x &= x - 1) k++; if (k > 1) way(1);"),
    ("text", "char t[8] = \"ab\"; t[n & 1] = (char)('a' + a); if (t[0] == 'b') way(1);"),
];

const FRAME: &str = r#"
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
struct pair { int first, second; };
struct large { int all[24]; };
int a, b, c, n, *p = &a;
volatile int shown;
#define ASIDE __attribute__((noinline, no_sanitize("thread")))
#define OWN __attribute__((noinline))
ASIDE static void way(int k) { shown = k; }
ASIDE static void also(int k) { shown = -k; }
ASIDE void finish(void) { shown = 0; }
OWN static int twice(int x) { return x * 2; }
OWN static int get_b(void) { return b; }
OWN static void fetch(int *out) { *out = a; }
OWN static void fill(struct pair *out) { out->first = n; fetch(&out->second); }
OWN static int sum(int k) { return k ? b + sum(k - 1) : 0; }
OWN static int get_n(void) { return n; }
OWN static void keep(struct large *it) { it->all[0] = n; }
OWN static int many(int q, int r, int s, int t, int u, int v, int w, int x, int y) {
  return q + r * 2 + s + t + u + v + w * 3 + x + y;
}
OWN static struct large made(int k) { struct large s; for (int i = 0; i < 24; i++) s.all[i] = k + i; return s; }
int (*n_of[2])(void) = {get_b, get_n};
"#;

pub(crate) fn in_c() -> String {
    let mut text = FRAME.to_owned();
    for (name, body) in FUNCTIONS {
        let _ = writeln!(text, "OWN void f_{name}(void) {{ {body} }}");
    }
    text += "int main(void) {\n  static const int values[] = {0, 1, 4, 5, 7};\n";
    text += "  ptrace(PTRACE_TRACEME, 0, 0, 0);\n  raise(SIGSTOP);\n";
    text += "  for (int i = 0; i < 5; i++) for (int j = 0; j < 5; j += 2) {\n";
    for (name, _) in FUNCTIONS {
        let _ = writeln!(text, "    a = values[i]; b = values[j]; c = 0; n = 2; f_{name}();");
    }
    text + "  }\n  finish();\n  return 0;\n}\n"
}

const RUST_FUNCTIONS: &[(&str, &str)] = &[
    ("plain", "if a > 3 { way(1) } else { also(2) }"),
    (
        "through_a_local",
        "let x = a.wrapping_add(1); let y = x.wrapping_mul(2); c = 9; if y > 8 { way(1) }",
    ),
    ("neither", "c = a; if n > 0 { way(1) } else { also(2) }"),
    ("nested", "if a != 0 { if b != 0 { way(1) } else { also(2) } } else { c = 3 }"),
    ("by_call", "if twice(a) > 4 { way(1) }"),
    ("by_result", "if get_b() > 1 { way(1) }"),
    ("by_shared", "c = a.wrapping_add(1); if c > 4 { way(1) }"),
    (
        "in_a_loop",
        "let mut s = 0; let mut i = 0; while i < a { s += b; i += 1 } if s > 7 { way(1) }",
    ),
    (
        "jump_table",
        "match a { 0 => way(1), 1 => { c += 1; way(2) } 2 => also(3), 3 => n += 1, 4 => also(5), 5 => { way(7); c = 2 } _ => way(6) }",
    ),
    ("chosen", "let x = if a > 2 { b } else { n }; c = x; if x > 1 { way(1) }"),
    ("least", "let x = a.min(b).max(n); if x == 3 { way(1) }"),
    ("truth", "let x = (a > 3) as i32 + (b > 3) as i32 * 2; c = x; if x == 3 { way(1) }"),
    (
        "shifted",
        "let mut x = 1u32 << (a & 7); if x & 0x90 != 0 { way(1) } x >>= b & 3; if x > 2 { also(2) }",
    ),
    ("rotated", "if (a as u32).rotate_left(5) > 64 { way(1) }"),
    ("checked", "if a.checked_mul(0x1000_0000).is_none() { way(1) }"),
    ("wide", "if ((a as u128) << 64 | b as u128) >> 63 != 0 { way(1) }"),
    ("divided", "if b != 0 && a.wrapping_div(b) > 1 { way(1) } if a % 3 == 1 { also(2) }"),
    ("bytes", "let t = (a ^ b << 8).to_le_bytes(); if t[1] > 3 { way(1) }"),
    ("floating", "if a as f64 * 0.5 + b as f64 > 3.0 { way(1) }"),
    ("by_index", "let t = [0u8, 1, 0, 1, 0, 0, 1, 1]; if t[(a & 7) as usize] != 0 { way(1) }"),
    ("in_an_array", "let mut t = [0; 4]; t[2] = b; if t[(n & 3) as usize] != 0 { way(1) }"),
    ("early", "if a == 7 { return } if b != 0 { way(1) }"),
    ("by_pointer", "let mut x = 0; fetch(&mut x); if x > 1 { way(1) }"),
    ("by_pair", "let it = pair(); if it.1 > 1 { way(1) }"),
    ("by_option", "if let Some(it) = positive() { if it > 3 { way(1) } else { also(2) } }"),
    (
        "by_variant",
        "match shape() { Shape::Line(it) if it > 3 => way(1), Shape::Line(_) => also(2), Shape::Box(it, more) => if it < more { way(3) } }",
    ),
    ("by_value", "let s = made(a); if s[3] > 2 { way(1) }"),
    ("by_copy", "let t = made(b); let s = t; keep(&s); if s[20] > 24 { way(1) }"),
    ("by_recursion", "if sum(3) > 9 { way(1) }"),
    (
        "by_map",
        "let it = Some(a).filter(|it| *it > 2).map(|it| it + b + c); if it.is_some() { also(1) }",
    ),
    ("by_closure", "let k = a; let f = |x: i32| x.wrapping_add(k); if apply(&f) > 5 { way(1) }"),
    ("spilled", "if many(a, b, n, 1, 2, 3, b, 4, a) > 30 { way(1) }"),
    (
        "atomic",
        "if std::sync::atomic::AtomicI32::from_ptr(&raw mut a).load(std::sync::atomic::Ordering::SeqCst) > 1 { way(1) }",
    ),
    (
        "exchanged",
        "let d = std::sync::atomic::AtomicI32::from_ptr(&raw mut c); let o = std::sync::atomic::Ordering::SeqCst; \
            match d.compare_exchange(b, 5, o, o) { Ok(_) => way(1), Err(e) => if e > 1 { also(2) } }",
    ),
    (
        "counted",
        "let mut x = a as u32; let mut k = 0; while x != 0 { x &= x.wrapping_sub(1); k += 1 } if k > 1 { way(1) }",
    ),
];

const RUST_FRAME: &str = r#"
#[no_mangle] pub static mut a: i32 = 0;
#[no_mangle] pub static mut b: i32 = 0;
#[no_mangle] pub static mut c: i32 = 0;
#[no_mangle] pub static mut n: i32 = 0;
extern "C" { fn ptrace(what: i64, pid: i32, at: u64, data: u64) -> i64; fn raise(signal: i32) -> i32;
    fn show(k: i32); }
#[no_mangle] #[inline(never)] pub unsafe extern "C" fn finish() { show(0) }
#[inline(never)] unsafe fn way(k: i32) { show(k) }
#[inline(never)] unsafe fn also(k: i32) { show(-k) }
#[inline(never)] unsafe fn twice(x: i32) -> i32 { x.wrapping_mul(2) }
#[inline(never)] unsafe fn get_b() -> i32 { b }
#[inline(never)] unsafe fn fetch(out: &mut i32) { *out = a }
#[inline(never)] unsafe fn pair() -> (u64, i64, u64) { (n as u64, a as i64, 0) }
#[inline(never)] unsafe fn positive() -> Option<i32> { if a > 0 { Some(b) } else { None } }
#[inline(never)] unsafe fn sum(k: i32) -> i32 { if k > 0 { b.wrapping_add(sum(k - 1)) } else { 0 } }
enum Shape { Line(i32), Box(i32, i32) }
#[inline(never)] unsafe fn shape() -> Shape { if a > 2 { Shape::Line(b) } else { Shape::Box(a, b) } }
#[inline(never)] unsafe fn made(k: i32) -> [i32; 24] { let mut s = [0; 24]; let mut i = 0; while i < 24 { s[i] = k.wrapping_add(i as i32); i += 1 } s }
#[inline(never)] unsafe fn keep(it: &[i32; 24]) { c = it[0] }
#[inline(never)] unsafe fn apply(f: &dyn Fn(i32) -> i32) -> i32 { f(b) }
#[inline(never)] unsafe fn many(q: i32, r: i32, s: i32, t: i32, u: i32, v: i32, w: i32, x: i32, y: i32) -> i32 {
    q.wrapping_add(r.wrapping_mul(2)).wrapping_add(s).wrapping_add(t).wrapping_add(u).wrapping_add(v)
        .wrapping_add(w.wrapping_mul(3)).wrapping_add(x).wrapping_add(y)
}
"#;

pub(crate) fn in_rust() -> String {
    let mut text = RUST_FRAME.to_owned();
    for (name, body) in RUST_FUNCTIONS {
        let _ =
            writeln!(text, "#[no_mangle] #[inline(never)] pub unsafe fn f_{name}() {{ {body} }}");
    }
    text += "static VALUES: [i32; 5] = [0, 1, 4, 5, 7];\nfn main() { unsafe {\n";
    text += "ptrace(0, 0, 0, 0); raise(19);\n";
    text += "let mut i = 0; while i < 5 { let mut j = 0; while j < 5 {\n";
    for (name, _) in RUST_FUNCTIONS {
        let _ = writeln!(text, "a = VALUES[i]; b = VALUES[j]; c = 0; n = 2; f_{name}();");
    }
    text + "j += 2; } i += 1; } finish() } }\n"
}

/// The hooks, which do nothing but what they have to.
pub(crate) const STUBS: &str = r#"
#define HOOK(name) void name(void) {}
HOOK(__tsan_init) HOOK(__tsan_func_entry) HOOK(__tsan_func_exit)
HOOK(__tsan_read1) HOOK(__tsan_read2) HOOK(__tsan_read4) HOOK(__tsan_read8) HOOK(__tsan_read16)
HOOK(__tsan_write1) HOOK(__tsan_write2) HOOK(__tsan_write4) HOOK(__tsan_write8) HOOK(__tsan_write16)
HOOK(__tsan_unaligned_read2) HOOK(__tsan_unaligned_read4) HOOK(__tsan_unaligned_read8) HOOK(__tsan_unaligned_read16)
HOOK(__tsan_unaligned_write2) HOOK(__tsan_unaligned_write4) HOOK(__tsan_unaligned_write8) HOOK(__tsan_unaligned_write16)
HOOK(__tsan_read_range) HOOK(__tsan_write_range) HOOK(__tsan_read_write4) HOOK(__tsan_read_write8)
HOOK(__tsan_vptr_update) HOOK(__tsan_vptr_read) HOOK(__tsan_atomic_thread_fence)
volatile int shown;
void show(int k) { shown = k; }
void *__tsan_memcpy(char *to, const char *from, unsigned long n) { while (n--) to[n] = from[n]; return to; }
void *__tsan_memmove(char *to, const char *from, unsigned long n) {
  if (to < from) for (unsigned long i = 0; i < n; i++) to[i] = from[i]; else while (n--) to[n] = from[n];
  return to;
}
void *__tsan_memset(char *to, int what, unsigned long n) { while (n--) to[n] = (char)what; return to; }
#define ATOMIC(bits, type) \
  type __tsan_atomic##bits##_load(const volatile type *at, int order) { return *at; } \
  void __tsan_atomic##bits##_store(volatile type *at, type what, int order) { *at = what; } \
  type __tsan_atomic##bits##_exchange(volatile type *at, type what, int order) { type was = *at; *at = what; return was; } \
  type __tsan_atomic##bits##_fetch_add(volatile type *at, type what, int order) { type was = *at; *at = was + what; return was; } \
  type __tsan_atomic##bits##_fetch_sub(volatile type *at, type what, int order) { type was = *at; *at = was - what; return was; } \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type old, type new, int order, int failed) \
    { type was = *at; if (was == old) *at = new; return was; } \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile type *at, type *old, type new, int order, int failed) \
    { type was = *at; if (was == *old) { *at = new; return 1; } *old = was; return 0; } \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile type *at, type *old, type new, int order, int failed) \
    { return __tsan_atomic##bits##_compare_exchange_strong(at, old, new, order, failed); }
ATOMIC(8, signed char) ATOMIC(16, short) ATOMIC(32, int) ATOMIC(64, long)
"#;
