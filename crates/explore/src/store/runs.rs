//! Executions as bytes, one after the other: most of an execution is that of the one before.
//!
//! A search writes one for each execution that counts, thousands in a second, and they share long
//! beginnings. So of the steps, objects and sites only what differs from the execution before is written,
//! and numbers are as long as they need to be (seven bits a byte, the lowest first). A record has its
//! length before it: what is cut short at the end is left out.

use std::borrow::Cow;

use raddle_model::{End, Flags, ObjectId, OpKind, OpResult, SiteId, ThreadId};
use raddle_plan::search::{ObjectName, Pending, Run, Step, ThreadSet};

use crate::campaign::Counted;

/// Writes executions.
#[derive(Debug, Default)]
pub(super) struct Writer {
    before: Run,
    bytes: Vec<u8>,
}

/// Reads them, in the same order.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    before: Run,
    bytes: &'a [u8],
}

impl Writer {
    /// What was written since it was cleared.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes are where they belong.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Writes one more execution.
    pub(super) fn write(&mut self, counted: &Counted<'_>) {
        let start = self.bytes.len();
        self.bytes.extend([0; 4]);
        self.numbers(counted.prefix.iter().map(|it| u64::from(*it)));
        self.numbers(counted.shared_found.iter().copied());
        self.number(u64::from(counted.run.is_some()));
        if let Some(run) = &counted.run {
            self.run(run);
            self.before.clone_from(run);
        }
        let body = start + 4;
        let length = (self.bytes.len() - body) as u32;
        self.bytes[start..body].copy_from_slice(&length.to_le_bytes());
    }

    fn number(&mut self, it: u64) {
        number(&mut self.bytes, it);
    }

    fn numbers(&mut self, all: impl ExactSizeIterator<Item = u64>) {
        numbers(&mut self.bytes, all);
    }

    fn run(&mut self, run: &Run) {
        let n_same = n_same(&self.before.steps, &run.steps);
        self.number(n_same as u64);
        self.number((run.steps.len() - n_same) as u64);
        for step in &run.steps[n_same..] {
            for number in of_step(step) {
                self.number(number);
            }
            if is_crowded(step) {
                more_threads(step).for_each(|it| self.number(it));
            }
        }
        self.number(run.pending.len() as u64);
        for pending in &run.pending {
            for number in of_pending(pending) {
                self.number(number);
            }
        }
        let (kind, detail) = run.end.map_or((0, 0), End::to_numbers);
        self.number(u64::from(kind));
        self.number(u64::from(detail as u32));
        let n_same = n_same_objects(&self.before.objects, &run.objects);
        self.number(n_same as u64);
        let rest = run.objects[n_same..].iter();
        self.numbers(rest.flat_map(|it| [it.name, it.block]).collect::<Vec<u64>>().into_iter());
        for (before, now) in
            [(&self.before.sites, &run.sites), (&self.before.site_keys, &run.site_keys)]
        {
            let n_same = before.iter().zip(now).take_while(|(a, b)| a == b).count();
            number(&mut self.bytes, n_same as u64);
            numbers(&mut self.bytes, now[n_same..].iter().copied());
        }
    }
}

fn number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn numbers(bytes: &mut Vec<u8>, numbers: impl ExactSizeIterator<Item = u64>) {
    number(bytes, numbers.len() as u64);
    for it in numbers {
        number(bytes, it);
    }
}

fn n_same(before: &[Step], now: &[Step]) -> usize {
    before.iter().zip(now).take_while(|(a, b)| a == b).count()
}

fn n_same_objects(before: &[ObjectName], now: &[ObjectName]) -> usize {
    before.iter().zip(now).take_while(|(a, b)| a == b).count()
}

fn of_step(step: &Step) -> [u64; 13] {
    [
        u64::from(step.thread.0),
        step.kind as u64,
        // The size has the second byte, three marks bits of the third: stores of before have none there.
        u64::from(step.flags.0)
            | u64::from(step.size) << 8
            | u64::from(step.is_weak) << 16
            | u64::from(step.gives_way) << 17
            | u64::from(is_crowded(step)) << 18,
        step.result as u64,
        u64::from(step.object.0),
        u64::from(step.other.0),
        u64::from(step.site.0),
        step.value,
        step.enabled.words()[0],
        step.timed.words()[0],
        u64::from(step.n_choices) | u64::from(step.offset) << 32,
        u64::from(step.choice) | u64::from(step.passed.map_or(0, |it| it + 1)) << 32,
        step.context,
    ]
}

