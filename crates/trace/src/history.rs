//! A history as the bytes of the message that an execution ends with.
//!
//! Texts are cut, and operations left out at the end, before there are more bytes than the message has room for.

use raddle_model::{Consistency, History, Operation, Refused, ThreadId};

use crate::layout::MESSAGE_MAX;

/// Bytes of a call or result that are kept.
const TEXT_MAX: usize = 64;
/// Stands for a text that is not there.
const NO_TEXT: u8 = u8::MAX;

/// The bytes of a history.
pub fn encode(history: &History) -> Vec<u8> {
    let mut out = vec![history.consistency as u8, 0];
    let explained = &history.explained;
    let refused: Vec<u8> = history.refused.iter().take(16).fold(Vec::new(), |mut out, it| {
        out.push(it.operation as u8);
        put_text(&mut out, it.expected.as_deref());
        out
    });
    let rest = 2 + explained.len() + refused.len();
    for operation in history.operations.iter().take(usize::from(u8::MAX)) {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&operation.thread.0.to_le_bytes());
        bytes.extend_from_slice(&operation.invoked.to_le_bytes());
        bytes.extend_from_slice(&operation.returned.to_le_bytes());
        put_text(&mut bytes, Some(&operation.call));
        put_text(&mut bytes, operation.result.as_deref());
        if MESSAGE_MAX < out.len() + bytes.len() + rest {
            break;
        }
        out.extend_from_slice(&bytes);
        out[1] += 1;
    }
    out.push(explained.len().min(usize::from(u8::MAX)) as u8);
    out.extend(explained.iter().take(usize::from(u8::MAX)).map(|it| *it as u8));
    out.push(history.refused.len().min(16) as u8);
    out.extend_from_slice(&refused);
    out
}

/// The history of these bytes, as far as they make sense.
pub(crate) fn decode(bytes: &[u8]) -> History {
    let mut history = History::default();
    let _ = read(bytes, &mut history);
    let n_operations = history.operations.len() as u32;
    history.explained.retain(|it| *it < n_operations);
    history.refused.retain(|it| it.operation < n_operations);
    history
}

fn read(mut bytes: &[u8], history: &mut History) -> Option<()> {
    let rest = &mut bytes;
    history.consistency = Consistency::from_number(byte(rest)?)?;
    for _ in 0..byte(rest)? {
        history.operations.push(Operation {
            thread: ThreadId(u32::from_le_bytes(take(rest)?)),
            invoked: u64::from_le_bytes(take(rest)?),
            returned: u64::from_le_bytes(take(rest)?),
            call: text(rest)?.unwrap_or_default(),
            result: text(rest)?,
        });
    }
    for _ in 0..byte(rest)? {
        history.explained.push(u32::from(byte(rest)?));
    }
    for _ in 0..byte(rest)? {
        let operation = u32::from(byte(rest)?);
        history.refused.push(Refused { operation, expected: text(rest)? });
    }
    Some(())
}

fn put_text(out: &mut Vec<u8>, text: Option<&str>) {
    let Some(text) = text else { return out.push(NO_TEXT) };
    let mut n_bytes = text.len().min(TEXT_MAX);
    while !text.is_char_boundary(n_bytes) {
        n_bytes -= 1;
    }
    out.push(n_bytes as u8);
    out.extend_from_slice(&text.as_bytes()[..n_bytes]);
}

fn text(rest: &mut &[u8]) -> Option<Option<String>> {
    let n_bytes = byte(rest)?;
    if n_bytes == NO_TEXT {
        return Some(None);
    }
    let (text, after) = rest.split_at_checked(usize::from(n_bytes))?;
    *rest = after;
    Some(Some(String::from_utf8_lossy(text).into_owned()))
}

fn byte(rest: &mut &[u8]) -> Option<u8> {
    take::<1>(rest).map(|it| it[0])
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, after) = rest.split_first_chunk::<N>()?;
    *rest = after;
    Some(*taken)
}

#[cfg(test)]
mod tests {
    use super::{History, Operation, Refused, ThreadId, decode, encode};
    use crate::layout::MESSAGE_MAX;
    use raddle_model::Consistency;

    fn operation(call: &str, result: Option<&str>) -> Operation {
        let (call, result) = (call.to_owned(), result.map(str::to_owned));
        Operation { thread: ThreadId(2), call, result, invoked: 7, returned: 1 << 40 }
    }

    #[test]
    fn a_history_comes_back() {
        let history = History {
            consistency: Consistency::Sequential,
            operations: vec![operation("push(1)", Some("()")), operation("pop()", None)],
            explained: vec![1],
            refused: vec![
                Refused { operation: 0, expected: None },
                Refused { operation: 1, expected: Some("é".to_owned()) },
            ],
        };
        let bytes = encode(&history);
        assert_eq!(decode(&bytes), history);
        for n in 0..bytes.len() {
            assert!(decode(&bytes[..n]).operations.len() <= 2);
        }
    }

    #[test]
    fn a_long_history_fits() {
        let call = "é".repeat(100);
        let operations = vec![operation(&call, Some(&call)); 300];
        let history = History { operations, explained: vec![299], ..History::default() };
        let bytes = encode(&history);
        assert!(bytes.len() <= MESSAGE_MAX);
        let back = decode(&bytes);
        assert!(back.operations.len() > 20 && back.operations[0].call.len() == 64);
    }
}
