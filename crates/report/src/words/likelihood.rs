//! How likely a finding is, in words, with how sure that is.

use raddle_model::{Likelihood, Share};

use crate::layout::number;

/// The bounds of a share, with 95 % confidence (Wilson 1927: holds for shares near 0 and 1, and for small
/// numbers).
pub fn interval(share: Share) -> (f64, f64) {
    const Z: f64 = 1.96;
    if share.of == 0 {
        return (0.0, 1.0);
    }
    let (n, of) = (share.n as f64, share.of as f64);
    let p = n / of;
    let middle = (p + Z * Z / (2.0 * of)) / (1.0 + Z * Z / of);
    let half = Z / (1.0 + Z * Z / of) * (p * (1.0 - p) / of + Z * Z / (4.0 * of * of)).sqrt();
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

/// `walk 24.5 % (19.1 to 30.9), pos 0 of 200 (below 1.9 %)`; `None` if nothing was tried.
pub fn line(all: &[Likelihood]) -> Option<String> {
    let parts: Vec<String> =
        all.iter().map(|it| format!("{} {}", it.strategy, text(it.share))).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn text(share: Share) -> String {
    let (low, high) = interval(share);
    let percent = |it: f64| format!("{:.1}", 100.0 * it);
    match share.n {
        0 => format!("0 of {} (below {} %)", number::grouped(share.of), percent(high)),
        n => {
            let p = n as f64 / share.of as f64;
            format!("{} % ({} to {})", percent(p), percent(low), percent(high))
        }
    }
}

/// How sure it is that something is gone which showed in `was` of executions, and in none of `n_now`: the
/// chance that it would have shown.
pub fn gone(was: Share, n_now: u64) -> f64 {
    let p = was.n as f64 / was.of.max(1) as f64;
    1.0 - (1.0 - p).powf(n_now as f64)
}

/// `1 in 1,900`; from one in ten on, `63 %`.
pub fn one_in(share: Share) -> String {
    match share.of.checked_div(share.n) {
        Some(one_in) if one_in >= 10 => format!("1 in {}", number::grouped(one_in)),
        Some(_) => format!("{:.0} %", 100.0 * share.n as f64 / share.of as f64),
        None => format!("0 of {}", number::grouped(share.of)),
    }
}

/// `99.99 %`, never more than is known.
pub fn certainty(chance: f64) -> String {
    match chance {
        it if it >= 0.9999 => "99.99 %".to_owned(),
        it => format!("{:.1} %", (it * 1000.0).floor() / 10.0),
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::{Likelihood, Share};

    use super::{certainty, gone, interval, line, one_in};

    /// Wilson's interval for 0 of 10 ends at 1.96² / (10 + 1.96²) = 0.278, and for 5 of 10 it is 0.237 to
    /// 0.763 (Newcombe 1998, table I has the same).
    #[test]
    fn intervals() {
        let (low, high) = interval(Share { n: 0, of: 10 });
        assert!(low == 0.0 && (high - 0.278).abs() < 0.001, "{high}");
        let (low, high) = interval(Share { n: 5, of: 10 });
        assert!((low - 0.237).abs() < 0.001 && (high - 0.763).abs() < 0.001, "{low} {high}");
        assert_eq!(interval(Share::default()), (0.0, 1.0));
    }

    #[test]
    fn words() {
        let of = |strategy: &str, n, of| Likelihood {
            strategy: strategy.into(),
            share: Share { n, of },
        };
        expect_test::expect!["walk 24.5 % (19.1 to 30.9), pos 0 of 200 (below 1.9 %)"]
            .assert_eq(&line(&[of("walk", 49, 200), of("pos", 0, 200)]).unwrap_or_default());
        assert_eq!(line(&[]), None);
        assert_eq!(one_in(Share { n: 2, of: 3_800 }), "1 in 1,900");
        assert_eq!(one_in(Share { n: 63, of: 100 }), "63 %");
        assert_eq!(one_in(Share { n: 9, of: 9 }), "100 %");
        assert_eq!(one_in(Share { n: 0, of: 2_000 }), "0 of 2,000");
    }

    /// (1 - 1/1900)^20000 is e^-10.5, 0.003 %.
    #[test]
    fn gone_is_how_likely_it_would_have_shown() {
        assert_eq!(certainty(gone(Share { n: 1, of: 1_900 }, 20_000)), "99.99 %");
        assert_eq!(certainty(gone(Share { n: 1, of: 1_000 }, 1_000)), "63.2 %");
        assert_eq!(certainty(gone(Share { n: 0, of: 200 }, 1_000)), "0.0 %");
    }
}