fn of_pending(pending: &Pending) -> [u64; 7] {
    [
        u64::from(pending.thread.0),
        pending.kind as u64,
        u64::from(pending.flags.0),
        u64::from(pending.object.0),
        u64::from(pending.other.0),
        u64::from(pending.site.0),
        u64::from(pending.is_blocked) | u64::from(pending.is_weak) << 1,
    ]
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { before: Run::default(), bytes }
    }

    fn counted(&mut self) -> Option<Counted<'static>> {
        let prefix = self.numbers()?.into_iter().map(|it| it as u32).collect();
        let shared_found = self.numbers()?.into();
        let run = if self.number()? == 1 { Some(self.run()?) } else { None };
        if let Some(run) = &run {
            self.before.clone_from(run);
        }
        Some(Counted { prefix, run: run.map(Cow::Owned), shared_found })
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn numbers(&mut self) -> Option<Vec<u64>> {
        let n_numbers = self.number()?;
        (0..n_numbers).map(|_| self.number()).collect()
    }

    fn array<const N: usize>(&mut self) -> Option<[u64; N]> {
        let mut numbers = [0; N];
        for number in &mut numbers {
            *number = self.number()?;
        }
        Some(numbers)
    }

    fn run(&mut self) -> Option<Run> {
        let n_same = self.number()? as usize;
        let mut steps = self.before.steps.get(..n_same)?.to_vec();
        for _ in 0..self.number()? {
            let numbers = self.array()?;
            let mut step = to_step(numbers)?;
            if numbers[2] >> 18 & 1 == 1 {
                let [a, b, c, d, e, f] = self.array()?;
                step.enabled = ThreadSet::from_words([numbers[8], a, b, c]);
                step.timed = ThreadSet::from_words([numbers[9], d, e, f]);
            }
            steps.push(step);
        }
        let mut pending = Vec::new();
        for _ in 0..self.number()? {
            pending.push(to_pending(self.array()?)?);
        }
        let [kind, detail] = self.array()?;
        let end = End::from_numbers(kind as u8, detail as u32 as i32);
        let n_same = self.number()? as usize;
        let mut objects = self.before.objects.get(..n_same)?.to_vec();
        let rest = self.numbers()?;
        objects.extend(rest.chunks_exact(2).map(|it| ObjectName { name: it[0], block: it[1] }));
        let mut sites = [Vec::new(), Vec::new()];
        for (idx, sites) in sites.iter_mut().enumerate() {
            let n_same = self.number()? as usize;
            let before = if idx == 0 { &self.before.sites } else { &self.before.site_keys };
            *sites = before.get(..n_same)?.to_vec();
            sites.extend(self.numbers()?);
        }
        let [sites, site_keys] = sites;
        Some(Run { steps, pending, end, objects, sites, site_keys })
    }
}

impl Iterator for Reader<'_> {
    type Item = Counted<'static>;

    fn next(&mut self) -> Option<Counted<'static>> {
        let (length, rest) = self.bytes.split_first_chunk::<4>()?;
        let (record, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        self.bytes = record;
        let counted = self.counted()?;
        self.bytes = rest;
        Some(counted)
    }
}

/// Words of the two sets of threads behind the first: only of programs with more than 64 threads.
fn more_threads(step: &Step) -> impl Iterator<Item = u64> + use<> {
    let [enabled, timed] = [step.enabled, step.timed].map(|it| it.words());
    enabled.into_iter().skip(1).chain(timed.into_iter().skip(1))
}

fn is_crowded(step: &Step) -> bool {
    more_threads(step).any(|it| it != 0)
}

