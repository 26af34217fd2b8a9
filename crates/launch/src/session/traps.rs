//! Tells the runtime which instructions of the program order threads without a hook.

use std::path::Path;

use raddle_explore::runs_tasks;
use raddle_trace::TrapEntry;

use super::NativeSession;
use crate::{elf, runtime::RUNTIME_NAME, symbols};

/// Libraries that came with the system are called for what they do, not for how they do it; unless they run the program's
/// own code, in an order of their own.
const SYSTEM: [&str; 3] = ["/lib", "/usr/lib", "linux-vdso"];

impl NativeSession {
    /// Writes the traps of the modules that are loaded before `main`, unless nothing of the program has hooks.
    #[expect(unsafe_code, reason = "writes into the shared segment")]
    pub(super) fn write_traps(&mut self) {
        let segment = self.server.segment;
        // SAFETY: the server waits for a command, so nobody writes.
        let modules = unsafe { segment.still() }.read_modules();
        let is_own = |path: &str| {
            let is_system = SYSTEM.iter().any(|it| path.starts_with(it));
            !path.ends_with(RUNTIME_NAME) && (!is_system || runs_tasks(path))
        };
        let own: Vec<usize> = (0..modules.len()).filter(|it| is_own(&modules[*it].path)).collect();
        if !own.iter().any(|it| elf::has_hooks(Path::new(&modules[*it].path))) {
            return;
        }
        let mut all: Vec<TrapEntry> = Vec::new();
        for module in own {
            let traps = symbols::traps(Path::new(&modules[module].path));
            let has_room = all.len() + traps.entries.len() <= self.caps.traps as usize;
            if has_room {
                let of_module = |it: &TrapEntry| TrapEntry { module: module as u32, ..*it };
                all.extend(traps.entries.iter().map(of_module));
            }
            let is_announced = u32::from(has_room && traps.is_all);
            // SAFETY: so many modules were read; the server waits for a command.
            let entry = unsafe { segment.modules().add(module) };
            // SAFETY: as above.
            unsafe { (*entry).is_announced = is_announced };
        }
        // SAFETY: they fit, as was seen; the server waits.
        unsafe { segment.write(segment.traps(), &all) };
        // SAFETY: as above.
        unsafe { (*segment.header()).request.n_traps = all.len() as u32 };
    }
}
