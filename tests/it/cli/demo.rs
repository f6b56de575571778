//! `adjutant demo`.

use super::{Cli, files};

#[tokio::test]
async fn the_demo_runs_offline_and_leaves_nothing_behind() {
    let cli = Cli::new(&["demo"]);
    let home = cli.home.clone();
    let temporary = home.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let ended = cli.env("TMPDIR", &temporary).env("HUGPY_BASE", "http://127.0.0.1:1").end().await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let lines: Vec<&str> = ended.out.lines().collect();
    assert!(lines.len() > 20, "{ended:?}");
    for heading in ["ITEM", "BACKEND", "WHY", "TOKENS", "MS", "FIRST LINE"] {
        assert!(lines[0].contains(heading), "{}", lines[0]);
    }
    assert!(lines[1].contains("README.md") && lines[1].contains("extract"), "{}", lines[1]);
    assert!(lines[1].contains("only one for summarise"), "{}", lines[1]);
    assert!(lines.iter().all(|line| line.chars().count() <= 100), "{ended:?}");
    assert!(ended.err.contains("answered in"), "{ended:?}");
    assert_eq!(files(home.path()), Vec::<std::path::PathBuf>::new());
}

#[tokio::test]
async fn the_demo_as_json_has_every_item_with_its_answer() {
    let report = Cli::new(&["demo", "--json"]).end().await.json();
    let rows = report["results"].as_array().unwrap();
    assert_eq!(report["answered"], report["total"]);
    assert_eq!(rows.len(), usize::try_from(report["total"].as_u64().unwrap()).unwrap());
    for row in rows {
        assert_eq!((&row["status"], &row["model"]), (&"ok".into(), &"extractive".into()), "{row}");
        for member in ["item", "text", "why", "backend"] {
            assert!(row[member].as_str().is_some_and(|text| !text.is_empty()), "{member}: {row}");
        }
    }
}
