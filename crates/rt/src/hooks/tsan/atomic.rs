//! Atomics: performed here, one step each. Under the memory model `sc` all are sequentially consistent, and their orders are
//! only told, because they decide what is ordered and what is a race. Under `c11` they decide what is read (`memory/weak`).

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst, fence};

use raddle_analysis::hb::{Access, Atomic};
use raddle_model::{MemoryOrder, ObjectId, Op, OpKind, SiteId};

use crate::{
    control::{Inside, enter},
    hooks::{caller, export},
    memory::{freed::require_live, weak::Ask},
    record::stack::Caller,
    schedule::{signals::leave, step::step},
    state::{accesses::Written, detect::Touch},
};

/// What an atomic op is: its kind, its order, and that of a compare-exchange that fails.
#[derive(Clone, Copy)]
struct Way {
    kind: OpKind,
    order: MemoryOrder,
    failure: MemoryOrder,
}

impl Way {
    #[inline(always)]
    fn new(kind: OpKind, order: i32) -> Way {
        Way { kind, order: MemoryOrder::from_number(order as u32), failure: MemoryOrder::Relaxed }
    }

    /// What it did.
    #[inline(always)]
    fn atomic(self, has_written: bool) -> Atomic {
        let is_failed = self.kind == OpKind::AtomicCas && !has_written;
        let order = if is_failed { self.failure } else { self.order };
        Atomic { kind: self.kind, order, is_failed }
    }

    /// A compare-exchange, as the rules of memory see it.
    #[inline(always)]
    fn exchange(self, expected: impl Into<u128>, is_weak: bool) -> Access {
        Access::Cas { expected: expected.into() as u64, failure: self.failure, is_weak }
    }

    /// The same with another order, if there is one.
    #[inline(always)]
    fn ordered(self, order: Option<MemoryOrder>) -> Way {
        let Some(order) = order else { return self };
        Way { order, failure: MemoryOrder::failing(self.order, self.failure, order), ..self }
    }

    /// An access of this way: a compare-exchange that fails has its order.
    #[inline(always)]
    fn failing(self, access: Access) -> Access {
        match access {
            Access::Cas { expected, is_weak, .. } => {
                Access::Cas { expected, is_weak, failure: self.failure }
            }
            access => access,
        }
    }

    #[inline(always)]
    fn cas(order: i32, failure: i32) -> Way {
        Way {
            failure: MemoryOrder::from_number(failure as u32),
            ..Way::new(OpKind::AtomicCas, order)
        }
    }
}

/// Performs `body` as one step on the variable at `address`. `body` returns what it read, and whether
/// it wrote (for compare-exchange). Where memory is weak, `access` says what kind of op it is, and `update` what it writes
/// if it reads this.
#[inline(always)]
fn atomically<T: Number>(
    address: usize,
    way: Way,
    caller: Caller,
    (access, update): (Access, impl FnOnce(T) -> T),
    body: impl FnOnce() -> (T, bool),
) -> (T, bool) {
    let Some(mut inside) = enter() else {
        return body();
    };
    // SAFETY: the thread that runs is inside a hook; the borrows end before the step.
    unsafe {
        let touch = Touch::new(address, size_of::<T>(), way.kind, caller);
        if inside.scheduler.machine.is_alone() && !inside.tells_lone() {
            return alone(inside, &touch, way, body);
        }
        require_live(&mut inside, &touch, ObjectId::NONE);
        let object = inside.variables(address, size_of::<T>());
        let site = inside.site_of(&touch);
        let way = way.ordered(inside.planned_order(site));
        let access = way.failing(access);
        let (offset, _) = inside.recorder.emit.bytes_of(object, address, size_of::<T>());
        let mut op = Op::on(way.kind, object, site).order(way.order).bytes(offset, size_of::<T>());
        if way.kind != OpKind::AtomicStore {
            op.flags = inside.this().spin.flags();
        }
        step(&mut inside, op);
        require_live(&mut inside, &touch, object);
        if inside.memory.weak.is_on {
            return weakly(inside, &touch, &op, way, (access, update), body);
        }
        let (value, has_written) = body();
        let seen = value.into() as u64;
        inside.note_step(&op, seen);
        finish(&mut inside, way, object, site, seen, has_written, size_of::<T>() as u8);
        let is_update = matches!(way.kind, OpKind::AtomicRmw | OpKind::AtomicCas) && has_written;
        if is_update && size_of::<T>() <= 8 && !inside.recorder.options.is_null() {
            inside.memory.written = Written { address, size: size_of::<T>(), is_update };
        }
        inside.inspect_atomic(&touch, object, way.atomic(has_written), seen);
        leave((value, has_written), inside)
    }
}

