//! Processes that a fork server has below it: executions, and whatever those have started.
//!
//! A process that begins a session of its own leaves the server's process group, but stays below the server, which
//! adopts orphans. What it misses: kernels that do not list a process's children.

/// Kills all processes below one, and those that they start meanwhile.
pub(crate) fn kill_below(process: i32) {
    /// A program that forks faster than this is left to the end of its parent.
    const ROUNDS: u32 = 8;
    for _ in 0..ROUNDS {
        let all = below(process);
        if all.is_empty() {
            return;
        }
        for it in all {
            // SAFETY: signals a process that was below our server a moment ago.
            unsafe { libc::kill(it, libc::SIGKILL) };
        }
    }
}

/// All processes below one that have not ended.
fn below(process: i32) -> Vec<i32> {
    let mut found = children(process);
    let mut next = 0;
    while let Some(it) = found.get(next).copied() {
        next += 1;
        found.extend(children(it));
    }
    found.retain(|it| !has_ended(*it));
    found
}

fn children(process: i32) -> Vec<i32> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten();
    let lists = threads.flatten().filter_map(|it| {
        let list = std::fs::read_to_string(it.path().join("children")).ok()?;
        Some(list.split_whitespace().filter_map(|it| it.parse().ok()).collect::<Vec<i32>>())
    });
    lists.flatten().collect()
}

/// Has it ended, and only waits for its parent to hear of it?
fn has_ended(process: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|it| it.1.chars().next());
    matches!(state, None | Some('Z' | 'X'))
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead as _, BufReader},
        process::{Command, Stdio},
    };

    use super::{below, kill_below};

    #[test]
    fn all_below_a_process_are_killed() {
        let mut top = Command::new("sh")
            .args(["-c", "setsid sh -c 'sleep 1000 & echo; wait' & wait"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = String::new();
        BufReader::new(top.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        let process = top.id() as i32;
        assert!(below(process).len() >= 2, "a shell and a sleep");
        kill_below(process);
        // The shell's children are gone, so it ends by itself.
        top.wait().unwrap();
        assert!(below(process).is_empty());
    }
}
