use proptest::prelude::*;

use super::*;

/// Reads a text, and what came of it once more.
fn again<T>(text: &str) -> Result<(), TestCaseError>
where
    T: std::str::FromStr<Err = Error> + ToString,
{
    if let Ok(name) = text.parse::<T>() {
        let name = name.to_string();
        prop_assert_eq!(name.parse::<T>().map(|again| again.to_string()), Ok(name));
    }
    Ok(())
}

fn locus(text: &str) -> String {
    Locus::parse(text).unwrap().to_string()
}

#[test]
fn each_name_has_one_spelling() {
    assert_eq!(locus(" VM_Mgr "), "vm-mgr");
    assert_eq!(locus("Dana@Node.example"), "dana@node.example");
    assert_eq!(Keeper::parse("vm_mgr").unwrap().as_str(), "vm-mgr");
    assert_eq!(Task::parse("Fix Login_v1.2").unwrap().as_str(), "fix-login_v1.2");
    assert_eq!(Seat::parse("My-Seat").unwrap().as_str(), "my-seat");
    assert_eq!(Locus::from(Keeper::parse("a_b").unwrap()), Locus::parse("a-b").unwrap());
}

#[test]
fn lengths_and_marks_are_bounded() {
    assert!(Locus::parse(&"a".repeat(63)).is_ok() && Locus::parse(&"a".repeat(64)).is_err());
    assert!(Keeper::parse(&"a".repeat(63)).is_ok() && Keeper::parse(&"a".repeat(64)).is_err());
    assert!(Task::parse(&"a".repeat(79)).is_ok() && Task::parse(&"a".repeat(80)).is_err());
    assert!(Seat::parse(&"a".repeat(41)).is_ok() && Seat::parse(&"a".repeat(42)).is_err());
    for text in ["-a", "_a", ".a", "@a", "a b", "a/b", "ä", "\u{212a}", "a\nb", "a\0"] {
        assert!(Locus::parse(text).is_err(), "{text:?}");
        assert!(Keeper::parse(text).is_err(), "{text:?}");
        assert!(Seat::parse(text).is_err(), "{text:?}");
    }
    for text in ["a.b", "a@b"] {
        assert!(Keeper::parse(text).is_err(), "{text}");
    }
    assert!(Task::parse("a@b").is_err() && Seat::parse("a_b").is_err());
}

#[test]
fn errors_say_what_the_rule_and_an_example() {
    let text = |error: Error| error.to_string();
    assert_eq!(
        text(Locus::parse(" ").unwrap_err()),
        "locus is empty: it must match `[a-z0-9][a-z0-9._@-]{0,62}`, as in `web-7`"
    );
    assert_eq!(
        text(Task::parse("a/b\u{7}").unwrap_err()),
        "task `a/b\\u{7}` must match `[a-z0-9][a-z0-9._-]{0,78}`, as in `fix-login`"
    );
    assert_eq!(
        text(HandoffId::parse("t3").unwrap_err()),
        "handoff id `t3` must match `h?[0-9]+`, as in `h3`"
    );
    assert_eq!(
        text(BoardId::parse("r1").unwrap().fits(BoardType::Todo).unwrap_err()),
        "`r1` is a todo: its id is `t1`; nothing was touched, give that id if it is the one meant"
    );
    let long = text(Locus::parse(&"ü".repeat(5000)).unwrap_err());
    assert!(long.len() < 300, "{long}");
}

#[test]
fn rows_are_read_with_and_without_their_letter() {
    assert_eq!(HandoffId::parse(" H3").unwrap(), HandoffId::new(3));
    assert_eq!(ExchangeId::parse("007").unwrap().to_string(), "x7");
    assert_eq!(PromptId::parse("p9223372036854775807").unwrap().number(), i64::MAX);
    assert_eq!(BoardId::parse("12").unwrap().number(), 12);
    for kind in BoardType::ALL {
        assert!(BoardId::parse("12").unwrap().fits(kind).is_ok());
        assert_eq!(BoardType::of(&kind.name().to_uppercase()), Some(kind));
        assert!(kind.name().starts_with(kind.letter()));
    }
    for text in [
        "",
        "t",
        "tt1",
        "todo1",
        "z1",
        "t-1",
        "t+1",
        "t0",
        "t 1",
        "t1x",
        "t٣",
        "9223372036854775808",
        "é1",
    ] {
        assert!(BoardId::parse(text).is_err(), "{text:?}");
    }
    for text in ["", "h", "hh1", "x1", "h0", "h+1", "h9223372036854775808"] {
        assert!(HandoffId::parse(text).is_err(), "{text:?}");
    }
    assert_eq!(
        serde_json::json!([HandoffId::new(1), BoardId::new(BoardType::Finding, 2)]).to_string(),
        r#"["h1","f2"]"#
    );
}

