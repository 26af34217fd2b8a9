//! What the kernel and the processor offer.

use std::{ffi::CStr, fs};

use nix::sys::{
    memfd::{MFdFlags, memfd_create},
    personality::{self, Persona},
};

use super::Check;

/// The number of the auxiliary vector's entry that says what the processor can do.
const AT_HWCAP2: u64 = 26;
/// `HWCAP2_FSGSBASE`: programs may set the FS base themselves.
const FSGSBASE: u64 = 1 << 1;

pub(super) fn kernel() -> Check {
    let name = "kernel";
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Check::bad(name, "raddle supports x86-64 Linux only");
    }
    match fs::read_to_string("/proc/sys/kernel/osrelease") {
        Ok(release) => Check::good(name, format!("Linux {} on x86-64", release.trim())),
        Err(error) => Check::poor(name, format!("can't read the kernel version: {error}")),
    }
}

pub(super) fn fsgsbase() -> Check {
    let name = "thread switch";
    let has_fsgsbase =
        fs::read("/proc/self/auxv").ok().and_then(|auxv| auxiliary(&auxv, AT_HWCAP2));
    match has_fsgsbase {
        Some(bits) if bits & FSGSBASE != 0 => Check::good(name, "fast (FSGSBASE)"),
        _ => Check::poor(name, "slow: no FSGSBASE, so every switch needs a system call"),
    }
}

/// The value of one entry of the auxiliary vector.
fn auxiliary(auxv: &[u8], wanted: u64) -> Option<u64> {
    let word = |bytes: &[u8]| bytes.try_into().ok().map(u64::from_le_bytes);
    auxv.chunks_exact(16)
        .filter_map(|entry| Some((word(&entry[..8])?, word(&entry[8..])?)))
        .find_map(|(key, value)| (key == wanted).then_some(value))
}

pub(super) fn aslr() -> Check {
    let name = "fixed addresses";
    let turned_off = personality::get().and_then(|before| {
        personality::set(before | Persona::ADDR_NO_RANDOMIZE)?;
        let now = personality::get()?;
        personality::set(before)?;
        Ok(now.contains(Persona::ADDR_NO_RANDOMIZE))
    });
    match turned_off {
        Ok(true) => Check::good(name, "address randomisation can be turned off"),
        Ok(false) => Check::poor(
            name,
            "address randomisation stays on; replays may have different addresses",
        ),
        Err(error) => Check::poor(
            name,
            format!(
                "address randomisation can't be turned off ({error}); check the container's seccomp profile"
            ),
        ),
    }
}

pub(super) fn shared_memory() -> Check {
    let name = "shared memory";
    const NAME: &CStr = c"raddle-doctor";
    match memfd_create(NAME, MFdFlags::MFD_CLOEXEC) {
        Ok(_) => Check::good(name, "memfd_create works"),
        Err(error) => Check::bad(name, format!("memfd_create failed: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::auxiliary;

    #[test]
    fn the_auxiliary_vector_is_read() {
        let mut auxv = Vec::new();
        for word in [16_u64, 7, 26, 2, 0, 0] {
            auxv.extend(word.to_le_bytes());
        }
        assert_eq!(auxiliary(&auxv, 26), Some(2));
        assert_eq!(auxiliary(&auxv, 16), Some(7));
        assert_eq!(auxiliary(&auxv, 99), None);
        assert_eq!(auxiliary(&auxv[..20], 26), None);
    }
}
