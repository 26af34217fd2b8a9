//! What was allocated where: the type of a heap block, as far as it is certain.
//!
//! The compiler leaves no word about it. Three things tell: the template argument of the C++ library's
//! allocator, the variable that is declared on the line of the call (`struct Queue *queue = malloc(…)`),
//! and the line's text: what the result is assigned to (`self->items = calloc(…)`), the type behind
//! `new` or in `sizeof`. What they say is believed only if the block is as large as one value of the
//! type, or as several. A function of the program's own that hands out untyped memory (`xmalloc`) is
//! looked through: then the line that called it counts.

use raddle_model::Place;

use super::{
    debug::{Debug, Die},
    expression::{self, Chain, Link},
};

/// What the C library hands out memory with.
const ALLOCATORS: &[&str] = &[
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "aligned_alloc",
    "memalign",
    "valloc",
    "pvalloc",
];

/// What a block holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Allocated {
    pub(super) type_die: Die,
    /// The variable that its address was given to, where the type alone says little: `counts`.
    pub(super) variable: Option<String>,
    /// The collection of Rust's library whose elements it holds, if it is one.
    pub(super) collection: Option<&'static str>,
}

impl Allocated {
    pub(super) const fn new(type_die: Die, variable: Option<String>) -> Allocated {
        Allocated { type_die, variable, collection: None }
    }
}

/// What happens at one call on the way to an allocation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    pub(super) function: Option<Die>,
    pub(super) place: &'a Place,
    /// The line's text, if it is what was compiled.
    pub(super) text: Option<&'a str>,
    /// The function of the program's own that was called there and hands out memory; `None` if it is
    /// the C or C++ library's.
    pub(super) callee: Option<&'a str>,
    /// The block's size.
    pub(super) size: u64,
}

impl Debug {
    /// What an allocator of the C++ library allocates: the argument of its template.
    pub(super) fn allocated_by_library(&self, function: Die, size: u64) -> Option<Allocated> {
        let function = self.origin(function);
        let name = self.name_of(function)?;
        let of_class = || {
            let class = self.ancestors(function).pop()?;
            let class_name = self.name_of(class)?;
            let is_allocator = ["new_allocator<", "__new_allocator<", "allocator<"]
                .iter()
                .any(|it| class_name.starts_with(it));
            is_allocator.then(|| self.template_argument(class, "_Tp")).flatten()
        };
        let type_die = match name.split('<').next()? {
            "allocate" => of_class(),
            "make_unique" | "make_unique_for_overwrite" => self.template_argument(function, "_Tp"),
            _ => None,
        }?;
        let is_text = self.type_name(type_die) == "char";
        (!is_text && self.fits(type_die, size, true)).then_some(Allocated::new(type_die, None))
    }

    /// What a line of the program allocates.
    pub(super) fn allocated_at(&self, call: &Call<'_>) -> Option<Allocated> {
        let found = self.declared_at(call).or_else(|| self.written_at(call));
        found.filter(|it| self.fits(it.type_die, call.size, call.callee.is_some()))
    }

    /// Does the function hand out memory without a type?
    pub(super) fn hands_out_memory(&self, function: Die) -> bool {
        let Some(result) = self.type_of(self.origin(function)) else { return false };
        let is_pointer =
            self.entry(self.bare(result)).is_some_and(|it| it.tag() == gimli::DW_TAG_pointer_type);
        is_pointer && self.pointee(result).is_none_or(|it| self.size_of(it) == Some(1))
    }

    /// Is the block one value of the type or several? Memory that follows a record may be anything,
    /// unless it must not (`exactly`).
    fn fits(&self, type_die: Die, size: u64, exactly: bool) -> bool {
        match self.size_of(type_die) {
            None | Some(0) => false,
            Some(one) => {
                size.is_multiple_of(one) || !exactly && one < size && self.is_record(type_die)
            }
        }
    }

    /// By the variables that are declared on the line.
    fn declared_at(&self, call: &Call<'_>) -> Option<Allocated> {
        let function = call.function?;
        let mut found: Vec<(Die, String)> = Vec::new();
        for root in [function, self.origin(function)] {
            self.for_variables(root, &mut |die| {
                let line = self.number_of(die, gimli::DW_AT_decl_line);
                if line != Some(u64::from(call.place.line)) || !self.is_in_file(die, call.place) {
                    return;
                }
                let pointee = self.type_of(die).and_then(|it| self.pointee(it));
                if let (Some(pointee), Some(name)) = (pointee, self.name_of(die)) {
                    found.push((pointee, name));
                }
            });
        }
        let (type_die, name) = found.first()?.clone();
        let is_one_type = found.iter().all(|it| self.is_same_type(it.0, type_die));
        let is_one_name = found.iter().all(|it| it.1 == name);
        is_one_type.then(|| Allocated::new(type_die, is_one_name.then_some(name)))
    }

