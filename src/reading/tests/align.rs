use fastrand::Rng;

use crate::reading::align::Pattern;

/// The edits between a pattern and the nearest stretch that ends with each word, the simple way.
fn edits(pattern: &[Option<u32>], words: &[u32], anchored: bool) -> Vec<usize> {
    let mut column: Vec<usize> = (0..=pattern.len()).collect();
    let mut edits = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let mut next = vec![if anchored { at + 1 } else { 0 }];
        for (row, asked) in pattern.iter().enumerate() {
            let same = column[row] + usize::from(*asked != Some(*word));
            next.push(same.min(next[row] + 1).min(column[row + 1] + 1));
        }
        edits.push(next[pattern.len()]);
        column = next;
    }
    edits
}

#[test]
fn bit_parallel_distances_are_those_of_the_whole_table() {
    let mut random = Rng::with_seed(7);
    for length in [1, 2, 5, 63, 64, 65, 127, 128, 129, 200] {
        for known in [1, 2, 8, 60] {
            let mut word = || random.u32(..known);
            let words: Vec<u32> = (0..300).map(|_| word()).collect();
            let mut pattern: Vec<Option<u32>> =
                words[50..50 + length].iter().map(|word| Some(*word)).collect();
            for _ in 0..=length / 8 {
                let at = random.usize(..length);
                pattern[at] = if random.bool() { None } else { Some(random.u32(..known)) };
            }
            for anchored in [false, true] {
                let mut found = Vec::new();
                let made = Pattern::new(&pattern, known as usize);
                made.scan(words.iter(), anchored, |at, edits| {
                    assert_eq!(at, found.len());
                    found.push(edits);
                    true
                });
                assert_eq!(found, edits(&pattern, &words, anchored), "{length} of {known}");
            }
        }
    }
}
