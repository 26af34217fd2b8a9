//! Makes the program's async runtime poll tasks through us: in its tables of functions, which the launcher has found, ours
//! stand in place of its own, each with the number of the table. Two of its functions begin with a jump to ours.

use std::sync::OnceLock;

use crate::{
    control::Control,
    outside::traps::{map_below, protect},
    record::library::TaskSort,
};

const PAGE: usize = 4096;
/// Bytes for one entry: which table it is, then a jump.
const ENTRY: usize = 24;

/// The runtime's own functions for tasks of one type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Functions {
    pub(crate) poll: Function,
    pub(crate) schedule: Function,
    pub(crate) dealloc: Function,
    pub(crate) shutdown: Function,
    /// Where they are kept.
    pub(crate) table: usize,
    pub(crate) sort: TaskSort,
}

/// Gets a task.
pub(crate) type Function = unsafe extern "C-unwind" fn(usize);
/// Gets a task, and the number of its table.
pub(crate) type Ours = unsafe extern "C-unwind" fn(usize, usize);

/// What stands in the place of the runtime's functions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StandIns {
    pub(crate) poll: Ours,
    pub(crate) dealloc: Ours,
    pub(crate) shutdown: Ours,
    pub(crate) number: usize,
    pub(crate) draw: usize,
}

#[derive(Debug)]
struct Patched {
    all: Vec<Functions>,
    counter: usize,
}

static PATCHED: OnceLock<Patched> = OnceLock::new();

/// In the server, before anything is executed: puts ours in place.
pub(crate) fn install(control: &Control, ours: &StandIns) {
    let (bias, code) = control.recorder.modules.tasks();
    let Some((_, start)) = control.module_bounds(0).filter(|_| !code.tables.is_empty()) else {
        return;
    };
    let n_entries = code.tables.len() * 3;
    let size = (n_entries * ENTRY).next_multiple_of(PAGE);
    let Some(entries) = map_below(start, size) else { return };
    let at = |word: u64| bias + word as usize;
    let mut all = Vec::with_capacity(code.tables.len());
    for (idx, table) in code.tables.iter().enumerate() {
        // SAFETY: the launcher has found functions of this type in these words, and the loader has filled them.
        let own = |word: u64| unsafe { (at(word) as *const Function).read() };
        all.push(Functions {
            poll: own(table.poll),
            schedule: own(table.schedule),
            dealloc: own(table.dealloc),
            shutdown: own(table.shutdown),
            table: at(table.poll),
            sort: table.sort,
        });
        let words = [
            (table.poll, ours.poll),
            (table.dealloc, ours.dealloc),
            (table.shutdown, ours.shutdown),
        ];
        for (nth, (word, ours)) in words.into_iter().enumerate() {
            let entry = entries + (idx * 3 + nth) * ENTRY;
            // SAFETY: fresh memory with room for so many, and words of the program that nobody uses meanwhile.
            unsafe {
                write_entry(entry, idx, ours);
                replace(at(word), entry);
            }
        }
    }
    protect(entries, size, libc::PROT_READ | libc::PROT_EXEC);
    let [function, counter] = code.numbering;
    if function != 0 {
        jump(at(function), ours.number);
    }
    if code.drawing != 0 {
        jump(at(code.drawing), ours.draw);
    }
    PATCHED.get_or_init(|| Patched { all, counter: if function == 0 { 0 } else { at(counter) } });
}

/// `mov esi, idx; mov rax, ours; jmp rax`.
unsafe fn write_entry(entry: usize, idx: usize, ours: Ours) {
    let mut code = [0_u8; ENTRY];
    code[0] = 0xbe;
    code[1..5].copy_from_slice(&(idx as u32).to_le_bytes());
    code[5..7].copy_from_slice(&[0x48, 0xb8]);
    code[7..15].copy_from_slice(&(ours as usize).to_le_bytes());
    code[15..17].copy_from_slice(&[0xff, 0xe0]);
    // SAFETY: the caller promises room.
    unsafe { (entry as *mut [u8; ENTRY]).write(code) };
}

/// Another function in a word that can only be read otherwise.
unsafe fn replace(word: usize, function: usize) {
    let page = word & !(PAGE - 1);
    protect(page, PAGE, libc::PROT_READ | libc::PROT_WRITE);
    // SAFETY: the caller promises a word; it is aligned, so it is in this page.
    unsafe { (word as *mut usize).write(function) };
    protect(page, PAGE, libc::PROT_READ);
}

/// `movabs r11, to; jmp r11` in place of a function.
fn jump(function: usize, to: usize) {
    let mut code = [0x49, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0xff, 0xe3];
    code[2..10].copy_from_slice(&to.to_le_bytes());
    let page = function & !(PAGE - 1);
    let size = (function + code.len()).next_multiple_of(PAGE) - page;
    protect(page, size, libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC);
    // SAFETY: the launcher has seen a function there that is as long, and nobody executes it meanwhile.
    unsafe { (function as *mut [u8; 13]).write_unaligned(code) };
    protect(page, size, libc::PROT_READ | libc::PROT_EXEC);
}

/// The functions of a table.
pub(crate) fn functions(table: usize) -> &'static Functions {
    &PATCHED.get().expect("bug: a task without tables").all[table]
}

/// Where tasks are counted; null if that is not known.
pub(crate) fn counter() -> *mut u64 {
    PATCHED.get().map_or(std::ptr::null_mut(), |it| it.counter as *mut u64)
}