    /// By the text of the line.
    fn written_at(&self, call: &Call<'_>) -> Option<Allocated> {
        let text = call.text?;
        let callees = match &call.callee {
            Some(name) => std::slice::from_ref(name),
            None => ALLOCATORS,
        };
        if call.callee.is_none()
            && let Some(name) = expression::type_after_new(text)
        {
            let type_die = self.record_named(&name, call.size)?;
            return Some(Allocated::new(type_die, None));
        }
        let assignment = expression::allocation(text, callees)?;
        if let Some(target) = &assignment.target
            && let Some(type_die) = self.chain_type(target, call.function?)
        {
            let type_die = self.pointee(type_die)?;
            return Some(Allocated::new(type_die, Some(target.last_name().to_owned())));
        }
        let type_die = self.record_named(assignment.size_of.as_deref()?, call.size)?;
        Some(Allocated::new(type_die, None))
    }

    /// The record of this name whose values fill the block; `None` if there are several of one name.
    fn record_named(&self, name: &str, size: u64) -> Option<Die> {
        let mut scope: Vec<&str> = name.split("::").map(str::trim).collect();
        let own_name = scope.pop()?;
        let all = self.records().named(own_name).iter().copied();
        let fitting = all.filter(|it| self.is_record(*it) && self.fits(*it, size, true));
        let fitting: Vec<Die> = fitting
            .filter(|it| {
                let whole = self.scope(*it);
                whole.iter().rev().zip(scope.iter().rev()).all(|(a, b)| a == b)
                    && scope.len() <= whole.len()
            })
            .collect();
        let first = *fitting.first()?;
        fitting.iter().all(|it| self.is_same_type(*it, first)).then_some(first)
    }

    fn is_same_type(&self, one: Die, other: Die) -> bool {
        one == other
            || self.type_name(one) == self.type_name(other)
                && self.size_of(one) == self.size_of(other)
    }

    /// The type of `self->items[0].name`, as a function knows it.
    fn chain_type(&self, chain: &Chain, function: Die) -> Option<Die> {
        let mut at = self.variable_type(&chain.start, function)?;
        for step in &chain.steps {
            at = match step {
                Link::Arrow(name) => self.member(self.pointee(at)?, name)?,
                Link::Dot(name) => self.member(at, name)?,
                Link::Index => self.element(at)?,
            };
        }
        Some(at)
    }

    fn element(&self, type_die: Die) -> Option<Die> {
        let at = self.bare(type_die);
        let entry = self.entry(at)?;
        match entry.tag() {
            gimli::DW_TAG_array_type => self.reference(at.unit_idx, &entry, gimli::DW_AT_type),
            _ => self.pointee(at),
        }
    }

    /// The type of a variable that a function calls by this name: its own, a member of its object, or a
    /// global.
    fn variable_type(&self, name: &str, function: Die) -> Option<Die> {
        let (mut types, mut this) = (Vec::new(), None);
        for root in [function, self.origin(function)] {
            self.for_variables(root, &mut |die| match self.name_of(die) {
                Some(it) if it == name => types.extend(self.type_of(die)),
                Some(it) if it == "this" => this = self.type_of(die),
                _ => {}
            });
        }
        if let Some(first) = types.first() {
            // Two variables of one name in two blocks: which one is meant?
            return types.iter().all(|it| self.is_same_type(*it, *first)).then_some(*first);
        }
        let of_this = this.and_then(|it| self.member(self.pointee(it)?, name));
        of_this.or_else(|| self.global_type(name, function.unit_idx))
    }

    fn global_type(&self, name: &str, unit_idx: usize) -> Option<Die> {
        let root = Die { unit_idx, offset: self.unit(unit_idx).header.root_offset() };
        self.child(root, |die, entry| {
            let is_it =
                entry.tag() == gimli::DW_TAG_variable && self.name_of(die).as_deref() == Some(name);
            is_it.then(|| self.type_of(die)).flatten()
        })
    }

    /// Calls `look` with each variable and parameter of a function, those of its blocks too, but not
    /// those of functions that were inlined into it.
    fn for_variables(&self, at: Die, look: &mut dyn FnMut(Die)) {
        let mut blocks = Vec::new();
        self.child(at, |die, entry| {
            match entry.tag() {
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => look(die),
                gimli::DW_TAG_lexical_block => blocks.push(die),
                _ => {}
            }
            None::<()>
        });
        for block in blocks {
            self.for_variables(block, look);
        }
    }

    fn is_in_file(&self, die: Die, place: &Place) -> bool {
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        self.declared_file(die).is_none_or(|it| name(&it) == name(&place.file))
    }
}
