//! Calls of some functions of std come back through the runtime.
//!
//! The prebuilt std has no hooks. Most of what orders threads in it is seen all the same: its generic parts are
//! compiled into the program, and who sleeps asks the kernel. But a few functions may return, ordered after
//! another thread, without either: `park` whose token is there, the last one at a `Barrier`, a `Once` that is
//! done, the slow path of a lock that is free by then. And a `Condvar` counts its notifications by itself: between
//! what the program did before it waits and that count others must have their chance, or no notification is ever
//! lost. The end of a thread of a scope is counted in std, and read by code with hooks, which may find that it was the last
//! one and go on. The linker is told (`--wrap`) to let calls of these go to a shim, which calls the function and then the
//! runtime, or the other way round. Their mangled names differ from compiler to compiler: they are looked up in
//! std's shared library.

use std::{fs, io::Write as _, path::Path, process::Command, process::Stdio};

use raddle_rust_std::{Wrapped, wrapped};

use super::{CargoError, ask, lossy};
use crate::{Cache, CacheError, symbols::functions};

/// The flags for the linker; none if this compiler's std is not where we look for it.
pub(super) fn link_args(
    compiler: &super::flags::Compiler,
    cache: &Cache,
) -> Result<Vec<String>, CargoError> {
    let names = names(compiler)?;
    let Some(archive) = archive(compiler, &names, cache)? else { return Ok(Vec::new()) };
    let wrap = names.iter().map(|(it, _)| format!("-Clink-arg=-Wl,--wrap={it}"));
    Ok(wrap.chain([format!("-Clink-arg={}", archive.display())]).collect())
}

/// The mangled names of the functions, sorted.
fn names(compiler: &super::flags::Compiler) -> Result<Vec<(String, Wrapped)>, CargoError> {
    let mut command = Command::new(&compiler.program);
    let output = ask(command.args(["--print=target-libdir", "--target", &compiler.host]))?;
    let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = lossy(&entry.file_name());
        if name.starts_with("libstd-") && name.ends_with(".so") {
            let functions = functions(&entry.path()).into_iter();
            names.extend(functions.filter_map(|(name, path)| Some((name, wrapped(&path)?))));
        }
    }
    names.sort();
    names.dedup();
    Ok(names)
}

/// Compiles the shims: an archive, so that only those come into a program that it calls.
fn archive(
    compiler: &super::flags::Compiler,
    names: &[(String, Wrapped)],
    cache: &Cache,
) -> Result<Option<std::path::PathBuf>, CargoError> {
    if names.is_empty() {
        return Ok(None);
    }
    let source = source(names);
    let key = format!("{} {source}", compiler.version);
    let entry =
        format!("rustc/{:016x}/libraddle_std.rlib", raddle_model::hash_bytes(key.as_bytes()));
    let path = cache.path(&entry);
    if path.exists() {
        return Ok(Some(path));
    }
    let folder = tempfile::tempdir_in(cache.root())
        .map_err(|source| CacheError::Io { path: cache.root().into(), source })?;
    let file = folder.path().join("libraddle_std.rlib");
    let is_compiled = compile(compiler, &source, &file)
        .map_err(|source| CargoError::Start { name: lossy(&compiler.program), source })?;
    match fs::read(&file) {
        Ok(bytes) if is_compiled => Ok(Some(cache.write(&entry, &bytes)?)),
        _ => Ok(None),
    }
}

fn compile(compiler: &super::flags::Compiler, source: &str, to: &Path) -> std::io::Result<bool> {
    let mut command = Command::new(&compiler.program);
    command.args(["-", "--crate-name=raddle_std", "--crate-type=rlib", "--target"]);
    command.arg(&compiler.host).arg("-o").arg(to);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut process = command.spawn()?;
    let mut input = process.stdin.take().expect("bug: a pipe was asked for");
    input.write_all(source.as_bytes())?;
    drop(input);
    Ok(process.wait()?.success())
}

fn source(names: &[(String, Wrapped)]) -> String {
    let mut text = "#![no_std]\n".to_owned();
    for (name, when) in names {
        let body = match when {
            Wrapped::After => after(name),
            // A notification that comes before it sleeps is seen by a look at the count, and the lock is
            // taken again, without a word to anybody.
            Wrapped::AroundWait => before(0) + &after(name),
            Wrapped::BeforeNotify => {
                before(if name.contains("notify_all") { 2 } else { 1 })
                    + &format!("    jmp __real_{name}")
            }
            Wrapped::BeforeScopeEnd => before_scope_end(name),
        };
        text += &format!(
            "core::arch::global_asm!(r#\"
    .section .text.__wrap_{name},\"ax\",@progbits
    .globl __wrap_{name}
    .type __wrap_{name},@function
__wrap_{name}:
    .cfi_startproc
{body}
    .cfi_endproc
    .size __wrap_{name}, . - __wrap_{name}
\"#);\n"
        );
    }
    text
}

/// All of these functions give back at most one word.
fn after(name: &str) -> String {
    format!(
        "    sub rsp, 8
    .cfi_adjust_cfa_offset 8
    call __real_{name}
    mov [rsp], rax
    call raddle_after_std@PLT
    mov rax, [rsp]
    add rsp, 8
    .cfi_adjust_cfa_offset -8
    ret"
    )
}

/// The function has two arguments; the runtime is told the first.
fn before_scope_end(name: &str) -> String {
    format!(
        "    push rdi
    .cfi_adjust_cfa_offset 8
    push rsi
    .cfi_adjust_cfa_offset 8
    sub rsp, 8
    .cfi_adjust_cfa_offset 8
    call raddle_before_scope_end@PLT
    add rsp, 8
    .cfi_adjust_cfa_offset -8
    pop rsi
    .cfi_adjust_cfa_offset -8
    pop rdi
    .cfi_adjust_cfa_offset -8
    jmp __real_{name}"
    )
}

/// Arguments are kept; the runtime is told the first two, and the caller of the shim: where it returns to, and the stack
/// there.
fn before(is_notified: u32) -> String {
    let registers = ["rdi", "rsi", "rdx", "rcx", "r8", "r9"];
    let push = registers.map(|it| format!("    push {it}\n    .cfi_adjust_cfa_offset 8\n"));
    let mut popped = registers;
    popped.reverse();
    let pop = popped.map(|it| format!("    pop {it}\n    .cfi_adjust_cfa_offset -8\n"));
    format!(
        "{}    sub rsp, 8
    .cfi_adjust_cfa_offset 8
    mov r8, rsi
    mov rsi, [rsp + 56]
    lea rdx, [rsp + 64]
    mov ecx, {is_notified}
    call raddle_before_std@PLT
    add rsp, 8
    .cfi_adjust_cfa_offset -8
{}",
        push.concat(),
        pop.concat()
    )
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::cargo::flags::Compiler;

    #[test]
    fn the_compiler_at_hand_has_them() {
        let folder = TempDir::new().unwrap();
        let cache = Cache::at(folder.path()).unwrap();
        let compiler = Compiler::identify(folder.path()).unwrap();
        let flags = link_args(&compiler, &cache).unwrap();
        for word in [
            "4park",
            "7Barrier4wait",
            "4Once4wait",
            "7Condvar4wait",
            "10notify_all",
            "29decrement_num_running_threads",
            "libraddle_std.rlib",
        ] {
            assert!(flags.iter().any(|it| it.contains(word)), "{word}: {flags:?}");
        }
        assert_eq!(link_args(&compiler, &cache).unwrap(), flags, "from the cache");
    }
}