/// The same, after the step, where memory is weak.
#[inline(never)]
unsafe fn weakly<T: Number>(
    mut inside: Inside,
    touch: &Touch,
    op: &Op,
    way: Way,
    (access, update): (Access, impl FnOnce(T) -> T),
    body: impl FnOnce() -> (T, bool),
) -> (T, bool) {
    // SAFETY: the caller's promise.
    unsafe {
        let ask = Ask { access, order: way.order };
        let chosen = inside.choose_weakly(touch, op, ask);
        let (value, has_written) = match &chosen {
            None => body(),
            Some(it) if it.is_load || it.is_hidden => (T::of(it.seen), !it.is_load),
            Some(_) => body(),
        };
        let written = update(value);
        // Of a store the value is what it writes.
        let is_store = way.kind == OpKind::AtomicStore;
        let value = if is_store { written } else { value };
        let seen = value.into() as u64;
        inside.note_step(op, seen);
        let atomic = way.atomic(has_written);
        finish(&mut inside, way, op.object, op.site, seen, has_written, size_of::<T>() as u8);
        match &chosen {
            None => inside.inspect_atomic(touch, op.object, atomic, seen),
            Some(it) => {
                let written = written.into() as u64;
                inside.settle_weakly(touch, op.object, atomic, ask, it, written);
            }
        }
        leave((value, has_written), inside)
    }
}

/// A number that atomics hold.
trait Number: Copy + Into<u128> {
    /// The one of these bits.
    fn of(bits: u64) -> Self;
}

/// No other thread is alive: no step. But others may have been, and what they released is acquired.
#[inline]
unsafe fn alone<T: Number>(
    mut inside: Inside,
    touch: &Touch,
    way: Way,
    body: impl FnOnce() -> (T, bool),
) -> (T, bool) {
    require_live(&mut inside, touch, ObjectId::NONE);
    let (value, has_written) = body();
    if inside.scheduler.machine.n_threads() > 1 {
        let object = inside.variables(touch.address, touch.size);
        inside.memory.weak.forget(touch.address, touch.size);
        let seen = value.into() as u64;
        inside.inspect_atomic(touch, object, way.atomic(has_written), seen);
        inside.note_lone_look(touch.caller.pc);
    }
    inside.is_inside = false;
    (value, has_written)
}

/// Notes the value read, and whether the thread spins.
#[inline(always)]
unsafe fn finish(
    inside: &mut Inside,
    way: Way,
    object: ObjectId,
    site: SiteId,
    value: u64,
    has_written: bool,
    size: u8,
) {
    inside.recorder.emit.set_value(value, size);
    if way.kind == OpKind::AtomicCas && !has_written {
        inside.recorder.emit.set_failed(way.failure);
    }
    let spin = &mut inside.this().spin;
    match way.kind {
        OpKind::AtomicLoad => spin.read(site, object, value),
        OpKind::AtomicCas if !has_written => spin.read(site, object, value),
        OpKind::AtomicRmw => spin.read(site, object, value),
        _ => spin.reset(),
    }
}

