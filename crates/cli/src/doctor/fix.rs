//! `raddle doctor --fix`: the commands that install what is missing, for the distribution's package manager.

use std::{env, path::PathBuf};

/// A tool that Raddle uses, the package that has it, and what it is for.
struct Tool {
    /// One of these is enough.
    programs: &'static [&'static str],
    /// For apt, dnf, pacman, apk and zypper.
    packages: [&'static str; 5],
    purpose: &'static str,
}

const MANAGERS: [(&str, &str); 5] = [
    ("apt-get", "sudo apt-get install -y"),
    ("dnf", "sudo dnf install -y"),
    ("pacman", "sudo pacman -S --noconfirm"),
    ("apk", "sudo apk add"),
    ("zypper", "sudo zypper install -y"),
];

const TOOLS: [Tool; 3] = [
    Tool {
        programs: &["gcc", "clang"],
        packages: ["gcc libc6-dev", "gcc", "gcc", "gcc musl-dev", "gcc"],
        purpose: "C programs",
    },
    Tool {
        programs: &["g++", "clang++"],
        packages: ["g++", "gcc-c++", "gcc", "g++", "gcc-c++"],
        purpose: "C++ programs",
    },
    Tool {
        programs: &["gdb", "lldb"],
        packages: ["gdb", "gdb", "gdb", "gdb", "gdb"],
        purpose: "raddle debug",
    },
];

const RUSTUP: &str = "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y";

/// The commands, one a line, each with what it is for; empty if nothing is missing.
pub(super) fn commands() -> String {
    lines(&|name| is_there(name))
}

fn lines(is_there: &dyn Fn(&str) -> bool) -> String {
    let manager = MANAGERS.iter().position(|it| is_there(it.0));
    let missing: Vec<&Tool> =
        TOOLS.iter().filter(|it| !it.programs.iter().any(|it| is_there(it))).collect();
    let mut out = String::new();
    if !missing.is_empty() {
        let purposes: Vec<&str> = missing.iter().map(|it| it.purpose).collect();
        let purposes = purposes.join(", ");
        match manager {
            Some(idx) => {
                let packages: Vec<&str> = missing.iter().map(|it| it.packages[idx]).collect();
                out += &format!("{} {}    # {purposes}\n", MANAGERS[idx].1, packages.join(" "));
            }
            None => {
                let programs: Vec<&str> = missing.iter().map(|it| it.programs[0]).collect();
                out += &format!("# install {} ({purposes})\n", programs.join(", "));
            }
        }
    }
    if !is_there("cargo") {
        out += &format!("{RUSTUP}    # Rust crates\n");
    }
    out
}

fn is_there(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|it: PathBuf| it.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn one_line_for_each_package_manager() {
        let with = |names: &'static [&str]| lines(&|it| names.contains(&it));
        assert_eq!(with(&["gcc", "clang++", "gdb", "cargo"]), "");
        assert_eq!(
            with(&["apt-get", "gdb", "cargo"]),
            "sudo apt-get install -y gcc libc6-dev g++    # C programs, C++ programs\n"
        );
        assert_eq!(
            with(&["dnf", "gcc", "g++", "cargo"]),
            "sudo dnf install -y gdb    # raddle debug\n"
        );
        let none = with(&["gcc", "g++"]);
        assert!(none.starts_with("# install gdb (raddle debug)\ncurl "), "{none}");
    }
}
