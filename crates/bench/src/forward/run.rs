//! `forward web URL|web-to-stdio|pipe`: how the floor is started.

use axum::Router;
use axum::serve::ListenerExt as _;
use tokio::net::TcpListener;

use super::{lines, pipe, web};
use crate::command_words::CommandWords;
use crate::error::Result;

/// Forwards until it is ended, or until its input ends.
pub(crate) async fn run(mut words: CommandWords) -> Result<()> {
    let listen: Option<String> = words.option("--listen")?;
    let url: Option<String> = words.option("--url")?;
    words.end()?;
    match (listen, url) {
        (Some(listen), Some(url)) => serve(&listen, web::router(&url)?).await,
        (Some(listen), None) => serve(&listen, lines::router()?).await,
        (None, _) => tokio::task::spawn_blocking(pipe::copy).await?,
    }
}

async fn serve(listen: &str, router: Router) -> Result<()> {
    let listener = TcpListener::bind(listen).await?;
    let prompt = listener.tap_io(|stream| {
        // Without it answers are late, which the measurement shows.
        _ = stream.set_nodelay(true);
    });
    Ok(axum::serve(prompt, router).await?)
}
