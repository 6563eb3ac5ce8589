//! Reads the command line of a model server and starts it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::script_file;
use super::site::ModelSite;
use super::vendor::FixtureVendor;
use crate::http;
use crate::journal::FixtureJournal;
use crate::options::{Flags, ServerLife};

pub(crate) async fn serve(arguments: &[String]) {
    let flags = Flags::read(arguments);
    let vendor = flags.text("vendor").unwrap_or_else(|| panic!("`model` needs `--vendor`"));
    let vendor = FixtureVendor::from_name(vendor);
    let script = flags.text("script").unwrap_or_else(|| panic!("`model` needs `--script`"));
    let site = ModelSite::new(
        vendor,
        script_file::load(Path::new(script)),
        FixtureJournal::open(flags.text("journal").map(PathBuf::from).as_deref()),
        flags.text("key").map(str::to_owned),
    );
    let listener =
        http::listen(flags.number("port", 0), vendor.base_path(), ServerLife::from_flags(&flags))
            .await;
    http::serve_raw(listener, Arc::new(site)).await;
}