fn to_step(numbers: [u64; 13]) -> Option<Step> {
    let [
        thread,
        kind,
        flags,
        result,
        object,
        other,
        site,
        value,
        enabled,
        timed,
        ways,
        way,
        context,
    ] = numbers;
    Some(Step {
        thread: ThreadId(thread as u32),
        kind: OpKind::from_number(kind as u8)?,
        flags: Flags(flags as u8),
        size: (flags >> 8) as u8,
        is_weak: flags >> 16 & 1 == 1,
        gives_way: flags >> 17 & 1 == 1,
        result: OpResult::from_number(result as u8)?,
        object: ObjectId(object as u32),
        other: ObjectId(other as u32),
        site: SiteId(site as u32),
        value,
        enabled: ThreadSet::from_words([enabled, 0, 0, 0]),
        timed: ThreadSet::from_words([timed, 0, 0, 0]),
        n_choices: ways as u32,
        offset: (ways >> 32) as u32,
        choice: way as u32,
        passed: ((way >> 32) as u32).checked_sub(1),
        context,
    })
}

fn to_pending(numbers: [u64; 7]) -> Option<Pending> {
    let [thread, kind, flags, object, other, site, marks] = numbers;
    Some(Pending {
        thread: ThreadId(thread as u32),
        kind: OpKind::from_number(kind as u8)?,
        flags: Flags(flags as u8),
        object: ObjectId(object as u32),
        other: ObjectId(other as u32),
        site: SiteId(site as u32),
        is_blocked: marks & 1 == 1,
        is_weak: marks & 2 == 2,
    })
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use raddle_model::{End, Misuse, ObjectId, OpKind, OpResult, ThreadId};
    use raddle_plan::search::{ObjectName, Pending, Run, Step, ThreadSet};

    use super::{Reader, Writer};
    use crate::campaign::Counted;

    fn step(thread: u32, value: u64) -> Step {
        Step {
            thread: ThreadId(thread),
            kind: OpKind::AtomicCas,
            size: 255,
            is_weak: true,
            gives_way: true,
            result: OpResult::Interrupted,
            object: ObjectId(300),
            value,
            enabled: ThreadSet::from_words([u64::MAX, value % 2, 0, value % 3]),
            n_choices: 3,
            offset: 40,
            choice: 2,
            passed: Some(value as u32 % 5),
            context: u64::MAX - 5,
            ..Step::default()
        }
    }

    fn run(values: &[u64]) -> Run {
        Run {
            steps: values.iter().map(|it| step(7, *it)).collect(),
            pending: vec![Pending { thread: ThreadId(9), is_blocked: true, ..Pending::default() }],
            end: Some(End::Misuse(Misuse::JoinSelf)),
            objects: values.iter().map(|it| ObjectName { name: *it, block: 1 << *it }).collect(),
            sites: values.to_vec(),
            site_keys: values.iter().map(|it| it + 1).collect(),
        }
    }

    fn all() -> Vec<Counted<'static>> {
        let counted = |prefix: &'static [u32], run: Option<Run>| Counted {
            prefix: prefix.into(),
            run: run.map(Cow::Owned),
            shared_found: vec![u64::MAX, 0].into(),
        };
        vec![
            counted(&[0, 200, 70_000], Some(run(&[1, 2, 3]))),
            counted(&[], Some(run(&[1, 2, 4, 5]))),
            counted(&[1], None),
            counted(&[1], Some(Run { end: Some(End::Exit(-1)), ..run(&[1]) })),
            counted(&[1], Some(Run::default())),
        ]
    }

    #[test]
    fn they_come_back() {
        let mut writer = Writer::default();
        all().iter().for_each(|it| writer.write(it));
        let read: Vec<Counted<'_>> = Reader::new(writer.bytes()).collect();
        assert_eq!(format!("{read:?}"), format!("{:?}", all()));
    }

    /// Wherever it was cut, what is whole before is read, and no more.
    #[test]
    fn what_is_cut_short_is_left_out() {
        let mut writer = Writer::default();
        let mut ends = vec![0];
        for counted in all() {
            writer.write(&counted);
            ends.push(writer.bytes().len());
        }
        for end in 0..=writer.bytes().len() {
            let n_whole = ends.iter().rposition(|it| *it <= end);
            assert_eq!(Some(Reader::new(&writer.bytes()[..end]).count()), n_whole, "cut at {end}");
        }
    }
}
