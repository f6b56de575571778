//! How much a JSON document weighs when it is read, told before it is: a small text can be a large
//! tree, since each `{}` of two bytes becomes a value of its own.

/// The most values that a request may have. Ten thousand tasks with every member are a tenth.
pub const MOST_VALUES: usize = 1_000_000;

/// How many values the document has at most: commas, colons and openings outside of strings.
/// Linear, without memory of its own; what is no JSON is counted all the same.
pub fn values(json: &[u8]) -> usize {
    let (mut count, mut inside, mut escaped) = (1, false, false);
    for byte in json {
        match (inside, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => inside = !inside,
            (false, b',' | b':' | b'{' | b'[') => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_strings_does_not_count() {
        assert_eq!(values(br#"{"a,\"[{":[1,2,{}]}"#), 7);
        assert_eq!(values(b""), 1);
        assert_eq!(values(&b"{},".repeat(1_000)), 2_001);
    }
}
