//! Places and names for the numbers of a trace.

use std::collections::{BTreeMap, HashMap};

use raddle_model::{ObjectId, Place, SiteId};
use raddle_trace::{Object, ObjectClass, Region, Site, Trace};

use super::program;
use crate::target::Symbols;

/// Finds places for sites and names for objects, each once.
pub(crate) struct Names<'a> {
    trace: &'a Trace,
    symbols: &'a mut dyn Symbols,
    places: HashMap<SiteId, Vec<Place>>,
    objects: BTreeMap<ObjectId, Name>,
    /// How many objects have a name.
    uses: HashMap<String, u32>,
}

/// What an object is called.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    /// With the class: "mutex `left`".
    pub(crate) long: String,
    /// Without it, where the rest says enough: "`left`".
    pub(crate) short: String,
}

impl<'a> Names<'a> {
    pub(crate) fn new(trace: &'a Trace, symbols: &'a mut dyn Symbols) -> Names<'a> {
        Names {
            trace,
            symbols,
            places: HashMap::new(),
            objects: BTreeMap::new(),
            uses: HashMap::new(),
        }
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

    /// Where in the program's own text the call of a site is: not in a system header that was inlined.
    pub(crate) fn place(&mut self, site: SiteId) -> Place {
        let frames = self.frames(site);
        let own = frames.iter().find(|it| !program::is_system_file(&it.file));
        own.or(frames.first()).cloned().unwrap_or_default()
    }

    /// What an object is called.
    pub(crate) fn object(&mut self, object: ObjectId) -> Name {
        if object == ObjectId::NONE {
            return Name::new(String::new());
        }
        if let Some(name) = self.objects.get(&object) {
            return name.clone();
        }
        let name = match self.trace.objects.get(object.idx()) {
            Some(described) => self.describe(object, *described),
            None => Name::new(format!("object #{}", object.0)),
        };
        let name = self.distinguish(name);
        self.objects.insert(object, name.clone());
        name
    }

    /// What memory is called that need not be an object of the trace.
    pub(crate) fn memory(&mut self, object: ObjectId, described: Object) -> Name {
        if object == ObjectId::NONE {
            self.describe(object, described)
        } else {
            self.object(object)
        }
    }

    /// The long names of all objects that were asked for, by number.
    pub(crate) fn into_objects(self) -> Vec<String> {
        let n_objects = self.objects.last_key_value().map_or(1, |(last, _)| last.idx() + 1);
        let mut names = vec![String::new(); n_objects];
        for (object, name) in self.objects {
            names[object.idx()] = name.long;
        }
        names
    }

    fn look_up(&mut self, site: SiteId) -> Vec<Place> {
        if site == SiteId(0) {
            return Vec::new();
        }
        match self.trace.sites.get(site.0 as usize) {
            Some(described) => self.frames_at(*described),
            None => Vec::new(),
        }
    }

    /// The functions at the return address of a call, by module and offset.
    pub(crate) fn frames_at(&mut self, described: Site) -> Vec<Place> {
        let Some(path) = described.module.and_then(|it| self.module(it)) else {
            return vec![Place::default()];
        };
        // A call that never returns may be the last instruction of its function, so its return address
        // may belong to the next one: one less is inside the call. (The runtime adds one to the address
        // of an instruction that crashed.)
        let places = self.symbols.places(path, described.offset.saturating_sub(1));
        if places.is_empty() {
            let module = path.rsplit('/').next().unwrap_or(path).to_owned();
            return vec![Place { module, ..Place::default() }];
        }
        places
    }

    fn describe(&mut self, number: ObjectId, object: Object) -> Name {
        match object.region {
            Region::Global { module, offset } => {
                self.describe_global(number, object, module, offset)
            }
            Region::Heap { site, ordinal, offset, size } => {
                let place = self.place(site);
                let at = program::place_text(&place);
                let at = if at.is_empty() { "an unknown place" } else { &at };
                let shift = if offset == 0 { String::new() } else { format!(" +{offset}") };
                let nth = ordinal + 1;
                Name::within(
                    object.class,
                    "in",
                    &format!("heap block of {size} bytes allocated at {at} (#{nth}){shift}"),
                )
            }
            Region::Stack { thread, .. } if object.class == ObjectClass::Variable => {
                Name::new(format!("stack variable of T{}", thread.0))
            }
            Region::Stack { thread, .. } => {
                Name::within(object.class, "on", &format!("the stack of T{}", thread.0))
            }
            Region::Thread(thread) => Name::new(format!("thread T{}", thread.0)),
            Region::Descriptor(descriptor) => Name::new(format!("descriptor {descriptor}")),
            Region::Unknown => Name::new(format!("{} #{}", object.class.word(), number.0)),
        }
    }

    fn describe_global(
        &mut self,
        number: ObjectId,
        object: Object,
        module: u32,
        offset: u64,
    ) -> Name {
        let variable = self.module(module).and_then(|it| self.symbols.variable(it, offset));
        let short = match variable {
            Some((name, 0)) => format!("`{name}`"),
            Some((name, shift)) => format!("`{name}`+{shift}"),
            None => return Name::new(format!("{} #{}", object.class.word(), number.0)),
        };
        match object.class {
            ObjectClass::Variable => Name::new(short),
            class => Name { long: format!("{} {short}", class.word()), short },
        }
    }

    /// Two variables on one stack would share their name: the second is called "… (2)".
    fn distinguish(&mut self, name: Name) -> Name {
        let n_before = self.uses.entry(name.long.clone()).or_insert(0);
        *n_before += 1;
        match *n_before {
            1 => name,
            nth => Name {
                long: format!("{} ({nth})", name.long),
                short: format!("{} ({nth})", name.short),
            },
        }
    }

    fn module(&self, module: u32) -> Option<&'a str> {
        self.trace.modules.get(module as usize).map(|it| it.path.as_str())
    }
}

impl Name {
    fn new(long: String) -> Name {
        Name { short: long.clone(), long }
    }

    /// Something inside something: a variable is called by what it is in, a lock is "mutex in …".
    fn within(class: ObjectClass, how: &str, whole: &str) -> Name {
        match class {
            ObjectClass::Variable => Name::new(whole.to_owned()),
            class => Name::new(format!("{} {how} {whole}", class.word())),
        }
    }
}
