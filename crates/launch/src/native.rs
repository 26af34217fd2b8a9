//! A native program as a target: each session is a fork server of its own.

use std::path::Path;

use raddle_explore::target::{
    CodeAddress, Session, StackSpot, Target, TargetError, Until, Variable,
};
use raddle_model::Place;
use raddle_trace::Module;

use crate::{elf, options::NativeOptions, session::NativeSession, symbols::Symbols};

/// See the module.
#[derive(Clone, Debug)]
pub struct Native {
    options: NativeOptions,
}

impl Native {
    /// A program to be explored.
    pub fn new(options: NativeOptions) -> Native {
        Native { options }
    }

    pub(crate) fn options(&self) -> &NativeOptions {
        &self.options
    }
}

impl Target for Native {
    fn open_until(&self, until: &Until) -> Result<Box<dyn Session + Send>, TargetError> {
        Ok(Box::new(NativeSession::open(&self.options, until)?))
    }

    fn unhooked(&self, modules: &[Module]) -> Vec<String> {
        modules.iter().flat_map(|it| elf::unhooked_code(Path::new(&it.path))).collect()
    }
}

impl raddle_explore::target::Symbols for Symbols {
    fn unseen_atomic(&mut self, module: &str) -> Option<Place> {
        Symbols::unseen_atomic(self, module.as_ref())
    }

    fn places(&mut self, module: &str, offset: u64) -> Vec<Place> {
        Symbols::places(self, module.as_ref(), offset)
    }

    fn callee(&mut self, module: &str, offset: u64) -> String {
        Symbols::callee(self, module.as_ref(), offset)
    }

    fn global(&mut self, module: &str, offset: u64, size: u64) -> Option<Variable> {
        Symbols::global(self, module.as_ref(), offset, size)
    }

    fn local(&mut self, spot: &StackSpot<'_>, size: u64) -> Option<Variable> {
        Symbols::local(self, spot, size)
    }

    fn block(
        &mut self,
        calls: &[CodeAddress<'_>],
        block_size: u64,
        offset: u64,
        size: u64,
    ) -> Option<Variable> {
        Symbols::block(self, calls, block_size, offset, size)
    }

    fn source_line(&mut self, place: &Place) -> Option<String> {
        Symbols::source_line(self, place).map(|it| it.trim().to_owned())
    }
}
