use mcp::{Rights, Scope};

use super::*;
use crate::{
    clock::Clock,
    store::{
        Place,
        names::Keeper,
        prompt::{New, Status, mark, reserve, submit},
    },
};

fn put(shelf: &Shelf, place: &str) {
    shelf.put(place, &[("prompt.md".to_owned(), b"x".to_vec())]).unwrap();
}

async fn leave(store: &Store, place: &str) -> prompt::Row {
    let alpha = Keeper::parse("alpha").unwrap();
    let new = New {
        locus: &alpha,
        text: "x",
        by: "",
        session: "",
        source: "",
        files: &[],
        place,
        pointer: "",
    };
    let reserved = reserve(store, new, 1_000).await.unwrap();
    submit(store, reserved, new).await.unwrap().0
}

#[tokio::test]
async fn the_files_of_prompts_that_went_and_of_none_go_and_all_others_stay() {
    let home = tempfile::tempdir().unwrap();
    // The machine's own time, as the files have it.
    let clock = Clock::set_to(Clock::system().now());
    let store = Store::open(&Place::Dir(home.path().to_owned()), clock.clone()).await.unwrap();
    let shelf = Arc::new(Shelf::open(&home.path().join("prompts")).unwrap());
    for place in ["open", "done", "stray"] {
        put(&shelf, place);
    }
    std::fs::create_dir(shelf.path(".new-half")).unwrap();
    leave(&store, "open").await;
    let done = leave(&store, "done").await;
    let all = Rights { scope: Scope::Operator, loci: None };
    mark(&store, done.id(), Status::Done, &all).await.unwrap();
    let names = || {
        let mut names: Vec<String> =
            shelf.places().unwrap().into_iter().map(|place| place.name).collect();
        names.sort();
        names
    };
    // What is young may be on its way.
    tidy(&store, &shelf).await.unwrap();
    assert_eq!(names(), [".new-half", "done", "open", "stray"]);
    clock.pass(Duration::from_hours(24 * 29));
    tidy(&store, &shelf).await.unwrap();
    assert_eq!(names(), [".new-half", "done", "open", "stray"]);
    clock.pass(Duration::from_hours(24 * 2));
    tidy(&store, &shelf).await.unwrap();
    assert_eq!(names(), ["open"]);
    tidy(&store, &shelf).await.unwrap();
}
