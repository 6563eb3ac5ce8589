//! A dropped listener does not cost the answer.

use tokio::sync::mpsc;

use crate::server::{Server, hello, openai, question};

#[tokio::test]
async fn an_answer_is_given_whole_to_nobody_listening() {
    let server = Server::start(vec![hello()]).await;
    let (heard, told) = mpsc::channel(1);
    drop(told);
    assert_eq!(openai(&server).answer(&question(), &heard).await.unwrap().text, "Hello");
}

#[tokio::test]
async fn an_answer_is_given_whole_while_the_listener_sleeps() {
    let server = Server::start(vec![hello()]).await;
    let (heard, told) = mpsc::channel(1);
    assert_eq!(openai(&server).answer(&question(), &heard).await.unwrap().text, "Hello");
    drop(told);
}
