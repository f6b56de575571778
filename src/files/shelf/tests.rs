use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
};

use super::*;

fn shelf() -> (tempfile::TempDir, Shelf) {
    let home = tempfile::tempdir().unwrap();
    let shelf = Shelf::open(&home.path().join("shelf")).unwrap();
    (home, shelf)
}

fn files(files: &[(&str, &str)]) -> Vec<(String, Vec<u8>)> {
    files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
}

fn names(shelf: &Shelf) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(shelf.path(""))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_place_is_written_whole_read_back_and_taken_away() {
    let (_home, shelf) = shelf();
    shelf.put("one", &files(&[("a.txt", "hello"), ("b", "")])).unwrap();
    shelf.put("two", &[]).unwrap();
    assert_eq!(shelf.read("one", "a.txt", 5).unwrap(), b"hello");
    assert_eq!(shelf.read("one", "b", 0).unwrap(), b"");
    assert_eq!(shelf.read("one", "a.txt", 4).unwrap_err().kind(), ErrorKind::FileTooLarge);
    for (place, name) in [("one", "c"), ("three", "a.txt")] {
        assert_eq!(shelf.read(place, name, 9).unwrap_err().kind(), ErrorKind::NotFound);
    }
    for path in [shelf.path("one"), shelf.path("one").join("a.txt")] {
        assert_eq!(fs::metadata(path).unwrap().mode() & 0o077, 0);
    }
    let mut there = shelf.places().unwrap();
    there.sort_by(|one, other| one.name.cmp(&other.name));
    assert_eq!(there.iter().map(|place| &*place.name).collect::<Vec<_>>(), ["one", "two"]);
    assert!(there.iter().all(|place| place.changed > 1_700_000_000 && !place.is_left_over()));
    // A place is written once.
    let again = shelf.put("one", &files(&[("a.txt", "other")])).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::AlreadyExists);
    assert_eq!(shelf.read("one", "a.txt", 5).unwrap(), b"hello");
    assert_eq!(names(&shelf), ["one", "two"]);
    shelf.remove("one").unwrap();
    shelf.remove("one").unwrap();
    assert_eq!(names(&shelf), ["two"]);
}

#[test]
fn what_cannot_be_written_whole_leaves_nothing() {
    let (_home, shelf) = shelf();
    // The same name twice: the second is not made.
    shelf.put("one", &files(&[("a", "1"), ("a", "2")])).unwrap_err();
    assert_eq!(names(&shelf), [""; 0]);
    fs::set_permissions(shelf.path(""), fs::Permissions::from_mode(0o700)).unwrap();
    shelf.put("one", &files(&[("a", "1")])).unwrap();
}

#[test]
fn no_name_leads_out_of_it() {
    let (home, shelf) = shelf();
    fs::write(home.path().join("precious"), "precious").unwrap();
    let long = "a".repeat(201);
    for odd in
        ["", ".", "..", "../precious", "/etc/passwd", "a/b", "a\0b", "a\nb", ".hidden", &long]
    {
        assert_eq!(shelf.put(odd, &[]).unwrap_err().kind(), ErrorKind::InvalidInput, "{odd}");
        assert_eq!(
            shelf.put("p", &files(&[(odd, "x")])).unwrap_err().kind(),
            ErrorKind::InvalidInput
        );
        assert_eq!(shelf.read(odd, "a", 9).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(shelf.read("p", odd, 9).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(shelf.remove(odd).unwrap_err().kind(), ErrorKind::InvalidInput);
    }
    assert_eq!(names(&shelf), [""; 0]);
    assert_eq!(fs::read_to_string(home.path().join("precious")).unwrap(), "precious");
}

#[test]
fn planted_links_are_not_followed_and_what_they_point_to_stays() {
    let (home, shelf) = shelf();
    let outside = home.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("a"), "precious").unwrap();
    shelf.put("one", &files(&[("b", "mine")])).unwrap();
    symlink(outside.join("a"), shelf.path("one").join("a")).unwrap();
    symlink(&outside, shelf.path("two")).unwrap();
    fs::create_dir(shelf.path("one").join("dir")).unwrap();
    for (place, name) in [("one", "a"), ("two", "a"), ("one", "dir")] {
        let error = shelf.read(place, name, 99).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{place}/{name}: {error}");
    }
    fs::remove_dir(shelf.path("one").join("dir")).unwrap();
    shelf.remove("one").unwrap();
    shelf.remove("two").unwrap();
    assert_eq!(names(&shelf), [""; 0]);
    assert_eq!(fs::read_to_string(outside.join("a")).unwrap(), "precious");
    // In the place of the shelf itself.
    let link = home.path().join("link");
    symlink(&outside, &link).unwrap();
    Shelf::open(&link).unwrap_err();
    fs::set_permissions(&outside, fs::Permissions::from_mode(0o777)).unwrap();
    let error = Shelf::open(&outside).unwrap_err();
    assert!(error.to_string().contains("chmod"), "{error}");
}

#[test]
fn what_is_left_over_is_found_and_cleared() {
    let (_home, shelf) = shelf();
    fs::create_dir(shelf.path(".new-half")).unwrap();
    fs::write(shelf.path(".new-half").join("a"), "half").unwrap();
    fs::write(shelf.path("stray"), "no place").unwrap();
    let places = shelf.places().unwrap();
    assert_eq!(places.len(), 1);
    assert!(places[0].is_left_over());
    shelf.clear(&places[0].name).unwrap();
    assert_eq!(names(&shelf), ["stray"]);
}
