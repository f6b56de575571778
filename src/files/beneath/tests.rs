use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use rustix::fs::{CWD, RenameFlags, mknodat, renameat_with};
use tempfile::TempDir;

use super::*;

/// `root` with `a.md` and `sub/b.md`, beside it `root-evil/secret.md` and `secret.md`.
fn place() -> (TempDir, Roots) {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    fs::create_dir_all(at("root/sub")).unwrap();
    fs::create_dir(at("root-evil")).unwrap();
    fs::write(at("root/a.md"), "a").unwrap();
    fs::write(at("root/sub/b.md"), "b").unwrap();
    fs::write(at("root-evil/secret.md"), "secret").unwrap();
    fs::write(at("secret.md"), "secret").unwrap();
    let roots = Roots::open(&[at("root")]).unwrap();
    (home, roots)
}

fn is_outside(error: &io::Error) -> bool {
    error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<Outside>)
}

#[test]
fn files_below_a_root_are_read_by_both_kinds_of_paths() {
    let (home, roots) = place();
    let at = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    symlink("sub/b.md", at("root/link.md")).unwrap();
    symlink(at("root"), at("alias")).unwrap();
    let aliased = Roots::open(&[at("alias").into()]).unwrap();
    for (path, wanted) in [
        (at("root/a.md"), "a"),
        (at("root//./sub/../a.md"), "a"),
        ("sub/b.md".to_owned(), "b"),
        ("link.md".to_owned(), "b"),
    ] {
        assert_eq!(roots.read_text(&path, 10).unwrap(), wanted, "{path}");
        assert_eq!(aliased.read_text(&path, 10).unwrap(), wanted, "{path}");
    }
    assert_eq!(aliased.read_text(&at("alias/a.md"), 10).unwrap(), "a");
    let both = Roots::open(&[at("root").into(), at("root/sub").into()]).unwrap();
    assert_eq!(both.read_text("b.md", 10).unwrap(), "b");
    assert_eq!(both.read_text("a.md", 10).unwrap(), "a");
}

#[test]
fn nothing_outside_of_a_root_is_read() {
    let (home, roots) = place();
    let at = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    symlink(at("secret.md"), at("root/absolute.md")).unwrap();
    symlink("../secret.md", at("root/relative.md")).unwrap();
    symlink("..", at("root/up")).unwrap();
    symlink("/proc/self/root", at("root/magic")).unwrap();
    symlink("circle", at("root/circle")).unwrap();
    for path in [
        &at("secret.md"),
        &at("root-evil/secret.md"),
        &at("root/../secret.md"),
        &at("root/sub/../../secret.md"),
        "../secret.md",
        "../root/a.md",
        "absolute.md",
        "relative.md",
        "up/secret.md",
        "up/root/a.md",
        "magic/etc/hostname",
        "circle",
        "/etc/hostname",
        "/proc/self/environ",
        "/",
    ] {
        let error = roots.read_text(path, 100).unwrap_err();
        assert!(is_outside(&error), "{path}: {error}");
    }
    assert!(is_outside(&Roots::default().read_text(&at("root/a.md"), 9).unwrap_err()));
    for path in ["a.md\0", "a\n.md", "\u{1b}a.md"] {
        assert_eq!(roots.read_text(path, 9).unwrap_err().kind(), ErrorKind::InvalidInput);
    }
}

#[test]
fn what_is_no_text_file_of_its_size_is_refused_without_a_wait() {
    let (home, roots) = place();
    let at = |name: &str| home.path().join(name);
    mknodat(CWD, at("root/pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("root/socket")).unwrap();
    fs::write(at("root/latin1"), b"caf\xe9").unwrap();
    let devices = Roots::open(&["/dev".into()]).unwrap();
    for (roots, path, kind) in [
        (&roots, "pipe", ErrorKind::InvalidInput),
        (&roots, "socket", ErrorKind::InvalidInput),
        (&roots, "sub", ErrorKind::InvalidInput),
        (&roots, at("root").to_str().unwrap(), ErrorKind::InvalidInput),
        (&devices, "zero", ErrorKind::InvalidInput),
        (&roots, "latin1", ErrorKind::InvalidData),
        (&roots, "none.md", ErrorKind::NotFound),
        (&roots, "a.md/b", ErrorKind::NotFound),
        (&roots, &"x".repeat(5_000), ErrorKind::NotFound),
    ] {
        let error = roots.read_text(path, 9).unwrap_err();
        assert!(error.kind() == kind && !is_outside(&error), "{path}: {error}");
    }
    let large = roots.read_text("latin1", 3).unwrap_err();
    assert_eq!(large.kind(), ErrorKind::FileTooLarge);
}

#[test]
fn a_root_that_is_none_is_told_of_at_the_start() {
    let (home, _) = place();
    for (path, words) in [
        (PathBuf::from("sub"), "no absolute path"),
        (home.path().join("nowhere"), "nowhere` of `files.roots` cannot be opened"),
        (home.path().join("secret.md"), "cannot be opened"),
    ] {
        let error = Roots::open(&[path]).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    // What is there need not be readable by its own mode for the handle: only its files are read.
    fs::set_permissions(home.path().join("root"), fs::Permissions::from_mode(0o711)).unwrap();
    Roots::open(&[home.path().join("root")]).unwrap();
}

/// A directory is swapped with a link to the outside all the while: what is read is never the
/// outside's.
#[test]
fn a_link_that_is_put_in_meanwhile_leads_nowhere() {
    let (home, roots) = place();
    let at = |name: &str| home.path().join(name);
    fs::write(at("root/sub/secret.md"), "inside").unwrap();
    symlink("../root-evil", at("root/evil")).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let (one, other) = (at("root/sub"), at("root/evil"));
                renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let (mut inside, mut outside) = (0, 0);
        for count in 0..1_000_000 {
            if count >= 10_000 && inside > 0 && outside > 0 {
                break;
            }
            match roots.read_text("sub/secret.md", 100) {
                Ok(text) => {
                    assert_eq!(text, "inside");
                    inside += 1;
                }
                // Resolving it was disturbed each time.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => {
                    assert!(is_outside(&error), "{error}");
                    outside += 1;
                }
            }
        }
        done.store(true, Ordering::Relaxed);
        assert!(inside > 0 && outside > 0, "{inside} inside, {outside} outside");
    });
}