macro_rules! atomics {
    ($module:ident, $type:ty, $atomic:ty,
        $load:ident, $store:ident, $exchange:ident, $add:ident, $sub:ident, $and:ident, $or:ident, $xor:ident,
        $nand:ident, $strong:ident, $weak:ident, $val:ident) => {
        mod $module {
            use super::*;

            impl Number for $type {
                fn of(bits: u64) -> $type {
                    bits as $type
                }
            }

            unsafe fn at<'a>(address: *mut $type) -> &'a $atomic {
                // SAFETY: the program promises an atomic object.
                unsafe { <$atomic>::from_ptr(address) }
            }

            export! {
                $load => load;
                $store => store;
                $exchange => exchange;
                $add => fetch_add;
                $sub => fetch_sub;
                $and => fetch_and;
                $or => fetch_or;
                $xor => fetch_xor;
                $nand => fetch_nand;
                $strong => compare_exchange;
                $weak => compare_exchange_weak;
                $val => compare_exchange_val;
            }

            unsafe extern "C" fn load(address: *mut $type, order: i32) -> $type {
                // SAFETY: the program promises an atomic object.
                let it = unsafe { at(address) };
                let way = Way::new(OpKind::AtomicLoad, order);
                let what = (Access::Load, |it| it);
                atomically(address as usize, way, caller(), what, || (it.load(SeqCst), false)).0
            }

            unsafe extern "C" fn store(address: *mut $type, value: $type, order: i32) {
                // SAFETY: the program promises an atomic object.
                let it = unsafe { at(address) };
                let way = Way::new(OpKind::AtomicStore, order);
                let what = (Access::Store, |_| value);
                atomically(address as usize, way, caller(), what, || {
                    it.store(value, SeqCst);
                    (value, true)
                });
            }

            atomics!(@rmw $type, exchange, swap, |_: $type, operand: $type| operand);
            atomics!(@rmw $type, fetch_add, fetch_add, <$type>::wrapping_add);
            atomics!(@rmw $type, fetch_sub, fetch_sub, <$type>::wrapping_sub);
            atomics!(@rmw $type, fetch_and, fetch_and, |seen: $type, operand: $type| seen & operand);
            atomics!(@rmw $type, fetch_or, fetch_or, |seen: $type, operand: $type| seen | operand);
            atomics!(@rmw $type, fetch_xor, fetch_xor, |seen: $type, operand: $type| seen ^ operand);
            atomics!(@rmw $type, fetch_nand, fetch_nand, |seen: $type, operand: $type| !(seen & operand));

            unsafe extern "C" fn compare_exchange(
                address: *mut $type, expected: *mut $type, desired: $type, order: i32, failure: i32,
            ) -> bool {
                // SAFETY: the program promises an atomic object, and the expected value.
                unsafe { exchange_if(address, expected, desired, Way::cas(order, failure), false, caller()) }
            }

            unsafe extern "C" fn compare_exchange_weak(
                address: *mut $type, expected: *mut $type, desired: $type, order: i32, failure: i32,
            ) -> bool {
                // SAFETY: as above.
                unsafe { exchange_if(address, expected, desired, Way::cas(order, failure), true, caller()) }
            }

            #[inline(always)]
            unsafe fn exchange_if(
                address: *mut $type, expected: *mut $type, desired: $type, way: Way, is_weak: bool, caller: Caller,
            ) -> bool {
                // SAFETY: the program promises an atomic object, and the expected value.
                let (it, wanted) = unsafe { (at(address), *expected) };
                let what = (way.exchange(wanted, is_weak), |_| desired);
                let (seen, has_written) = atomically(address as usize, way, caller, what, || {
                    match it.compare_exchange(wanted, desired, SeqCst, SeqCst) {
                        Ok(seen) => (seen, true),
                        Err(seen) => (seen, false),
                    }
                });
                if !has_written {
                    // SAFETY: the program promises a place for the value found.
                    unsafe { *expected = seen };
                }
                has_written
            }

            /// What clang and rustc call for weak ones, too: whoever calls compares the value, so it can't fail if it finds it.
            unsafe extern "C" fn compare_exchange_val(
                address: *mut $type, expected: $type, desired: $type, order: i32, failure: i32,
            ) -> $type {
                // SAFETY: the program promises an atomic object.
                let it = unsafe { at(address) };
                let way = Way::cas(order, failure);
                let what = (way.exchange(expected, false), |_| desired);
                atomically(address as usize, way, caller(), what, || {
                    match it.compare_exchange(expected, desired, SeqCst, SeqCst) {
                        Ok(seen) => (seen, true),
                        Err(seen) => (seen, false),
                    }
                }).0
            }
        }
    };
    (@rmw $type:ty, $name:ident, $method:ident, $update:expr) => {
        unsafe extern "C" fn $name(address: *mut $type, operand: $type, order: i32) -> $type {
            // SAFETY: the program promises an atomic object.
            let it = unsafe { at(address) };
            let way = Way::new(OpKind::AtomicRmw, order);
            let what = (Access::Rmw, |seen| $update(seen, operand));
            atomically(address as usize, way, caller(), what, || (it.$method(operand, SeqCst), true)).0
        }
    };
}

