//! Memory orders that a plan puts in place of those in the source.
//!
//! A place is an instruction. Inside the code of the program's language's library, it is one with the calls that led there:
//! the library's `load` is called from everywhere, and what the program wrote may have been inlined into the library.

use std::slice;

use raddle_model::{MemoryOrder, SiteId, mix};
use raddle_trace::{OrderEntry, SiteEntry};

use crate::control::Control;

impl Control {
    /// Begins an execution with the orders of its plan.
    pub(super) fn begin_orders(&mut self) {
        self.memory.orders.clear();
        // SAFETY: the launcher wrote so many into the area, of plain integers, and nobody writes during a block.
        let orders = unsafe {
            slice::from_raw_parts(self.segment.orders(), (*self.header).request.n_orders as usize)
        };
        self.memory.orders.extend_from_slice(orders);
    }

    /// The order with which atomic ops at a site are performed, if it is not that of the source.
    #[inline(always)]
    pub(crate) fn planned_order(&self, site: SiteId) -> Option<MemoryOrder> {
        if self.memory.orders.is_empty() { None } else { self.find_order(site) }
    }

    #[inline(never)]
    fn find_order(&self, site: SiteId) -> Option<MemoryOrder> {
        let entry = self.recorder.emit.site_entry(site);
        let module = self.recorder.modules.found.get(entry.module as usize)?;
        let key = (module.path_hash, self.way(entry));
        let orders: &[OrderEntry] = &self.memory.orders;
        let idx = orders.binary_search_by_key(&key, |it| (it.module, it.offset)).ok()?;
        Some(MemoryOrder::from_number(orders[idx].order))
    }

    /// The offset of a site, and of the calls on the way to it. Whoever makes plans makes the same of a trace.
    fn way(&self, entry: SiteEntry) -> u64 {
        let (mut way, mut via) = (entry.offset, entry.via);
        while via != 0 {
            let call = self.recorder.emit.site_entry(SiteId(via));
            way = mix(way, call.offset);
            via = call.via;
        }
        way
    }
}
