fn words(text: &str) -> Vec<(String, String)> {
    let mut words = Vec::new();
    crate::reading::words::each(text, |span, word| {
        words.push((text[span].to_owned(), word.to_owned()));
    });
    words
}

#[test]
fn words_are_told_apart_and_folded_as_readers_do() {
    let folded = |text: &str| words(text).into_iter().map(|(_, word)| word).collect::<Vec<_>>();
    assert_eq!(
        folded("The big-Port, 7004;\nfoo_bar"),
        ["the", "big", "port", "7004", "foo", "bar"]
    );
    assert_eq!(folded("Café cafe\u{301} ﬁle ＡＢＣ"), ["cafe", "cafe", "file", "abc"]);
    // A sign without a letter of its own belongs to its word.
    assert_eq!(words("क्या है"), [("क्या".into(), "कया".into()), ("है".into(), "है".into())]);
    assert_eq!(folded("東京 はx、한국"), ["東", "京", "は", "x", "한", "국"]);
    assert!(folded(" \u{301} -- 👩 。").is_empty());
}
