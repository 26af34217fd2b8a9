//! Names that are the same in every execution: where code is, where memory is.
//!
//! Code: module + offset. Memory: a global's module + offset; a heap block's allocation site + offset;
//! a stack's thread + offset below the frame of its first function.

use std::{
    ffi::{CStr, c_int, c_void},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use raddle_model::{Allocator, BlockSort, Points, SiteId, ThreadId, hash_bytes, mix};
use raddle_trace::{
    CONTEXT_CALLS, ModuleEntry, ObjectClass, ObjectEntry, STACK_DEPTH, SiteEntry,
    protocol::RegionTag,
};

use crate::{
    control::Control,
    process::launcher,
    record::{
        modules::Module,
        stack::Caller,
        stacks::{self, Stack, StackId},
    },
    state::heap::{self, Block, N_CALLERS, Named},
};

/// The frame of a function on a stack.
struct FrameAround {
    /// The function's stack pointer.
    sp: usize,
    /// Its return address.
    called_from: usize,
    /// Its caller's stack pointer, if the caller has hooks.
    caller_sp: Option<usize>,
}

/// Bytes above the stack pointer of a thread's first function in which its return address is looked for.
const FRAME_MAX: usize = 1 << 14;

/// What the names in a module begin with.
fn module_seed(module: &Module) -> u64 {
    mix(1, module.path_hash)
}

/// What the names on a thread's stack begin with.
fn stack_seed(thread: ThreadId) -> u64 {
    mix(3, u64::from(thread.0))
}

/// The first words below a stack pointer.
fn below(sp: usize) -> impl Iterator<Item = usize> {
    const N_WORDS: usize = 8;
    (1..=N_WORDS).map(move |idx| sp.wrapping_sub(idx * size_of::<usize>()))
}

/// A bit for each name that the plan says is shared: most names are not, and this says so at once.
static FILTER: [AtomicU64; FILTER_WORDS] = [const { AtomicU64::new(0) }; FILTER_WORDS];
const FILTER_WORDS: usize = 1 << 10;

#[inline]
fn filter_place(name: u64) -> (usize, u64) {
    ((name >> 6) as usize % FILTER_WORDS, 1 << (name % 64))
}

impl Control {
    /// Is it code of a library of the system?
    pub(crate) fn is_system_code(&self, pc: usize) -> bool {
        !self.recorder.modules.is_program_code(pc)
    }

    /// Is it code of the program's language's library, compiled into the program?
    pub(crate) fn is_library_code(&self, pc: usize) -> bool {
        self.recorder.modules.is_library_code(pc)
    }

    /// Is it code of the C library? It may hold locks of its own, which we know nothing of.
    pub(crate) fn is_c_library(&self, pc: usize) -> bool {
        let (start, end) = self.recorder.modules.c_library;
        start <= pc && pc < end
    }

    /// A library is about to be loaded.
    pub(crate) fn expect_modules(&mut self) {
        const LOOKS: u32 = 64;
        self.recorder.modules.n_looks = LOOKS;
    }

    /// Was a module loaded that nobody has met yet? (An address that is in none, or a race that code of one may order.)
    pub(crate) fn look_again(&mut self) {
        if self.recorder.modules.n_looks > 0 {
            self.recorder.modules.n_looks -= 1;
            self.find_modules();
        }
    }

    /// Looks at what is loaded now; what is known keeps its number.
    pub(crate) fn find_modules(&mut self) {
        // SAFETY: the callback gets this very `Control`, which nobody else touches meanwhile.
        unsafe { libc::dl_iterate_phdr(Some(add_module), (&raw mut *self).cast()) };
    }

    /// What addresses of a module are relative to, and where it begins.
    pub(crate) fn module_bounds(&self, number: usize) -> Option<(usize, usize)> {
        self.recorder.modules.found.get(number).map(|it| (it.bias, it.start))
    }

    fn add_module(&mut self, info: &libc::dl_phdr_info) {
        let bias = info.dlpi_addr as usize;
        let (mut start, mut end, mut text) = (usize::MAX, 0, (0, 0));
        for idx in 0..info.dlpi_phnum as usize {
            // SAFETY: the loader hands out its table of program headers with its length.
            let header = unsafe { &*info.dlpi_phdr.add(idx) };
            if header.p_type != libc::PT_LOAD {
                continue;
            }
            let from = bias + header.p_vaddr as usize;
            let to = from + header.p_memsz as usize;
            start = start.min(from);
            end = end.max(to);
            if header.p_flags & libc::PF_X != 0 {
                text = (from, to);
            }
        }
        if start >= end
            || self.recorder.modules.found.iter().any(|it| it.start == start && it.end == end)
        {
            return;
        }
        let mut path = [0_u8; 512];
        // SAFETY: the loader's name is a C string, empty for the executable.
        let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes();
        let n_path = if name.is_empty() && self.recorder.modules.found.is_empty() {
            // SAFETY: writes at most the given size.
            unsafe { libc::readlink(c"/proc/self/exe".as_ptr(), path.as_mut_ptr().cast(), 511) }
                .max(0) as usize
        } else {
            let n_path = name.len().min(511);
            path[..n_path].copy_from_slice(&name[..n_path]);
            n_path
        };
        let path_text = &path[..n_path];
        let is_system =
            [&b"/lib"[..], b"/usr/lib", b"linux-vdso"].iter().any(|it| path_text.starts_with(it));
        let is_ours = path_text.ends_with(b"libraddle_rt.so");
        if path_text.ends_with(b"/libc.so.6") {
            self.recorder.modules.c_library = text;
        }
        let number = self.recorder.modules.found.len();
        if number < self.segment.caps().modules as usize {
            // SAFETY: the area has room for this number.
            unsafe { *self.segment.modules().add(number) = ModuleEntry { path, is_announced: 0 } };
        }
        self.recorder.modules.found.push(Module {
            bias,
            start,
            end,
            text,
            is_program: !is_system && !is_ours,
            path_hash: hash_bytes(path_text.rsplit(|it| *it == b'/').next().unwrap_or(b"")),
        });
        // SAFETY: the header is mapped for as long as the process lives.
        unsafe { (*self.header).result.n_modules = self.recorder.modules.found.len() as u32 };
    }

    /// The site of a call, in the program's own code if possible: a call from a library (`std::mutex`
    /// inside libstdc++) counts as made where the program called the library.
    #[inline(always)]
    pub(crate) fn site(&mut self, caller: Caller) -> SiteId {
        if let Some(site) = self.recorder.emit.known_site(caller.pc)
            && !self.recorder.emit.is_foreign(site)
        {
            return site;
        }
        self.site_slow(caller)
    }

    /// Notes that a thread looks at memory when no other is alive.
    #[inline]
    pub(crate) fn note_lone_look(&mut self, pc: usize) {
        self.process.lone_look = Some((pc, self.scheduler.machine.n_threads()));
    }

    /// Are accesses told that a thread makes when no other is left? Where the plan asks for it, for an explanation, and every
    /// access is a step.
    #[inline]
    pub(crate) fn tells_lone(&self) -> bool {
        self.recorder.tells_lone
            && self.scheduler.points == Points::All
            && self.scheduler.machine.n_threads() > 1
    }

    /// Where `main` last looked at what other threads may have used, when it has returned; 0 if that is not known, or in
    /// a library. What it looked at before the last of them was created says nothing.
    pub(crate) fn lone_look(&mut self) -> SiteId {
        let n_threads = self.scheduler.machine.n_threads();
        let Some((pc, _)) = self.process.lone_look.filter(|(_, n)| *n == n_threads && *n > 1)
        else {
            return SiteId(0);
        };
        match self.recorder.emit.known_site(pc) {
            _ if !self.recorder.modules.is_program_code(pc) => SiteId(0),
            Some(site) => site,
            None => self.add_site(pc, false),
        }
    }

    #[inline(never)]
    fn site_slow(&mut self, caller: Caller) -> SiteId {
        let has_hooks = self.hot.stack.innermost_sp().is_some_and(|frame| frame <= caller.sp);
        if has_hooks
            && let Some(site) = self.recorder.ways.find(
                caller.pc,
                &self.hot.stack,
                self.recorder.emit.n_kept_sites(),
            )
        {
            return site;
        }
        self.find_site(caller)
    }

    #[cold]
    fn find_site(&mut self, caller: Caller) -> SiteId {
        if self.recorder.emit.known_site(caller.pc).is_none()
            && self.recorder.modules.of(caller.pc).is_none()
        {
            self.look_again();
        }
        let thread = &self.scheduler.threads[self.me.idx()];
        self.process.check.is_searched(self.me, thread.top, caller.sp);
        if self.recorder.modules.is_library_code(caller.pc) {
            return self.library_site(caller);
        }
        if self.recorder.modules.is_program_code(caller.pc)
            || self.recorder.modules.found.is_empty()
        {
            return self.add_site(caller.pc, false);
        }
        match self.program_return_address(caller.sp) {
            Some(pc) => self.add_site(pc, false),
            None => self.add_site(caller.pc, true),
        }
    }

    /// The site of a call from the library that is compiled into the program: each way from the program's
    /// own code to there has one of its own, and each call on the way is a site too.
    fn library_site(&mut self, caller: Caller) -> SiteId {
        const WAY_MAX: usize = 16;
        let mut way = [caller.pc; WAY_MAX];
        let (mut n_way, mut key) = (1, caller.pc as u64);
        // Without any function that has hooks (a panic has left them all), what looks like a call on the stack may be
        // what an earlier execution has left behind.
        let innermost = self.hot.stack.innermost_sp();
        let is_without_hooks = innermost.is_some_and(|frame| caller.sp < frame);
        let called = is_without_hooks.then(|| self.program_return_address(caller.sp)).flatten();
        let (mut own, mut last) = (None, None);
        for pc in called.into_iter().chain(self.hot.stack.callers()) {
            last = Some(pc);
            if n_way == WAY_MAX || !self.recorder.modules.is_program_code(pc) {
                break;
            }
            key = mix(key, pc as u64);
            if !self.recorder.modules.is_library_code(pc) {
                own = Some(pc);
                break;
            }
            way[n_way] = pc;
            n_way += 1;
        }
        let site = self.recorder.emit.known_site(key as usize);
        let site = site.unwrap_or_else(|| self.add_way(&way[..n_way], key, own));
        if let (Some(last), false, true) = (last, is_without_hooks, n_way < WAY_MAX) {
            way[n_way] = last;
            self.recorder.ways.keep(caller.pc, &way[1..=n_way], &self.hot.stack, site);
        }
        site
    }

    /// Numbers the calls of a way from the program's own one to the library's innermost one; that one's number.
    fn add_way(&mut self, way: &[usize], key: u64, own: Option<usize>) -> SiteId {
        let mut site = own.map_or(SiteId(0), |it| self.add_site(it, false));
        for (idx, pc) in way.iter().copied().enumerate().rev() {
            let entry = SiteEntry { via: site.0, ..self.recorder.modules.site_entry(pc) };
            let key =
                if idx == 0 { key as usize } else { mix(pc as u64, key ^ idx as u64) as usize };
            site = self.recorder.emit.add_library_site(key, pc, entry);
        }
        site
    }

    /// Finds the return address into the program's code on the stack. The innermost function that has
    /// hooks called the library: the address lies right below its frame, and above all that libraries
    /// have left behind on the stack. Without such a function, the nearest one must do.
    fn program_return_address(&self, sp: usize) -> Option<usize> {
        let thread = &self.scheduler.threads[self.me.idx()];
        // A stack of the program's own making may end anywhere, but not within a page.
        let is_on_own = thread.stack_bottom <= sp && sp < thread.stack_top;
        let end = if is_on_own { thread.stack_top } else { (sp | 4095) + 1 };
        let end = end.min(sp + (1 << 14));
        let sp = sp & !7;
        let at = |address: usize| {
            // SAFETY: between the stack pointer and the thread's stack top all is mapped.
            let word = unsafe { (address as *const usize).read() };
            (self.recorder.modules.is_program_code(word) && self.follows_call(word)).then_some(word)
        };
        match self.hot.stack.innermost_sp() {
            Some(frame) if sp < frame && frame <= end => {
                (sp..frame & !7).step_by(8).rev().find_map(at)
            }
            _ => (sp..end.min(sp + 1024)).step_by(8).find_map(at),
        }
    }

    /// Does a call instruction end at this address?
    fn follows_call(&self, pc: usize) -> bool {
        // SAFETY: the address is within the text of a module, and at least 7 bytes into it, or the
        // bytes before it belong to the same mapping of the file's headers.
        let byte = |back: usize| unsafe { ((pc - back) as *const u8).read() };
        byte(5) == 0xe8 || byte(2) == 0xff || byte(3) == 0xff || byte(6) == 0xff || byte(7) == 0xff
    }

    /// The number of a code address.
    pub(crate) fn add_site(&mut self, pc: usize, is_foreign: bool) -> SiteId {
        if let Some(site) = self.recorder.emit.known_site(pc) {
            return site;
        }
        let entry = self.recorder.modules.site_entry(pc);
        // A call from the library has to be looked at again each time.
        let is_foreign = is_foreign || self.recorder.modules.is_library_code(pc);
        self.recorder.emit.add_site(pc, entry, is_foreign)
    }

    /// A block was allocated, by a call from here.
    pub(crate) fn add_block(
        &mut self,
        address: usize,
        size: usize,
        (sort, allocator): (BlockSort, Allocator),
        caller: Caller,
    ) {
        let site = self.site(caller);
        let stack = self.keep_stack(self.recorder.emit.site_pc(site));
        let (thread, n_unseen) = (self.me, heap::n_unseen());
        let born = self.memory.locksets.moment(self.recorder.emit.n_steps);
        let block =
            Block { size, site, ordinal: 0, thread, stack, allocator, sort, n_unseen, born };
        self.memory.heap.add(address, block);
    }

    /// The program's call that led to one from here, without numbering it.
    pub(crate) fn own_call(&self, caller: Caller) -> usize {
        if self.recorder.modules.is_program_code(caller.pc) {
            return caller.pc;
        }
        self.program_return_address(caller.sp).unwrap_or(caller.pc)
    }

    /// Keeps the calls that have led the thread that runs to the one at `pc`.
    pub(crate) fn keep_stack(&mut self, pc: usize) -> StackId {
        let mut stack: Stack = [0; STACK_DEPTH];
        stack[0] = pc;
        for (to, caller) in stack[1..].iter_mut().zip(self.hot.stack.callers()) {
            *to = caller;
        }
        self.add_stack(&stack)
    }

    fn add_stack(&mut self, stack: &Stack) -> StackId {
        let (number, is_new) = self.recorder.stacks.add(stack);
        if is_new && self.recorder.emit.is_live() {
            self.publish_stack(number);
        }
        number
    }

    /// The file that the code at an address is from; empty if that is not known.
    pub(crate) fn path_of(&self, pc: usize) -> Vec<u8> {
        let Some((number, _)) = self.recorder.modules.of(pc) else { return Vec::new() };
        // SAFETY: the area has an entry for each module that was found.
        let path = unsafe { (*self.segment.modules().add(number as usize)).path };
        path.iter().copied().take_while(|it| *it != 0).collect()
    }

    /// Writes the stacks into the segment.
    pub(crate) fn publish_stacks(&mut self) {
        for number in 0..self.recorder.stacks.len() as u32 {
            self.publish_stack(StackId(number));
        }
    }

    fn publish_stack(&mut self, number: StackId) {
        let entry = stacks::entry(self.recorder.stacks.get(number), |pc| {
            self.recorder.modules.site_entry(pc)
        });
        // SAFETY: the area has room for all stacks that are kept; the header is mapped.
        unsafe {
            *self.segment.stacks().add(number.0 as usize) = entry;
            (*self.header).result.n_stacks = number.0 + 1;
        }
    }

    /// What is at an address, for the object table, with its name, the same in every execution and for
    /// all objects of one kind (all blocks of an allocation site).
    pub(crate) fn describe(&mut self, address: usize, class: ObjectClass) -> ObjectEntry {
        let mut entry = ObjectEntry { class: class as u8, ..ObjectEntry::default() };
        if let Some((base, block)) = self.memory.heap.block_of(address) {
            entry.region = RegionTag::Heap as u8;
            entry.sort = block.sort as u16;
            entry.base = block.site.0;
            entry.ordinal = block.ordinal;
            entry.size = block.size.min(u32::MAX as usize) as u32;
            entry.offset = (address - base) as u64;
            entry.thread = block.thread.0;
            entry.stack = block.stack.0;
            entry.name = mix(self.block_seed(&block), entry.offset);
        } else if let Some((number, module)) = self.module_at(address) {
            entry.region = RegionTag::Global as u8;
            entry.base = number;
            entry.offset = (address - module.bias) as u64;
            entry.name = mix(module_seed(module), entry.offset);
        } else if let Some(thread) = self.stack_at(address) {
            let base = self.scheduler.threads[thread.idx()].stack_base;
            entry.region = RegionTag::Stack as u8;
            entry.base = thread.0;
            entry.offset = base.wrapping_sub(address) as u64;
            entry.name = mix(stack_seed(thread), entry.offset);
        }
        entry
    }

    /// The memory around an address in which names begin alike.
    pub(crate) fn named_at(&mut self, address: usize) -> Named {
        if let Some((origin, block)) = self.memory.heap.block_of(address) {
            let (range, seed) = (origin..origin + block.size.max(1), self.block_seed(&block));
            return Named { range, seed, origin, is_stack: false };
        }
        if let Some((_, module)) = self.module_at(address) {
            let (range, seed) = (module.start..module.end, module_seed(module));
            return Named { range, seed, origin: module.bias, is_stack: false };
        }
        let Some(thread) = self.stack_at(address) else { return Named::default() };
        let it = &self.scheduler.threads[thread.idx()];
        let range = it.stack_bottom..it.stack_top;
        Named { range, seed: stack_seed(thread), origin: it.stack_base, is_stack: true }
    }

    /// The module that an address is in, perhaps a new one.
    fn module_at(&mut self, address: usize) -> Option<(u32, &Module)> {
        if self.recorder.modules.n_looks > 0 && self.recorder.modules.of(address).is_none() {
            self.look_again();
        }
        self.recorder.modules.of(address)
    }

    /// Says which function's frame something on a stack is in, and where in it.
    ///
    /// A frame reaches from its function's stack pointer up to that of the function's caller. While a
    /// function is in a call, the word below its stack pointer is the call's return address: code of the
    /// function. Its own return address is the word below its caller's stack pointer. (Arguments that
    /// are passed on the stack may lie in between: a few words are looked at.)
    pub(crate) fn describe_frame(&mut self, entry: &mut ObjectEntry, address: usize) {
        if entry.region != RegionTag::Stack as u8 {
            return;
        }
        let thread = ThreadId(entry.base);
        let Some(frame) = self.frame_around(thread, address) else { return };
        let owner = &self.scheduler.threads[thread.idx()];
        let (bottom, top) = (owner.stack_bottom, owner.stack_top);
        let word = |at: usize| {
            let is_on_stack = bottom <= at && at + size_of::<usize>() <= top;
            // SAFETY: a thread's stack is mapped from its top down to where it has been.
            is_on_stack.then(|| unsafe { (at as *const usize).read() })
        };
        let is_code =
            |pc: &usize| self.recorder.modules.is_program_code(*pc) && self.follows_call(*pc);
        let Some(code) = below(frame.sp).filter_map(word).find(is_code) else { return };
        let is_slot = |at: &usize| word(*at) == Some(frame.called_from);
        let slot = match frame.caller_sp {
            Some(caller_sp) => below(caller_sp).find(is_slot),
            None => (frame.sp..frame.sp + FRAME_MAX).step_by(size_of::<usize>()).find(is_slot),
        };
        let Some(slot) = slot else { return };
        let cfa = slot + size_of::<usize>();
        let mut stack = [0; STACK_DEPTH];
        stack[0] = code;
        entry.stack = self.add_stack(&stack).0;
        entry.ordinal = address.wrapping_sub(cfa) as u32;
        entry.size = address.wrapping_sub(frame.sp) as u32;
    }

    fn frame_around(&self, thread: ThreadId, address: usize) -> Option<FrameAround> {
        let mut frames = self.stack_of_thread(thread).frames().peekable();
        let mut found = None;
        while let Some((called_from, sp)) = frames.next_if(|(_, sp)| *sp <= address) {
            let caller_sp = frames.peek().map(|it| it.1);
            found = Some(FrameAround { sp, called_from, caller_sp });
        }
        found
    }

    /// A hash of the last calls that led here; 0 for none.
    pub(crate) fn context(&self) -> u64 {
        let calls = self.hot.stack.callers().take(CONTEXT_CALLS);
        calls.fold(0, |hash, pc| match self.recorder.modules.of(pc) {
            Some((_, module)) => mix(hash ^ module.path_hash, (pc - module.bias) as u64),
            None => hash,
        })
    }

    /// What the names in blocks of a kind begin with.
    fn block_seed(&self, block: &Block) -> u64 {
        mix(2, self.block_hash(block))
    }

    /// What tells the blocks of one kind from others: where they come from, and their size.
    pub(crate) fn block_hash(&self, block: &Block) -> u64 {
        let site_hash = mix(self.recorder.emit.site_hash(block.site), block.size as u64);
        let callers = &self.recorder.stacks.get(block.stack)[1..=N_CALLERS];
        callers.iter().fold(site_hash, |hash, pc| match self.recorder.modules.of(*pc) {
            Some((_, module)) => mix(hash ^ module.path_hash, (pc - module.bias) as u64),
            None => hash,
        })
    }

    /// Whose stack an address is on.
    pub(crate) fn stack_at(&self, address: usize) -> Option<ThreadId> {
        let is_on = |idx: &usize| {
            let it = &self.scheduler.threads[*idx];
            it.stack_bottom <= address && address < it.stack_top
        };
        let idx =
            std::iter::once(self.me.idx()).chain(0..self.scheduler.threads.len()).find(is_on)?;
        Some(ThreadId(idx as u32))
    }

    /// Is it one of the names that the plan says are shared?
    #[inline]
    pub(crate) fn is_known_shared(&self, name: u64) -> bool {
        let (idx, bit) = filter_place(name);
        FILTER[idx].load(Relaxed) & bit != 0 && self.scheduler.shared.binary_search(&name).is_ok()
    }

    /// The names that the plan says are shared, sorted.
    pub(crate) fn set_shared(&mut self, names: Vec<u64>) {
        for word in &FILTER {
            word.store(0, Relaxed);
        }
        for name in &names {
            let (idx, bit) = filter_place(*name);
            FILTER[idx].fetch_or(bit, Relaxed);
        }
        self.scheduler.shared = names;
    }

    /// The function that a thread runs, as the launcher finds functions: as if a call in it had just
    /// returned.
    pub(crate) fn start_entry(&self, id: ThreadId) -> SiteEntry {
        let start = match self.scheduler.threads[id.idx()].start {
            Some(start) => start as usize + 1,
            None if id == ThreadId(0) => launcher::main_address() + 1,
            None => 0,
        };
        self.recorder.modules.site_entry(start)
    }
}

unsafe extern "C" fn add_module(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    control: *mut c_void,
) -> c_int {
    // SAFETY: `find_modules` passes a `Control`, the loader its table.
    unsafe { (*control.cast::<Control>()).add_module(&*info) };
    0
}
