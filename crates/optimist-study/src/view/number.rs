//! Numbers as people like to read them.

use optimist::space::Value;

/// `value` with at most `digits` significant digits and no trailing zeros.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_owned(); // of either sign
    }
    if !value.is_finite() {
        return value.to_string();
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').expect("the format has an exponent");
    let exponent: i32 = exponent.parse().expect("the exponent is a whole number");
    if (-4..=digits as i32).contains(&exponent) {
        trimmed(&format!("{value:.*}", (digits as i32 - 1 - exponent).max(0) as usize))
    } else {
        format!("{}e{exponent}", trimmed(mantissa))
    }
}

/// `mean ± std`, as many decimals as the two leading digits of `std` deserve.
pub fn with_uncertainty(mean: f64, std: f64) -> String {
    if !(1e-6..1e9).contains(&std) || mean.abs() >= 1e15 {
        return format!("{} ± {}", significant(mean, 6), significant(std, 2));
    }
    let decimals = (1 - std.log10().floor() as i32).max(0) as usize;
    let mean = format!("{mean:.decimals$}");
    let is_zero = !mean.contains(|c: char| c.is_ascii_digit() && c != '0');
    let mean = if is_zero { mean.trim_start_matches('-') } else { &mean };
    format!("{mean} ± {std:.decimals$}")
}

/// A value of a parameter.
pub fn shown(value: &Value) -> String {
    match value {
        Value::Float(number) => significant(*number, 6),
        other => other.to_string(),
    }
}

/// `1 trial`, `2 trials`.
pub fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn trimmed(number: &str) -> String {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => number.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_digits_are_kept_and_zeros_dropped() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (100.0, "100"),
            (-2.5, "-2.5"),
            (0.0123456, "0.012346"),
            (123456.7, "123457"),
            (1.5e9, "1.5e9"),
            (-1.0e-7, "-1e-7"),
            (99999.96, "100000"),
        ];
        for (value, expected) in cases {
            assert_eq!(significant(value, 5), expected);
        }
    }

    #[test]
    fn a_mean_has_no_more_decimals_than_its_uncertainty() {
        assert_eq!(with_uncertainty(86.712345, 0.3141), "86.71 ± 0.31");
        assert_eq!(with_uncertainty(1234.5678, 25.1), "1235 ± 25");
        assert_eq!(with_uncertainty(0.5, 0.0), "0.5 ± 0");
        assert_eq!(with_uncertainty(-1e-9, 0.00036), "0.00000 ± 0.00036");
        assert_eq!(with_uncertainty(-0.0123, 0.0036), "-0.0123 ± 0.0036");
        assert_eq!(with_uncertainty(1e308, 0.5), "1e308 ± 0.5");
    }
}
