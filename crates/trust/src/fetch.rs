//! Fetches a file from an address, up to a length.

use switchboard_wire::{WireLimits, http};

/// The file at an address in the form that is wanted, if it has at most so many bytes.
pub(crate) async fn fetch(
    url: &str,
    accept: &str,
    longest_bytes: usize,
) -> Result<Vec<u8>, String> {
    let client = http::new_client(&WireLimits::default()).map_err(|error| error.to_string())?;
    let request = client.get(url).header("accept", accept);
    let mut response = request.send().await.map_err(|error| error.to_string())?;
    let status = response.status().as_u16();
    if status != 200 {
        return Err(format!("the answer is {status}"));
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| error.to_string())? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > longest_bytes {
            return Err(format!("it is longer than {} MiB", longest_bytes / 1024 / 1024));
        }
    }
    Ok(bytes)
}
