//! Places and names for the numbers of a trace.

use std::{
    collections::{BTreeMap, HashMap},
    rc::Rc,
};

use raddle_model::{
    Content, Frame, Home, Location, NamedObject, ObjectClass, ObjectId, Place, SiteId,
};
use raddle_trace::{Object, Region, Site, Thread, Trace};

use super::{memory::Blocks, program, std_sync::StdSync};
use crate::target::Symbols;

/// Finds places for sites and names for objects, each once.
pub(crate) struct Names<'a> {
    pub(super) trace: &'a Trace,
    pub(super) symbols: &'a mut dyn Symbols,
    places: HashMap<SiteId, Vec<Place>>,
    objects: BTreeMap<ObjectId, NamedObject>,
    /// By name: the variables that are called so.
    uses: HashMap<String, Vec<Region>>,
    /// Made when first asked for.
    pub(super) blocks: Option<Blocks>,
    /// Made when first asked for.
    std_sync: Option<Rc<StdSync>>,
}

/// Bytes that the runtime tells apart.
const CELL: u64 = 4;

impl<'a> Names<'a> {
    pub(crate) fn new(trace: &'a Trace, symbols: &'a mut dyn Symbols) -> Names<'a> {
        Names {
            trace,
            symbols,
            places: HashMap::new(),
            objects: BTreeMap::new(),
            uses: HashMap::new(),
            blocks: None,
            std_sync: None,
        }
    }

    /// What is known of the locks of Rust's std.
    pub(super) fn std_sync(&mut self) -> Rc<StdSync> {
        if self.std_sync.is_none() {
            let found = StdSync::of(self.trace, self);
            self.std_sync = Some(Rc::new(found));
        }
        Rc::clone(self.std_sync.as_ref().expect("bug: it was just put there"))
    }

    /// The functions at the return address of a call, innermost first; empty for site 0.
    pub(crate) fn frames(&mut self, site: SiteId) -> Vec<Place> {
        if let Some(places) = self.places.get(&site) {
            return places.clone();
        }
        let places = self.look_up(site);
        self.places.insert(site, places.clone());
        places
    }

    /// The function that the program's own code called, on the way to a site in a library.
    pub(super) fn called_at(&mut self, site: SiteId) -> String {
        let mut own = self.trace.sites.get(site.0 as usize).copied();
        while let Some(via) = own.and_then(|it| it.via).filter(|it| *it != site) {
            own = self.trace.sites.get(via.0 as usize).copied();
        }
        let Some(own) = own else { return String::new() };
        let path = own.module.and_then(|it| self.module(it));
        path.map_or(String::new(), |it| self.symbols.callee(it, own.offset))
    }

    /// Does Rust's library do there what the program did not write?
    pub(super) fn is_housekeeping(&mut self, site: SiteId) -> bool {
        let frames = self.frames(site);
        let is_library = |it: &Place| raddle_rust_std::is_rust_library(&it.file);
        let mut library = frames.iter().take_while(|it| is_library(it));
        // Where nothing of the program is on the way, a thread begins or ends.
        library.any(|it| raddle_rust_std::is_housekeeping(&it.function))
            || !frames.is_empty() && frames.iter().all(is_library)
    }

    /// Where in the program's own text the call of a site is: not in a system header that was inlined.
    pub(crate) fn place(&mut self, site: SiteId) -> Place {
        let frames = self.frames(site);
        let own = frames.iter().find(|it| !program::is_system_file(&it.file));
        own.or(frames.first()).cloned().unwrap_or_default()
    }

    /// An object, as a finding names it.
    pub(crate) fn object(&mut self, object: ObjectId) -> NamedObject {
        if object == ObjectId::NONE {
            return NamedObject::default();
        }
        if let Some(named) = self.objects.get(&object) {
            return named.clone();
        }
        let named = match self.trace.objects.get(object.idx()) {
            Some(described) => self.describe(object, *described),
            None => NamedObject::at(ObjectClass::default(), Home::Number(object)),
        };
        let region = self.trace.objects.get(object.idx()).map(|it| it.region).unwrap_or_default();
        let named = self.distinguish(named, region);
        self.objects.insert(object, named.clone());
        named
    }

    /// Memory that need not be an object of the trace.
    pub(crate) fn memory(&mut self, object: ObjectId, described: Object) -> NamedObject {
        if object == ObjectId::NONE {
            self.describe(object, described)
        } else {
            self.object(object)
        }
    }

    /// All objects that were asked for, by number.
    pub(crate) fn into_objects(self) -> Vec<NamedObject> {
        let n_objects = self.objects.last_key_value().map_or(1, |(last, _)| last.idx() + 1);
        let mut all = vec![NamedObject::default(); n_objects];
        for (object, named) in self.objects {
            all[object.idx()] = named;
        }
        all
    }

    /// The frames of a stack that the trace has kept, innermost first.
    pub(crate) fn stack(&mut self, stack: u32) -> Vec<Frame> {
        let Some(sites) = self.trace.stacks.get(stack as usize) else { return Vec::new() };
        let mut frames = Vec::new();
        for site in sites {
            frames.extend(self.places_of(*site));
        }
        // What called `main` and the threads' first functions is ours, not the program's.
        frames.retain(|it| !it.module.starts_with("libraddle_rt"));
        frames
    }

    /// Where the program creates a thread: not in a system header.
    pub(crate) fn creation_place(&mut self, thread: &Thread) -> Place {
        let place = self.place(thread.created_at);
        if program::is_own(&place) {
            return place;
        }
        let frames = self.stack(thread.creation);
        frames.into_iter().find(program::is_own).unwrap_or(place)
    }

    /// The function that a thread runs, if it is one of the program's.
    pub(crate) fn start_function(&mut self, thread: &Thread) -> String {
        self.start_place(thread).map(|it| it.function).unwrap_or_default()
    }

    /// Where that function is.
    pub(crate) fn start_place(&mut self, thread: &Thread) -> Option<Place> {
        self.places_of(thread.start).pop().filter(program::is_own)
    }

    fn look_up(&mut self, site: SiteId) -> Vec<Place> {
        if site == SiteId(0) {
            return Vec::new();
        }
        let Some(described) = self.trace.sites.get(site.0 as usize).copied() else {
            return Vec::new();
        };
        let mut frames = self.frames_at(described);
        // Of the library's frames in between nothing is known but the innermost.
        if let Some(via) = described.via.filter(|it| *it != site) {
            frames.extend(self.frames(via));
        }
        frames
    }

    /// The functions at the return address of a call, by module and offset.
    pub(crate) fn frames_at(&mut self, site: Site) -> Vec<Place> {
        let places = self.places_of(site);
        if places.is_empty() { vec![Place::default()] } else { places }
    }

    /// The functions at a return address, innermost first; none if its module is unknown.
    fn places_of(&mut self, site: Site) -> Vec<Place> {
        let Some(path) = site.module.and_then(|it| self.module(it)) else {
            return Vec::new();
        };
        // A call that never returns may be the last instruction of its function, so its return address
        // may belong to the next one: one less is inside the call. (The runtime adds one to the address
        // of an instruction that crashed.)
        let places = self.symbols.places(path, site.offset.saturating_sub(1));
        if places.is_empty() {
            let module = path.rsplit('/').next().unwrap_or(path).to_owned();
            return vec![Place { module, ..Place::default() }];
        }
        places
    }

    fn describe(&mut self, number: ObjectId, object: Object) -> NamedObject {
        let class = self.std_sync().class(number).unwrap_or(object.class);
        if let Some(thread) = self.std_sync().sleeper(number) {
            return NamedObject::at(class, Home::Parker(thread));
        }
        let home = match object.region {
            Region::Thread(thread) => Some(Home::Thread(thread)),
            Region::Descriptor(descriptor) => Some(Home::Descriptor(descriptor)),
            Region::Common(common) => Some(Home::Common(common)),
            Region::Pipe(ends) => Some(Home::Pipe(ends)),
            _ => None,
        };
        if let Some(home) = home {
            return NamedObject::at(class, home);
        }
        let size = if class == ObjectClass::Variable { CELL } else { 1 };
        match self.locate(object.region, size) {
            Location { name, home: Home::Global { .. } | Home::Unknown, .. } if name.is_empty() => {
                NamedObject::at(class, Home::Number(number))
            }
            // Of a lock nobody wants to know the value.
            location if class != ObjectClass::Variable => {
                NamedObject::new(class, Location { content: Content::Number, ..location })
            }
            location => NamedObject::new(class, location),
        }
    }

    /// Two variables on one stack would share their name: the second is called "… (2)". Parts of one variable that have
    /// no names of their own are called as the whole.
    fn distinguish(&mut self, named: NamedObject, region: Region) -> NamedObject {
        let size = named.location.size;
        let same = self.uses.entry(named.to_string()).or_default();
        let known = same.iter().position(|it| are_of_one(*it, region, size));
        let n_before = known.unwrap_or_else(|| {
            same.push(region);
            same.len() - 1
        });
        NamedObject { n_before: n_before as u32, ..named }
    }

    pub(super) fn module(&self, module: u32) -> Option<&'a str> {
        self.trace.modules.get(module as usize).map(|it| it.path.as_str())
    }
}

/// Are two objects of one name parts of the same variable, which has so many bytes?
fn are_of_one(one: Region, other: Region, size: u64) -> bool {
    match (one, other) {
        (Region::Stack { thread, offset, .. }, Region::Stack { thread: t, offset: o, .. }) => {
            thread == t && offset != o && offset.abs_diff(o) < size
        }
        (Region::Global { module, offset }, Region::Global { module: m, offset: o }) => {
            module == m && offset != o && offset.abs_diff(o) < size
        }
        (
            Region::Heap { site, ordinal, offset, .. },
            Region::Heap { site: s, ordinal: n, offset: o, .. },
        ) => (site, ordinal) == (s, n) && offset != o,
        _ => false,
    }
}
