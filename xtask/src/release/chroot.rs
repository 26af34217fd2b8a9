//! The Debian package, tried where nothing of us is: a new Debian in a folder, made by debootstrap.

use std::{fs, path::Path, process::Command};

use anyhow::{Context, ensure};

/// Installs the package with what it depends on, then finds a deadlock, as root in a new Debian.
pub(crate) fn try_package(package: &Path, program: &Path) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let inside = folder.path();
    let mut make = Command::new("debootstrap");
    make.args(["--variant=minbase", "--include=gcc,libc6-dev", "bookworm"]).arg(inside);
    done(make.stdout(std::process::Stdio::null()), "install debootstrap, and run this as root")?;
    fs::copy(package, inside.join("root/raddle.deb"))?;
    fs::copy(program, inside.join("root/bank.c"))?;
    // A new root for `/proc`, which Raddle reads, and nothing that stays mounted.
    let script = "set -e; mount -t proc proc /proc; cd /root; dpkg -i raddle.deb; raddle --version; raddle doctor || true; \
                  code=0; raddle run bank.c || code=$?; test $code = 2; raddle replay latest --times 5 || test $? = 2; \
                  raddle-cc -pthread bank.c -o bank; dpkg -r raddle; test ! -e /usr/bin/raddle";
    let mut run = Command::new("unshare");
    run.args(["--mount", "--pid", "--fork", "--kill-child", "chroot"]).arg(inside);
    run.args(["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "sh", "-c", script]);
    done(&mut run, "see above")?;
    eprintln!("{}: installed, tried and removed in a new Debian", package.display());
    Ok(())
}

fn done(command: &mut Command, help: &str) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("can't start {command:?}; {help}"))?;
    ensure!(status.success(), "{command:?} failed; {help}");
    Ok(())
}
