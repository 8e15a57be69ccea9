//! Tests of paired differences, and quantiles. Plain numbers in, plain numbers out.

/// What Wilcoxon's signed-rank test says about differences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SignedRank {
    /// Two-sided probability of ranks at least as lopsided, were the differences symmetric about 0.
    pub(crate) p: f64,
    /// Whether `p` was counted out, or is the normal approximation.
    pub(crate) exact: bool,
}

/// Up to as many differences are counted out.
const MOST_FOR_EXACT: usize = 50;

/// Wilcoxon's signed-rank test, two-sided: exact for up to 50 differences without ties or zeros. Otherwise the
/// normal approximation without continuity correction, its variance corrected for ties; zeros are ranked and
/// then left out, as Pratt has it. `None` if no difference is other than 0.
pub(crate) fn signed_rank(differences: &[f64]) -> Option<SignedRank> {
    let n = differences.len();
    let n_zeros = differences.iter().filter(|difference| **difference == 0.0).count();
    if n == n_zeros {
        return None;
    }
    let (ranks, ties) = ranks(differences);
    let positive: f64 = ranks
        .iter()
        .zip(differences)
        .filter(|(_, difference)| **difference > 0.0)
        .map(|(rank, _)| rank)
        .sum();
    if n <= MOST_FOR_EXACT && n_zeros == 0 && ties.iter().all(|count| *count == 1) {
        let all = n * (n + 1) / 2;
        let less_likely = (positive as usize).min(all - positive as usize);
        return Some(SignedRank { p: (2.0 * share_of_signs(n, less_likely)).min(1.0), exact: true });
    }
    // Sums over the ranks 1 to n less those that went to zeros, which are the first.
    let ranked = |moment: fn(f64) -> f64| moment(n as f64) - moment(n_zeros as f64);
    let mean = ranked(|n| n * (n + 1.0)) / 4.0;
    let tied: f64 = ties.iter().map(|count| *count as f64).map(|count| count.powi(3) - count).sum();
    let variance = ranked(|n| n * (n + 1.0) * (2.0 * n + 1.0)) / 24.0 - tied / 48.0;
    let z = (positive - mean) / variance.sqrt();
    Some(SignedRank { p: libm::erfc(z.abs() / 2f64.sqrt()), exact: false })
}

/// The rank of each by size, equals sharing the mean of theirs, and how many share each rank; zeros not counted.
fn ranks(differences: &[f64]) -> (Vec<f64>, Vec<usize>) {
    let mut order: Vec<usize> = (0..differences.len()).collect();
    let size = |idx: &usize| differences[*idx].abs();
    order.sort_by(|a, b| size(a).total_cmp(&size(b)));
    let mut ranks = vec![0.0; differences.len()];
    let mut ties = Vec::new();
    let mut before = 0;
    for equals in order.chunk_by(|a, b| size(a) == size(b)) {
        for idx in equals {
            ranks[*idx] = before as f64 + (equals.len() as f64 + 1.0) / 2.0;
        }
        if size(&equals[0]) > 0.0 {
            ties.push(equals.len());
        }
        before += equals.len();
    }
    (ranks, ties)
}

/// Of the 2^n ways to give signs to the ranks 1 to n, the share whose positive ones add up to `most` or less.
fn share_of_signs(n: usize, most: usize) -> f64 {
    let mut shares = vec![0.0; most + 1]; // by sum
    shares[0] = 1.0;
    for rank in 1..=n {
        for sum in (0..=most).rev() {
            let with_rank = if sum >= rank { shares[sum - rank] } else { 0.0 };
            shares[sum] = (shares[sum] + with_rank) / 2.0;
        }
    }
    shares.iter().sum()
}

/// Whether the mean of the differences is other than 0 by more than luck: Student's test for pairs, two-sided, at
/// 5 %. Ranks would not do here: with five pairs their test never gets there. Too few differences say nothing.
pub(crate) fn differs(differences: &[f64]) -> bool {
    let n = differences.len();
    if n < 2 {
        return false;
    }
    let mean = differences.iter().sum::<f64>() / n as f64;
    let variance = differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n as f64 - 1.0);
    let normal = 1.96; // what the table ends in
    let quantile = T_975.get(n - 2).copied().unwrap_or(normal);
    mean.abs() > quantile * (variance / n as f64).sqrt()
}

