//! The way to a file: its name and every symbolic link that leads to it, each in the directory
//! where it really is. When one of them changes, the file may be another.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs,
    path::{Component, Path, PathBuf},
};

/// The most links that are followed, as in the kernel.
const MOST: usize = 40;

/// See the module.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Way {
    names: BTreeSet<PathBuf>,
}

impl Way {
    /// The way as it is now. The file need not be there; without its directory there is no way.
    pub(super) fn to(path: &Path) -> Self {
        let mut names = BTreeSet::new();
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        // Links above the configured directory hardly change, and their directories are busy.
        let Ok(mut at) = fs::canonicalize(parent.unwrap_or(Path::new("."))) else {
            return Self::default();
        };
        let mut links = 0;
        // What is still to go, the next step last.
        let mut steps: Vec<OsString> = path.file_name().map(OsString::from).into_iter().collect();
        while let Some(step) = steps.pop() {
            match Path::new(&step).components().next() {
                Some(Component::RootDir) => at = PathBuf::from("/"),
                Some(Component::ParentDir) => drop(at.pop()),
                Some(Component::Normal(name)) => {
                    let here = at.join(name);
                    let link = fs::read_link(&here);
                    if steps.is_empty() || link.is_ok() {
                        names.insert(here.clone());
                    }
                    match link {
                        Ok(_) if links == MOST => break,
                        Ok(target) => {
                            links += 1;
                            let target = target.components().rev();
                            steps.extend(target.map(|step| step.as_os_str().to_owned()));
                        }
                        Err(_) => at = here,
                    }
                }
                _ => {}
            }
        }
        Self { names }
    }

    /// The directories to watch.
    pub(super) fn directories(&self) -> BTreeSet<PathBuf> {
        self.names.iter().filter_map(|name| name.parent()).map(Path::to_owned).collect()
    }

    /// Whether an event is about a name on the way, or about one of the directories themselves. An
    /// event about nothing says that others were lost.
    pub(super) fn is_met_by(&self, event: &notify::Event) -> bool {
        let is_on_it = |path: &PathBuf| {
            self.names.contains(path)
                || self.names.iter().any(|name| name.parent() == Some(path.as_path()))
        };
        event.paths.is_empty() || event.paths.iter().any(is_on_it)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use notify::{Event, EventKind};

    use super::*;

    fn met(way: &Way, path: PathBuf) -> bool {
        way.is_met_by(&Event::new(EventKind::Any).add_path(path))
    }

    #[test]
    fn a_plain_file_is_met_by_its_name_and_its_directory_and_by_nothing_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        let way = Way::to(&dir.join("roster.toml"));
        assert!(met(&way, dir.join("roster.toml")) && met(&way, dir.clone()));
        assert!(!met(&way, dir.join("log")) && !met(&way, dir.join("roster.toml.swp")));
        assert!(way.is_met_by(&Event::new(EventKind::Other)), "lost events may have been of it");
        assert_eq!(Way::to(&dir.join("none/roster.toml")), Way::default());
    }

    #[test]
    fn every_link_is_on_the_way_also_one_that_leads_nowhere_or_round() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        // As Kubernetes mounts a file.
        fs::create_dir_all(dir.join("etc/..one")).unwrap();
        fs::create_dir(dir.join("data")).unwrap();
        fs::write(dir.join("etc/..one/roster.toml"), "").unwrap();
        symlink("..one", dir.join("etc/..data")).unwrap();
        symlink("..data/roster.toml", dir.join("etc/roster.toml")).unwrap();
        let way = Way::to(&dir.join("etc/../etc/./roster.toml"));
        for name in ["etc/roster.toml", "etc/..data", "etc/..one/roster.toml"] {
            assert!(met(&way, dir.join(name)), "{name}");
        }
        assert_eq!(way.directories(), BTreeSet::from([dir.join("etc"), dir.join("etc/..one")]));
        // A link to nothing: what it names may come.
        symlink(dir.join("data/late.toml"), dir.join("to-late")).unwrap();
        assert!(met(&Way::to(&dir.join("to-late")), dir.join("data/late.toml")));
        symlink("../round", dir.join("data/back")).unwrap();
        symlink("data/back", dir.join("round")).unwrap();
        assert!(met(&Way::to(&dir.join("round")), dir.join("data/back")));
    }
}
