//! The arguments of `import`.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use switchboard_dialects::Dialect;

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// A file of another product, or a link that installs a server; what is installed here by default
    #[arg(value_name = "FILE | LINK")]
    pub(crate) source: Option<String>,
    /// Only from this product
    #[arg(long, value_name = "PRODUCT", value_parser = products())]
    pub(crate) from: Option<Dialect>,
    /// Write nothing; say what would be taken
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Take them without a question; what is dangerous waits for `servers approve` all the same
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// The products by their ids.
pub(crate) fn products() -> impl TypedValueParser<Value = Dialect> {
    let ids = PossibleValuesParser::new(Dialect::ALL.map(Dialect::id));
    ids.try_map(|id| Dialect::of(&id).ok_or("is not known"))
}
