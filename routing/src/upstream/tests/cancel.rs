//! A caller that leaves takes its connection with it.

use std::time::Duration;

use fake::Fake;

use super::{asking, backend, upstream, with_server};

#[tokio::test]
async fn d34_dropping_the_call_closes_its_connection_at_any_stage() {
    let fake = Fake::start().await;
    let upstream = upstream();
    for (model, stream) in [
        ("hang", true),
        ("hang", false),
        ("firsttoken-60000", true),
        ("drip-1000", true),
        ("firsttoken-60000", false),
    ] {
        let backend = with_server(backend(&fake.url(), model), |server| server.stream = stream);
        let request = asking("hi");
        {
            let call = upstream.call(&backend, &request);
            tokio::select! {
                got = call => panic!("{model}: {got:?}"),
                came = fake.wait_for(|stats| stats.open == 1) => assert!(came),
            }
            // Whatever of the head or body is to come has come now.
            let _ =
                tokio::time::timeout(Duration::from_millis(20), std::future::pending::<()>()).await;
        }
        assert!(fake.wait_for(|stats| stats.open == 0).await, "{model}, stream = {stream}");
    }
}

#[tokio::test]
async fn d34_a_call_in_mid_stream_is_closed_too() {
    let fake = Fake::start().await;
    let upstream = upstream();
    let backend = backend(&fake.url(), "reason-100000");
    let request = asking("hi");
    let call = upstream.call(&backend, &request);
    let ended = tokio::time::timeout(Duration::from_millis(300), call).await;
    assert!(ended.is_err(), "it was dropped while it ran");
    assert!(fake.wait_for(|stats| stats.open == 0).await);
}
