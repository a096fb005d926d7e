//! Checks with SIMD whether escaped JSON text can be shown without decoding.

use fearless_simd::{Level, Simd, dispatch, prelude::*, u8x64};

/// Whether all bytes are printable ASCII and no character is written as a `\\u…` escape, which
/// could encode a control character.
///
/// An escaped backslash followed by `u` also counts as an escape: the answer may be false for
/// harmless text, never true for other text.
pub fn is_printable(text: &[u8]) -> bool {
    dispatch!(Level::new(), simd => look(simd, text))
}

#[inline(always)]
fn look<S: Simd>(simd: S, text: &[u8]) -> bool {
    let (blocks, rest) = text.as_chunks::<64>();
    let (mut odd, mut after_slash) = (0, 0);
    for block in blocks {
        odd |= odd_in(simd, block, &mut after_slash);
    }
    let mut last = [b' '; 64];
    if let Some(start) = last.get_mut(..rest.len()) {
        start.copy_from_slice(rest);
    }
    odd | odd_in(simd, &last, &mut after_slash) == 0
}

/// Returns the bits of the bytes in a block that are not printable, or follow a backslash and are
/// `u`. `after_slash` is 1 if the previous block ended with a backslash.
#[inline(always)]
fn odd_in<S: Simd>(simd: S, block: &[u8; 64], after_slash: &mut u64) -> u64 {
    let bytes = u8x64::simd_from(simd, *block);
    let shown = bytes.simd_ge(u8x64::splat(simd, b' ')).to_bitmask()
        & bytes.simd_lt(u8x64::splat(simd, 0x7f)).to_bitmask();
    let slashes = bytes.simd_eq(u8x64::splat(simd, b'\\')).to_bitmask();
    let numbers =
        bytes.simd_eq(u8x64::splat(simd, b'u')).to_bitmask() & (slashes << 1 | *after_slash);
    *after_slash = slashes >> 63;
    !shown | numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_odd_is_seen_wherever_it_stands() {
        for len in [1, 2, 63, 64, 65, 127, 128, 129, 200] {
            let mut text = vec![b'x'; len];
            assert!(is_printable(&text));
            for at in 0..len {
                for odd in [0, 0x1f, 0x7f, 0x80, 0xff] {
                    text[at] = odd;
                    assert!(!is_printable(&text), "{odd} at {at} of {len}");
                }
                text[at] = b'\\';
                assert!(is_printable(&text), "{at} of {len}");
                if let Some(next) = text.get_mut(at + 1) {
                    *next = b'u';
                    assert!(!is_printable(&text), "a number at {at} of {len}");
                    text[at + 1] = b'x';
                }
                text[at] = b'x';
            }
        }
        assert!(is_printable(b"") && is_printable(b" ~"));
    }
}
