//! What a call does to the sources.

use iced_x86::{Instruction, OpKind, Register};
use raddle_model::flows::SinkKind;

use super::Pass;
use crate::{
    binary::{called, own_target},
    hooks::{Callee, callee, is_access},
    sources::{Source, Sources},
    state::{ARGUMENTS, Pointer, State},
};

impl Pass<'_> {
    /// A call, or a jump in place of one. Its place is its return address.
    pub(super) fn call(&mut self, state: &mut State, it: &Instruction, control: &Sources) {
        let place = it.next_ip();
        let word = match state.pointer(it.op0_register()) {
            Some(Pointer::Word(word)) if it.op0_kind() == OpKind::Register => Some(word),
            _ => None,
        };
        let named = word.and_then(|it| self.binary.imports.get(&it)).map(String::as_str);
        let Some(name) = called(it, self.binary).or(named) else {
            let through = word.and_then(|it| self.binary.words.get(&it)).copied();
            return self.call_own(state, place, own_target(it, self.binary).or(through), control);
        };
        let what = callee(name);
        let first = state.get(Register::RDI);
        let second = state.get(Register::RSI);
        let third = state.get(Register::RDX);
        let at = state.address(Register::RDI);
        let second_at = state.address(Register::RSI);
        let size = state.number(Register::RDX);
        let read = Sources::one(Source::Read(place));
        let known = state.known_to_callee();
        let arguments = arguments(state);
        let all = arguments.iter().take(6).fold(Sources::none(), |all, it| all.with(it));
        state.clobber();
        let mut result = Sources::none();
        if is_access(name) {
            self.raw.summary.accesses.insert(place);
        }
        if name.contains("_compare_exchange") {
            self.raw.summary.exchanges.insert(place);
        }
        match what {
            Callee::Quiet | Callee::End => return,
            Callee::Read | Callee::Write | Callee::ReadWrite => {
                self.add_sink(place, SinkKind::Reference, &first);
                if what != Callee::Write {
                    self.raw.summary.reads.insert(place);
                    (state.last_read, state.read_at) = (read, at);
                }
                if what != Callee::Read {
                    (state.last_write, state.write_at) = (vec![place], at);
                    self.add_write(place, &Sources::none());
                }
                return;
            }
            Callee::AtomicLoad => {
                self.add_sink(place, SinkKind::Reference, &first);
                self.raw.summary.reads.insert(place);
                result = read;
            }
            Callee::AtomicStore => {
                self.add_sink(place, SinkKind::Reference, &first);
                self.add_write(place, &second);
                self.raw.summary.stores.add(&second);
            }
            Callee::AtomicUpdate | Callee::AtomicExchange => {
                self.add_sink(place, SinkKind::Reference, &first);
                self.raw.summary.reads.insert(place);
                let value = if what == Callee::AtomicUpdate { &second } else { &third };
                self.add_write(place, &read.clone().with(value));
                self.raw.summary.stores.add(&read.clone().with(value));
                if what == Callee::AtomicExchange {
                    match second_at {
                        Some(address) => state.store(address, 8, read.clone()),
                        None => state.store_anywhere(&read),
                    }
                }
                result = read;
            }
            Callee::Sync | Callee::Create => {
                self.add_sink(place, SinkKind::Reference, &first.with(&second));
                if what == Callee::Create {
                    self.add_call(place, None, &arguments[3..4]);
                } else if let Some(address) = second_at.filter(|_| name == "pthread_join") {
                    // What another thread has returned.
                    state.store_from(address, &Pass::unknown());
                }
            }
            Callee::Copy | Callee::Look | Callee::Fill => {
                self.add_sink(place, SinkKind::Reference, &all);
                if what != Callee::Fill {
                    self.raw.summary.reads.insert(place);
                    result = read.clone().with(&all);
                    // What is the thread's own is announced to nobody.
                    let own = second_at.into_iter().chain(at.filter(|_| what == Callee::Look));
                    for address in own {
                        result.add(&state.load_from(address, size));
                    }
                }
                let written = if what == Callee::Fill { &second } else { &result };
                if what != Callee::Look {
                    self.add_write(place, written);
                    self.raw.summary.stores.add(written);
                    match (at, size) {
                        (Some(address), Some(size)) => state.store(address, size, written.clone()),
                        (Some(address), None) => state.store_from(address, written),
                        (None, _) => state.store_blurred(written),
                    }
                }
                if what == Callee::Fill {
                    result = all;
                }
            }
            Callee::Plain => result = all,
            Callee::Unknown => {
                // It may read and write what it likes.
                self.raw.summary.reads.insert(place);
                self.add_write(place, &Pass::unknown());
                result = Pass::unknown();
                self.raw.summary.stores.add(&result);
                for address in known {
                    state.store_from(address, &result);
                }
            }
        }
        self.settle(state, result.with(control));
    }

    /// A call of the program's own function, or through a pointer.
    fn call_own(&mut self, state: &mut State, place: u64, target: Option<u64>, control: &Sources) {
        self.add_call(place, target, &arguments(state));
        let is_followed = target.is_some_and(|it| self.binary.functions.contains_key(&it));
        let (result, written) = match is_followed {
            true => (Sources::one(Source::Ret(place)), Sources::one(Source::Out(place))),
            false => (Pass::unknown(), Pass::unknown()),
        };
        for address in state.known_to_callee() {
            state.store_from(address, &written);
        }
        self.raw.summary.stores.add(&written);
        state.clobber();
        self.settle(state, result.with(control));
    }

    /// After a call: its result, and nothing announced any more.
    fn settle(&self, state: &mut State, result: Sources) {
        for register in [Register::RAX, Register::RDX, Register::XMM0] {
            state.set(register, result.clone());
        }
        (state.last_read, state.read_at) = (Sources::none(), None);
        (state.last_write, state.write_at) = (Vec::new(), None);
    }
}

fn arguments(state: &State) -> Vec<Sources> {
    ARGUMENTS.iter().map(|it| state.get(*it)).collect()
}