atomics!(
    bits8,
    u8,
    AtomicU8,
    __tsan_atomic8_load,
    __tsan_atomic8_store,
    __tsan_atomic8_exchange,
    __tsan_atomic8_fetch_add,
    __tsan_atomic8_fetch_sub,
    __tsan_atomic8_fetch_and,
    __tsan_atomic8_fetch_or,
    __tsan_atomic8_fetch_xor,
    __tsan_atomic8_fetch_nand,
    __tsan_atomic8_compare_exchange_strong,
    __tsan_atomic8_compare_exchange_weak,
    __tsan_atomic8_compare_exchange_val
);
atomics!(
    bits16,
    u16,
    AtomicU16,
    __tsan_atomic16_load,
    __tsan_atomic16_store,
    __tsan_atomic16_exchange,
    __tsan_atomic16_fetch_add,
    __tsan_atomic16_fetch_sub,
    __tsan_atomic16_fetch_and,
    __tsan_atomic16_fetch_or,
    __tsan_atomic16_fetch_xor,
    __tsan_atomic16_fetch_nand,
    __tsan_atomic16_compare_exchange_strong,
    __tsan_atomic16_compare_exchange_weak,
    __tsan_atomic16_compare_exchange_val
);
atomics!(
    bits32,
    u32,
    AtomicU32,
    __tsan_atomic32_load,
    __tsan_atomic32_store,
    __tsan_atomic32_exchange,
    __tsan_atomic32_fetch_add,
    __tsan_atomic32_fetch_sub,
    __tsan_atomic32_fetch_and,
    __tsan_atomic32_fetch_or,
    __tsan_atomic32_fetch_xor,
    __tsan_atomic32_fetch_nand,
    __tsan_atomic32_compare_exchange_strong,
    __tsan_atomic32_compare_exchange_weak,
    __tsan_atomic32_compare_exchange_val
);
atomics!(
    bits64,
    u64,
    AtomicU64,
    __tsan_atomic64_load,
    __tsan_atomic64_store,
    __tsan_atomic64_exchange,
    __tsan_atomic64_fetch_add,
    __tsan_atomic64_fetch_sub,
    __tsan_atomic64_fetch_and,
    __tsan_atomic64_fetch_or,
    __tsan_atomic64_fetch_xor,
    __tsan_atomic64_fetch_nand,
    __tsan_atomic64_compare_exchange_strong,
    __tsan_atomic64_compare_exchange_weak,
    __tsan_atomic64_compare_exchange_val
);

/// 16 bytes, by `cmpxchg16b`, with the methods of the smaller atomics.
#[repr(transparent)]
struct Wide(std::cell::UnsafeCell<u128>);

impl Wide {
    unsafe fn from_ptr<'a>(address: *mut u128) -> &'a Wide {
        // SAFETY: the caller promises an aligned object of 16 bytes.
        unsafe { &*address.cast() }
    }

