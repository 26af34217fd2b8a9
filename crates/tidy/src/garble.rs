//! Inputs that are wrong somewhere: what reads bytes from outside must answer to each, and never panic.

use crate::seed;

/// What numbers, lengths and texts are easily taken for.
const ODD: [&[u8]; 8] =
    [b"", b"0", b"-1", b"18446744073709551616", b"\"", b"\n", b"\xff\xff\xff\xff", b"\0\0\0\0"];

/// So many copies of a valid input, each with something changed, taken away, said twice or put in.
pub fn garbled(valid: &[u8], n_copies: u64) -> impl Iterator<Item = Vec<u8>> {
    (0..n_copies).map(move |idx| {
        let mut bits = Bits(seed(16).wrapping_add(idx));
        let mut copy = valid.to_vec();
        for _ in 0..1 + bits.below(4) {
            bits.change(&mut copy);
        }
        copy
    })
}

/// SplitMix64 (Steele, Lea and Flood: Fast splittable pseudorandom number generators, 2014).
struct Bits(u64);

impl Bits {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % bound.max(1) as u64) as usize
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        // Heads decide about the rest: half of the changes are there.
        let within = if self.below(2) == 0 { bytes.len() } else { bytes.len().min(256) };
        let start = self.below(within);
        let end = bytes.len().min(start + 1 + self.below(32));
        match self.below(6) {
            0 => bytes.truncate(start),
            1 => drop(bytes.drain(start..end)),
            2 => {
                let twice = bytes[start..end].to_vec();
                let at = self.below(bytes.len());
                bytes.splice(at..at, twice);
            }
            3 => {
                let odd = ODD[self.below(ODD.len())];
                bytes.splice(start..end, odd.iter().copied());
            }
            _ => bytes[start..end].iter_mut().for_each(|it| *it = self.below(256) as u8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::garbled;

    #[test]
    fn copies_differ_and_are_the_same_each_time() {
        let copies: Vec<Vec<u8>> = garbled(b"key = 1\n", 100).collect();
        assert!(copies.iter().filter(|it| *it != b"key = 1\n").count() > 80);
        assert_eq!(copies, garbled(b"key = 1\n", 100).collect::<Vec<_>>());
        assert_eq!(garbled(b"", 10).count(), 10);
    }
}
