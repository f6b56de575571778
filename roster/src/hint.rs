//! The nearest right word for a wrong one.

/// The candidate that was probably meant, if any is near enough.
pub(crate) fn nearest<'c>(word: &str, candidates: &[&'c str]) -> Option<&'c str> {
    // Nobody means a short word by a very long one, and the distance is quadratic.
    const LONGEST: usize = 40;
    if word.len() > LONGEST {
        return None;
    }
    let word = word.to_lowercase().replace('-', "_");
    let reach = (word.chars().count() / 3).max(1);
    let near = candidates.iter().copied().map(|candidate| {
        let distance = strsim::osa_distance(&word, &candidate.replace('-', "_"));
        (distance, candidate)
    });
    let near =
        near.filter(|(distance, _)| *distance <= reach).min_by_key(|(distance, _)| *distance);
    let within = || candidates.iter().copied().find(|c| c.len() > 2 && word.starts_with(c));
    near.map(|(_, candidate)| candidate).or_else(within)
}

/// Words in backticks, as "`a`, `b` or `c`".
pub(crate) fn listed<'w>(words: impl IntoIterator<Item = &'w str>, last: &str) -> String {
    let words: Vec<_> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match words.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found_and_a_far_one_is_not() {
        let words = ["base_url", "can_delegate", "id", "kind"];
        assert_eq!(nearest("can_delgate", &words), Some("can_delegate"));
        assert_eq!(nearest("baseUrl", &words), Some("base_url"));
        assert_eq!(nearest("BASE-URL", &words), Some("base_url"));
        assert_eq!(nearest("kidn", &words), Some("kind"));
        assert_eq!(nearest("kind_of_server", &words), Some("kind"));
        assert_eq!(nearest("temperature", &words), None);
        assert_eq!(nearest(&"k".repeat(1_000_000), &words), None);
    }

    #[test]
    fn words_are_listed() {
        assert_eq!(listed(["a"], "or"), "`a`");
        assert_eq!(listed(["a", "b", "c"], "or"), "`a`, `b` or `c`");
    }
}