/// Quantiles of Student's t at 97.5 %, for 1 to 30 degrees of freedom.
#[rustfmt::skip]
const T_975: [f64; 30] = [
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
    2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
    2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
];

/// The quantile at `share` of 0 to 1, between neighbours in proportion; `None` of nothing.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * (sorted.len().checked_sub(1)?) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(below + (above - below) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(differences: &[f64], exact: bool) -> f64 {
        let test = signed_rank(differences).unwrap();
        assert_eq!(test.exact, exact);
        test.p
    }

    fn assert_close(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-12, "{value} is not {expected}");
    }

    /// 1 to n, every third of them negative, from the first on.
    fn mostly_positive(n: usize) -> Vec<f64> {
        (0..n).map(|idx| (idx + 1) as f64 * if idx % 3 == 0 { -1.0 } else { 1.0 }).collect()
    }

    #[test]
    fn few_differences_are_counted_out_by_hand() {
        // Of the 8 ways to give signs to 1, 2, 3 one has no negative: 1/8, and as much on the other side.
        assert_close(p(&[0.3, 0.1, 0.2], true), 0.25);
        assert_close(p(&[-0.3, -0.1, -0.2], true), 0.25);
        // With rank 1 negative, two ways are as lopsided: 2/8, twice.
        assert_close(p(&[0.3, -0.1, 0.2], true), 0.5);
        // Five pairs all of one sign are the least that five pairs can show.
        assert_close(p(&[1.0, 2.0, 3.0, 4.0, 5.0], true), 0.0625);
        assert_close(p(&[1.0], true), 1.0);
    }

    /// `scipy.stats.wilcoxon(x, method="exact")` of SciPy 1.17.
    #[test]
    fn exact_probabilities_are_scipys() {
        assert_close(p(&[1.5, -0.5, 2.5, 3.5, -4.5, 5.5, 6.5, 7.5], true), 0.109375);
        let darwin = [6., 8., 14., 16., 23., 24., 28., 29., 41., -48., 49., 56., 60., -67., 75.]; // maize, 1876
        assert_close(p(&darwin, true), 0.041259765625);
        assert_close(p(&mostly_positive(50), true), 0.03996834652842374);
    }

    /// `scipy.stats.wilcoxon(x, zero_method="pratt", correction=False, method="approx")` of SciPy 1.17.
    #[test]
    fn approximate_probabilities_with_ties_and_zeros_are_scipys() {
        assert_close(p(&[1., 1., -1., 2., 2., 3., -3., 4., 5.], false), 0.09543971556742788);
        assert_close(p(&[1., 1., -1., 2., 2., 3., -3., 4., 0., 0., 5.], false), 0.08860162466491696);
        assert_close(p(&mostly_positive(60), false), 0.016733071607703435);
    }

    #[test]
    fn the_approximation_meets_the_count_where_one_takes_over() {
        let exact = p(&mostly_positive(50), true);
        let mut tied = mostly_positive(50);
        tied[48] = -tied[47]; // one tie, and so the approximation
        assert!((p(&tied, false) - exact).abs() < 0.02);
    }

    #[test]
    fn no_difference_says_nothing() {
        assert_eq!(signed_rank(&[]), None);
        assert_eq!(signed_rank(&[0.0, 0.0]), None);
        assert!(!differs(&[]) && !differs(&[1.0]) && !differs(&[0.0, 0.0]));
    }

    #[test]
    fn the_test_for_pairs_turns_at_students_quantile() {
        // Mean m and sample sd 1: t = m √3, and two degrees of freedom.
        let at = |m: f64| differs(&[m - 1.0, m, m + 1.0]);
        assert!(!at(4.30 / 3f64.sqrt()) && at(4.31 / 3f64.sqrt()));
        assert!(differs(&[1.0, 1.0]), "always the same difference");
    }

    #[test]
    fn quantiles_lie_between_neighbours() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.5), Some(2.0));
        assert_eq!(quantile(&[1.0, 2.0, 4.0, 8.0], 0.5), Some(3.0));
        assert_eq!(quantile(&[1.0, 2.0], 0.95), Some(1.95));
        assert_eq!((quantile(&[3.0], 0.95), quantile(&[], 0.5)), (Some(3.0), None));
    }
}
