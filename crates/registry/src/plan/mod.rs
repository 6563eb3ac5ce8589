//! Converts one package or remote of `server.json` to the exact command or URL.
//!
//! Reading order: `package` makes an `InstallPlan` of each package and remote, with texts as
//! templates and inputs as questions; `fill` turns it into an `InstallRecipe` with the user's
//! answers. `exact_version` and `runner` decide which packages are run and by which program.

mod error;
mod exact_version;
mod fill;
mod install_plan;
mod package;
mod question;
mod runner;
mod template;

pub use error::PlanError;
pub use fill::{InstallAnswers, InstallRecipe, RecipeText};
pub use install_plan::{InstallPlan, PlanBody, PlanItem};
pub use question::{AnswerFormat, RegistryQuestion};
pub use template::Template;

pub(crate) use install_plan::{check_text, check_variable};
pub use package::{InstallChoice, install_choices};
