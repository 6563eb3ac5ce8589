//! Puts a load on a client and measures latency, throughput and processor time.

use std::time::{Duration, Instant};

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::meter;

/// A client that repeats one call.
pub(crate) trait LoadClient: Clone + Send + Sync + 'static {
    /// Makes the call and returns the size of its result in bytes.
    fn call(&self) -> impl Future<Output = Result<usize>> + Send;
}

/// The load on a client: payload size and concurrency.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct CallLoad {
    /// Bytes of text in each direction.
    #[arg(long)]
    pub(crate) bytes: usize,
    /// Number of calls in flight.
    #[arg(long)]
    pub(crate) in_flight: usize,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct LoadResult {
    pub(crate) calls: u64,
    /// Median latency in microseconds.
    pub(crate) p50: f64,
    /// 99th percentile of the latency in microseconds.
    pub(crate) p99: f64,
    pub(crate) rate: f64,
    /// Processor time of the client's process per call, in microseconds.
    pub(crate) cpu: f64,
}

/// For each line of standard input, calls for that many milliseconds and prints the result as JSON.
/// Ends with the input.
pub(crate) async fn serve_load(client: &impl LoadClient, load: CallLoad) -> Result<()> {
    loop {
        let read = tokio::task::spawn_blocking(|| std::io::stdin().lines().next().transpose());
        let Some(line) = read.await?? else { return Ok(()) };
        let measured = run(client, load, Duration::from_millis(line.trim().parse()?)).await?;
        println!("{}", serde_json::to_string(&measured)?);
    }
}

/// Runs the load for `length` and returns the measurements.
pub(crate) async fn run(
    client: &impl LoadClient,
    load: CallLoad,
    length: Duration,
) -> Result<LoadResult> {
    let started = Instant::now();
    let end = started + length;
    let used = meter::processor_time();
    // Spawned to run on the runtime's workers, as in a real program; the main thread is not one.
    let callers: Vec<_> = (0..load.in_flight.max(1))
        .map(|_| tokio::spawn(caller(client.clone(), load.bytes, end)))
        .collect();
    let mut times = Vec::new();
    for caller in callers {
        times.append(&mut caller.await??);
    }
    let seconds = started.elapsed().as_secs_f64();
    let used = meter::processor_time().saturating_sub(used);
    times.sort_unstable();
    let calls = times.len() as f64;
    Ok(LoadResult {
        calls: times.len() as u64,
        p50: percentile(&times, 50),
        p99: percentile(&times, 99),
        rate: calls / seconds,
        cpu: used.as_secs_f64() * 1e6 / calls,
    })
}

async fn caller(client: impl LoadClient, bytes: usize, end: Instant) -> Result<Vec<Duration>> {
    let mut times = Vec::with_capacity(1_024);
    let mut now = Instant::now();
    // At least one call, so that there is always something to report.
    while times.is_empty() || now < end {
        let found = client.call().await?;
        if found < bytes {
            return Err(format!("{found} bytes came back for {bytes}").into());
        }
        let then = Instant::now();
        times.push(then - now);
        now = then;
    }
    Ok(times)
}

fn percentile(sorted: &[Duration], percent: usize) -> f64 {
    let at = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(at).map_or(f64::NAN, |time| time.as_secs_f64() * 1e6)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::percentile;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let times: Vec<Duration> = (1..=100).map(Duration::from_micros).collect();
        let found = [0, 50, 99, 100].map(|percent| percentile(&times, percent).round());
        assert_eq!(found, [1.0, 51.0, 100.0, 100.0]);
        assert!(percentile(&[], 50).is_nan());
    }
}
