//! What threads are called.

use raddle_fiber::raw;

use super::ThreadRt;

impl ThreadRt {
    /// Its own name, or what its creator was called; empty if neither had one.
    pub(super) fn own_or_inherited(&self) -> [u8; 16] {
        if self.name[0] == 0 { self.inherited } else { self.name }
    }

    /// What the system calls it: as its creator, or as the program, unless it has a name of its own.
    pub(crate) fn known_name(&self) -> [u8; 16] {
        let mut name = self.own_or_inherited();
        if name[0] == 0 {
            let args = [libc::PR_GET_NAME as usize, name.as_mut_ptr() as usize, 0, 0, 0, 0];
            // SAFETY: the kernel fills in 16 bytes. It has carriers' names only, which are the program's.
            unsafe { raw::syscall(libc::SYS_prctl, args) };
        }
        name
    }
}