    fn compare_exchange(
        &self,
        expected: u128,
        desired: u128,
        _: std::sync::atomic::Ordering,
        _: std::sync::atomic::Ordering,
    ) -> Result<u128, u128> {
        let (mut low, mut high) = (expected as u64, (expected >> 64) as u64);
        // SAFETY: the object is aligned; every x86-64 processor that we support has the instruction;
        // rbx is exchanged by hand, because the compiler may keep a value of its own in it.
        unsafe {
            core::arch::asm!(
                "xchg rsi, rbx",
                "lock cmpxchg16b [rdi]",
                "mov rbx, rsi",
                inout("rsi") desired as u64 => _,
                in("rdi") self.0.get(),
                in("rcx") (desired >> 64) as u64,
                inout("rax") low,
                inout("rdx") high,
                options(nostack),
            );
        }
        let seen = u128::from(low) | u128::from(high) << 64;
        if seen == expected { Ok(seen) } else { Err(seen) }
    }

    fn update(&self, mut change: impl FnMut(u128) -> u128) -> u128 {
        let mut seen = self.load(SeqCst);
        loop {
            match self.compare_exchange(seen, change(seen), SeqCst, SeqCst) {
                Ok(seen) => return seen,
                Err(other) => seen = other,
            }
        }
    }

    fn load(&self, order: std::sync::atomic::Ordering) -> u128 {
        match self.compare_exchange(0, 0, order, order) {
            Ok(seen) | Err(seen) => seen,
        }
    }

    fn store(&self, value: u128, _: std::sync::atomic::Ordering) {
        self.update(|_| value);
    }

    fn swap(&self, value: u128, _: std::sync::atomic::Ordering) -> u128 {
        self.update(|_| value)
    }

    fn fetch_add(&self, value: u128, _: std::sync::atomic::Ordering) -> u128 {
        self.update(|seen| seen.wrapping_add(value))
    }

    fn fetch_sub(&self, value: u128, _: std::sync::atomic::Ordering) -> u128 {
        self.update(|seen| seen.wrapping_sub(value))
    }

    fn fetch_and(&self, value: u128, _: std::sync::atomic::Ordering) -> u128 {
        self.update(|seen| seen & value)
    }

    fn fetch_or(&self, value: u128, _: std::sync::atomic::Ordering) -> u128 {
        self.update(|seen| seen | value)
    }

    fn fetch_xor(&self, value: u128, _: std::sync::atomic::Ordering) -> u128 {
        self.update(|seen| seen ^ value)
    }

    fn fetch_nand(&self, value: u128, _: std::sync::atomic::Ordering) -> u128 {
        self.update(|seen| !(seen & value))
    }
}

atomics!(
    bits128,
    u128,
    Wide,
    __tsan_atomic128_load,
    __tsan_atomic128_store,
    __tsan_atomic128_exchange,
    __tsan_atomic128_fetch_add,
    __tsan_atomic128_fetch_sub,
    __tsan_atomic128_fetch_and,
    __tsan_atomic128_fetch_or,
    __tsan_atomic128_fetch_xor,
    __tsan_atomic128_fetch_nand,
    __tsan_atomic128_compare_exchange_strong,
    __tsan_atomic128_compare_exchange_weak,
    __tsan_atomic128_compare_exchange_val
);

export! {
    __tsan_atomic_thread_fence => thread_fence;
    __tsan_atomic_signal_fence => signal_fence;
}

/// Under sequential consistency a fence changes nothing that a thread can see; but it decides what is
/// ordered, so it is told. Where memory is weak it decides what can be read later, too.
extern "C" fn thread_fence(order: i32) {
    let caller = caller();
    fence(SeqCst);
    let Some(mut inside) = enter() else {
        return;
    };
    let mut order = MemoryOrder::from_number(order as u32);
    if !inside.scheduler.machine.is_alone() {
        let site = inside.site(caller);
        order = inside.planned_order(site).unwrap_or(order);
        // One in a spin loop is part of the wait.
        let flags = inside.this().spin.flags();
        step(&mut inside, Op { flags, ..Op::on(OpKind::Fence, ObjectId::NONE, site).order(order) });
    }
    inside.order_by_fence(order);
    leave((), inside);
}

extern "C" fn signal_fence(_order: i32) {
    std::sync::atomic::compiler_fence(SeqCst);
}
