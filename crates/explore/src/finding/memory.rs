//! Where memory is: globals, heap blocks and variables of functions, as the program calls them.

use std::collections::BTreeMap;

use raddle_model::{Home, Location, Place, SiteId, ThreadId};
use raddle_trace::{FrameSpot, Object, Region, Site};

use super::{names::Names, program};
use crate::target::{CodeAddress, StackSpot};

/// Blocks that are called the same are told apart by numbers, in the order in which they were allocated
/// as far as the trace tells: sites are numbered as they are reached.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// By name: allocation site and ordinal of each, sorted.
    by_name: BTreeMap<String, Vec<(u32, u32)>>,
}

impl Names<'_> {
    /// Where some bytes are, `shift` from the start of an object, with all calls that allocated them.
    pub(crate) fn location(&mut self, object: Object, shift: i64, size: u64) -> Location {
        let mut location = self.locate(moved(object.region, shift), size);
        if let (Region::Heap { stack, .. }, Home::Heap { stack: frames, .. }) =
            (object.region, &mut location.home)
            && stack != 0
        {
            *frames = self.stack(stack);
        }
        location
    }

    /// What a heap block as a whole is called, if that is known.
    pub(super) fn block_name(&mut self, region: Region) -> Option<String> {
        let Region::Heap { site, ordinal, size, stack, .. } = region else { return None };
        let calls = self.allocating_calls(site.0, stack);
        let found = self.symbols.block(&addresses(&calls), u64::from(size), 0, 1)?;
        Some(self.numbered(&found.whole, (site.0, ordinal)))
    }

    /// Where `size` bytes of a region are.
    pub(super) fn locate(&mut self, region: Region, size: u64) -> Location {
        match region {
            Region::Global { module, offset } => self.locate_global(module, offset, size),
            Region::Heap { site, ordinal, offset, size: block_size, thread, stack, sort } => {
                let home = Home::Heap {
                    thread,
                    nth: ordinal + 1,
                    offset,
                    stack: vec![self.allocation_place(stack, site)],
                    sort,
                };
                let block = (site.0, ordinal);
                self.locate_in_block(block, stack, u64::from(block_size), offset, size, home)
            }
            Region::Stack { thread, frame, .. } => self.locate_on_stack(thread, frame, size),
            Region::Thread(_)
            | Region::Descriptor(_)
            | Region::Pipe(_)
            | Region::Common(_)
            | Region::Unknown => Location::default(),
        }
    }

    fn locate_global(&mut self, module: u32, offset: u64, size: u64) -> Location {
        let Some(path) = self.module(module) else { return Location::default() };
        let Some(found) = self.symbols.global(path, offset, size) else {
            let file = path.rsplit('/').next().unwrap_or(path);
            let home = Home::Global { declared_at: Place::default(), function: String::new() };
            return Location { name: format!("{file}+{offset:#x}"), home, ..Location::default() };
        };
        let name = found.name();
        // What stands before a static variable's first use is called by the variable: `settings()::value`.
        let guarded = name.strip_prefix("guard variable for ");
        Location {
            name: guarded.unwrap_or(&name).to_owned(),
            shift: if guarded.is_some() { 0 } else { found.shift },
            field_of: found.field_of,
            type_name: found.type_name,
            size: found.size,
            content: found.content,
            home: Home::Global { declared_at: found.declared_at, function: found.function },
        }
    }

    fn locate_in_block(
        &mut self,
        block: (u32, u32),
        stack: u32,
        block_size: u64,
        offset: u64,
        size: u64,
        home: Home,
    ) -> Location {
        let calls = self.allocating_calls(block.0, stack);
        let found = self.symbols.block(&addresses(&calls), block_size, offset, size);
        let Some(found) = found else {
            let name = self.collection(block.0, stack).map(|it| self.numbered(it, block));
            let shift = if name.is_some() { offset } else { 0 };
            let name = name.unwrap_or_default();
            return Location { name, shift, size: block_size, home, ..Location::default() };
        };
        Location {
            name: self.numbered(&found.whole, block) + &found.path,
            shift: found.shift,
            field_of: found.field_of,
            type_name: found.type_name,
            size: block_size,
            content: found.content,
            home,
        }
    }

    /// The collection of Rust's library that a block belongs to, by who allocated it.
    fn collection(&mut self, site: u32, stack: u32) -> Option<&'static str> {
        let mut frames = self.frames(SiteId(site));
        frames.extend(self.stack(stack));
        frames.iter().find_map(|it| raddle_rust_std::collection(&it.function))
    }

    fn locate_on_stack(
        &mut self,
        thread: ThreadId,
        frame: Option<FrameSpot>,
        size: u64,
    ) -> Location {
        let unknown = Location {
            home: Home::Stack { thread, function: String::new(), declared_at: Place::default() },
            ..Location::default()
        };
        let Some(frame) = frame else { return unknown };
        let calls = self.calls(frame.function);
        let Some(code) = addresses(&calls).first().copied() else { return unknown };
        let (from_cfa, from_sp) = (i64::from(frame.from_cfa), i64::from(frame.from_sp));
        let spot = StackSpot { code, from_cfa, from_sp };
        let Some(found) = self.symbols.local(&spot, size) else { return unknown };
        Location {
            name: found.name(),
            shift: found.shift,
            field_of: found.field_of,
            type_name: found.type_name,
            size: found.size,
            content: found.content,
            home: Home::Stack { thread, function: found.function, declared_at: found.declared_at },
        }
    }

    /// The program's own call that allocated a block: not one in a system header.
    fn allocation_place(&mut self, stack: u32, site: raddle_model::SiteId) -> Place {
        let frames = self.stack(stack);
        let own = frames.iter().find(|it| program::is_own(it) && it.line > 0);
        let place = own.cloned().unwrap_or_else(|| self.place(site));
        // Where in a library says nothing to anybody.
        let offset = if program::is_own(&place) { place.offset } else { 0 };
        Place { offset, ..place }
    }

    /// The name of a block, with its number if there are others of that name.
    fn numbered(&mut self, name: &str, block: (u32, u32)) -> String {
        let number = self.block_number(name, block);
        number.map_or_else(|| name.to_owned(), |it| format!("{name}#{it}"))
    }

    /// The number of a block among those of its name; none if it is the only one.
    fn block_number(&mut self, name: &str, block: (u32, u32)) -> Option<usize> {
        if self.blocks.is_none() {
            self.blocks = Some(self.number_blocks());
        }
        let all = self.blocks.as_ref()?.by_name.get(name)?;
        let idx = all.iter().position(|it| *it == block)?;
        (all.len() > 1).then_some(idx + 1)
    }

    fn number_blocks(&mut self) -> Blocks {
        let mut blocks = Blocks::default();
        for object in &self.trace.objects {
            let Region::Heap { site, ordinal, offset, size, stack, .. } = object.region else {
                continue;
            };
            let calls = self.allocating_calls(site.0, stack);
            let found = self.symbols.block(&addresses(&calls), u64::from(size), offset, 1);
            let Some(found) = found else { continue };
            let all = blocks.by_name.entry(found.whole).or_default();
            if !all.contains(&(site.0, ordinal)) {
                all.push((site.0, ordinal));
            }
        }
        for all in blocks.by_name.values_mut() {
            all.sort_unstable();
        }
        blocks
    }

    /// The calls of a stack, as modules and addresses inside the calls.
    fn calls(&self, stack: u32) -> Vec<(String, u64)> {
        let sites = self.trace.stacks.get(stack as usize).map(Vec::as_slice).unwrap_or_default();
        sites.iter().filter_map(|it| self.call(it)).collect()
    }

    fn call(&self, site: &Site) -> Option<(String, u64)> {
        let module = self.module(site.module?)?;
        Some((module.to_owned(), site.offset.saturating_sub(1)))
    }

    /// The calls that allocated a block. Those inside a library that is compiled into the program are known
    /// from the site only: `Arc::new` says what it allocates, its caller does not.
    fn allocating_calls(&self, site: u32, stack: u32) -> Vec<(String, u64)> {
        let mut calls = Vec::new();
        let mut at = self.trace.sites.get(site as usize);
        while let Some((site, via)) = at.and_then(|it| Some((it, it.via?))) {
            calls.extend(self.call(site));
            at = self.trace.sites.get(via.0 as usize).filter(|it| it.via != Some(via));
        }
        calls.extend(self.calls(stack));
        calls
    }
}

/// A place in the same variable or block.
fn moved(region: Region, shift: i64) -> Region {
    let add = |it: u64| it.wrapping_add_signed(shift);
    match region {
        Region::Global { module, offset } => Region::Global { module, offset: add(offset) },
        Region::Heap { site, ordinal, offset, size, thread, stack, sort } => {
            Region::Heap { site, ordinal, offset: add(offset), size, thread, stack, sort }
        }
        Region::Stack { thread, offset, frame } => {
            let add = |it: i32| it.wrapping_add(shift as i32);
            let frame = frame.map(|it| FrameSpot {
                from_cfa: add(it.from_cfa),
                from_sp: add(it.from_sp),
                ..it
            });
            Region::Stack { thread, offset: offset.wrapping_add_signed(-shift), frame }
        }
        region => region,
    }
}

fn addresses(calls: &[(String, u64)]) -> Vec<CodeAddress<'_>> {
    calls.iter().map(|(module, offset)| CodeAddress { module, offset: *offset }).collect()
}