#[test]
fn sessions_are_uuids() {
    let id = SessionUuid::parse(" 0B7E2A4C-5d1f-4e6a-9c3b-8f2d7a1e4b60 ").unwrap();
    assert_eq!((id.as_str(), id.short()), ("0b7e2a4c-5d1f-4e6a-9c3b-8f2d7a1e4b60", "0b7e2a4c"));
    for text in [
        "",
        "s9",
        "0b7e2a4c5d1f4e6a9c3b8f2d7a1e4b60",
        "0b7e2a4c-5d1f-4e6a-9c3b-8f2d7a1e4b6g",
        "0b7e2a4c-5d1f-4e6a-9c3b-8f2d7a1e4b6é",
        "0b7e2a4-c5d1f-4e6a-9c3b-8f2d7a1e4b60",
    ] {
        assert!(SessionUuid::parse(text).is_err(), "{text}");
    }
}

#[test]
fn recipients_are_loci_sessions_and_lease_holders() {
    let read = |text: &str| Recipient::parse(text).map(|recipient| recipient.to_string());
    assert_eq!(read("VM_mgr").as_deref(), Ok("vm-mgr"));
    assert_eq!(read(" Session:S9").as_deref(), Ok("session:s9"));
    assert_eq!(read("lease: my_pkg.x").as_deref(), Ok("lease:my_pkg.x"));
    assert!(matches!(
        Recipient::parse("session:a b"),
        Err(Error::Malformed { what: "session id", .. })
    ));
    assert!(matches!(Recipient::parse("lease:"), Err(Error::Empty { what: "package", .. })));
    assert!(matches!(Recipient::parse("other:x"), Err(Error::Malformed { what: "locus", .. })));
}

/// S15: two paths came to one project because their slugs were equal.
#[test]
fn s15_paths_are_no_names_and_their_own_names_differ() {
    // A path is not quietly made a name.
    for path in ["/a-b", "/a_b", "a/b", "C:\\a"] {
        assert!(Locus::parse(path).is_err() && Keeper::parse(path).is_err(), "{path}");
    }
    // Of loci the two spellings are one, as documented.
    assert_eq!(locus("a_b"), locus("a-b"));
    // Where a name is made of a path, the slugs may meet and the names apart do not.
    assert_eq!(Keeper::slug("/a-b"), Keeper::slug("/a_b"));
    let apart: std::collections::BTreeSet<_> = ["/a-b", "/a_b", "/A-b", "/a/b", "/a-b/", "/", ""]
        .map(Keeper::slug_apart)
        .into_iter()
        .collect();
    assert_eq!(apart.len(), 7);
    // An error repeats what was asked for and nothing else.
    assert!(Locus::parse("/a-b").unwrap_err().to_string().starts_with("locus `/a-b` must match"));
}

#[test]
fn slugs_are_the_known_ones() {
    let slug = |text: &str| Keeper::slug(text).map(|name| name.to_string());
    assert_eq!(slug("10.0.0.5-Dana").as_deref(), Some("10-0-0-5-dana"));
    assert_eq!(slug("  node.example.org-vm_mgr ").as_deref(), Some("node-example-org-vm-mgr"));
    assert_eq!(slug("a--b - c").as_deref(), Some("a--b---c"));
    assert_eq!(slug("/_"), None);
}

proptest! {
    /// What was read reads again as itself, in every form.
    #[test]
    fn names_read_again_as_themselves(text in "[ A-Za-z0-9._@:-]{0,90}") {
        again::<Locus>(&text)?;
        again::<Keeper>(&text)?;
        again::<Task>(&text)?;
        again::<Seat>(&text)?;
        again::<Session>(&text)?;
        again::<Package>(&text)?;
    }

    #[test]
    fn keepers_are_loci(text in "[A-Za-z0-9_-]{1,63}") {
        if let Ok(keeper) = Keeper::parse(&text) {
            prop_assert_eq!(Locus::parse(&text).unwrap(), Locus::from(keeper));
        }
    }

    #[test]
    fn rows_read_again_as_themselves(number in 1..=i64::MAX, at in 0..BoardType::ALL.len()) {
        let kind = BoardType::ALL[at];
        let id = BoardId::new(kind, number);
        prop_assert_eq!(BoardId::parse(&id.to_string()), Ok(id));
        prop_assert_eq!(id.fits(kind), Ok(()));
        for other in BoardType::ALL {
            prop_assert_eq!(id.fits(other).is_ok(), other == kind);
        }
        prop_assert_eq!(HandoffId::parse(&HandoffId::new(number).to_string()), Ok(HandoffId::new(number)));
    }

    #[test]
    fn recipients_read_again_as_themselves(text in "((session|lease|LEASE):)?[A-Za-z0-9._@: -]{0,12}") {
        if let Ok(recipient) = Recipient::parse(&text) {
            prop_assert_eq!(Recipient::parse(&recipient.to_string()), Ok(recipient));
        }
    }

    #[test]
    fn slugs_are_names(text in any::<String>()) {
        let names = Keeper::slug(&text).into_iter().chain([Keeper::slug_apart(&text)]);
        for name in names {
            prop_assert_eq!(Keeper::parse(name.as_str()), Ok(name.clone()));
            prop_assert_eq!(Keeper::slug(name.as_str()), Some(name));
        }
    }

    #[test]
    fn any_text_is_taken(text in any::<String>()) {
        let _ = (Locus::parse(&text), Task::parse(&text), BoardId::parse(&text), PromptId::parse(&text));
        let _ = (SessionUuid::parse(&text), Recipient::parse(&text));
    }
}
