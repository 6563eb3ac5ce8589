//! The sandbox: drops the privileges of this process, then executes the server.
//!
//! Runs in a separate process between the keeper and the server, because dropped privileges cannot
//! be regained. If any restriction cannot be applied, the server does not start.

use std::ffi::OsString;
use std::io;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use crate::keeper::close_inherited;
use crate::process::SandboxPlan;

/// Confines this process by the plan in the first argument, then executes the program given by the
/// others. Returns only on failure, with the exit status.
#[must_use]
pub fn confine(words: &[OsString]) -> u8 {
    let tell = |message: String| {
        report_failure(&message);
        126
    };
    let [plan, program, args @ ..] = words else { return 2 };
    let Some(plan) = plan.to_str().and_then(|text| serde_json::from_str::<SandboxPlan>(text).ok())
    else {
        return tell("the sandbox plan is invalid".to_owned());
    };
    close_inherited();
    if let Err(why) = plan.apply(Path::new(program)) {
        return tell(format!("cannot set up the sandbox: {why}"));
    }
    let error = Command::new(program).args(args).exec();
    tell(format!("cannot start `{}`: {error}", program.display()))
}

/// Writes a failure to standard error, which is part of the host's diagnosis.
fn report_failure(message: &str) {
    // The pipe breaks only when the host is gone, and then there is no diagnosis to add to.
    _ = writeln!(io::stderr(), "{message}");
}

/// System paths that programs need to start, to resolve names and to verify certificates. Password
/// hashes and other users' files are not included.
#[cfg(target_os = "linux")]
const SYSTEM_PATHS: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/opt",
    "/nix/store",
    "/proc",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl",
    "/etc/timezone",
];

/// Devices that a server may use. The terminal is not among them: a server must not imitate our
/// prompts or read a person's answers.
#[cfg(target_os = "linux")]
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::path::{Path, PathBuf};

    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath,
        PathFd, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus, Scope,
    };
    use rustix::process::{Resource, Rlimit, getegid, geteuid, setrlimit};
    use rustix::thread::{CapabilitySet, CapabilitySets, UnshareFlags, set_capabilities};

    use super::{DEVICES, SYSTEM_PATHS, report_failure};
    use crate::hide_sockets::{HideSocketsError, hide_sockets};
    use crate::process::SandboxPlan;

    impl SandboxPlan {
        pub(crate) fn apply(&self, program: &Path) -> Result<(), String> {
            self.apply_limits()?;
            let has_mounts = self.unshare_namespaces()?;
            if let Err(why) = has_mounts.and_then(|()| self.hide_sockets(program)) {
                match why {
                    HideSocketsError::Incomplete(why) => return Err(why),
                    // Not every system allows mount namespaces; the other restrictions still apply.
                    HideSocketsError::Unsupported(why) => report_failure(&format!(
                        "the sandbox cannot hide sockets of other programs here: {why}"
                    )),
                }
            }
            // Landlock forbids mounts, and mounts need capabilities, hence this order.
            self.restrict_files(program)?;
            drop_capabilities()
        }

        /// Leaves the network unless the plan allows it, and the mount namespace if possible.
        fn unshare_namespaces(&self) -> Result<Result<(), HideSocketsError>, String> {
            let mounts = UnshareFlags::NEWNS;
            if self.has_network {
                return Ok(unshare_as_user(mounts).map_err(HideSocketsError::Unsupported));
            }
            let both = unshare_as_user(mounts | UnshareFlags::NEWNET);
            if let Err(error) = both {
                unshare_as_user(UnshareFlags::NEWNET).map_err(|error| {
                    format!("cannot turn off the network here ({error}); allow it with `network`")
                })?;
                return Ok(Err(HideSocketsError::Unsupported(error)));
            }
            Ok(Ok(()))
        }

        fn hide_sockets(&self, program: &Path) -> Result<(), HideSocketsError> {
            let system = SYSTEM_PATHS.iter().map(Path::new);
            let given = self.read.iter().chain(&self.write).map(PathBuf::as_path);
            let kept: Vec<&Path> = system.chain(given).chain([program]).collect();
            hide_sockets(&kept, self.own.as_deref())
        }

        fn apply_limits(&self) -> Result<(), String> {
            let set = |resource, most: Option<u64>, what: &str| match most {
                None => Ok(()),
                Some(_) => setrlimit(resource, Rlimit { current: most, maximum: most })
                    .map_err(|error| format!("cannot limit {what}: {error}")),
            };
            set(Resource::As, self.memory_bytes, "memory")?;
            set(Resource::Nproc, self.processes, "the number of processes")?;
            set(Resource::Cpu, self.cpu_seconds, "CPU time")?;
            // A core dump would contain the secrets in the server's memory.
            set(Resource::Core, Some(0), "core dumps")
        }

        /// Restricts access to the files of the plan with Landlock. Also prevents tracing and
        /// signalling outside processes, and connecting to abstract Unix sockets.
        fn restrict_files(&self, program: &Path) -> Result<(), String> {
            let failed = |error: landlock::RulesetError| error.to_string();
            let all = AccessFs::from_all(ABI::V5);
            let read = AccessFs::from_read(ABI::V5);
            // By default, the crate silently enforces less on an older kernel.
            let mut ruleset = Ruleset::default()
                .set_compatibility(CompatLevel::HardRequirement)
                .handle_access(all)
                .map_err(failed)?
                .scope(Scope::from_all(ABI::V6))
                .map_err(failed)?;
            if !self.has_network {
                ruleset = ruleset.handle_access(AccessNet::from_all(ABI::V4)).map_err(failed)?;
            }
            let mut created = ruleset.create().map_err(failed)?;
            let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
            // A program that cannot be resolved fails later, with the error of `exec`.
            let real = fs::canonicalize(program).ok();
            let system = SYSTEM_PATHS.iter().map(|path| (Path::new(*path), read));
            let devices = DEVICES.iter().map(|path| (Path::new(*path), device));
            let own = [Some(program), real.as_deref()].into_iter().flatten();
            let own = own.map(|path| (path, read));
            let given = self.read.iter().map(|path| (path.as_path(), read));
            let written = self.write.iter().map(|path| (path.as_path(), all));
            for (path, access) in system.chain(devices).chain(own).chain(given).chain(written) {
                // A path that does not exist needs no rule.
                let Ok(about) = fs::metadata(path) else { continue };
                let Ok(open) = PathFd::new(path) else { continue };
                // The kernel rejects a rule that grants directory rights on a file.
                let access = if about.is_dir() { access } else { access & file_access() };
                created = created.add_rule(PathBeneath::new(open, access)).map_err(failed)?;
            }
            let status = created.restrict_self().map_err(failed)?;
            match status.ruleset {
                RulesetStatus::FullyEnforced => Ok(()),
                RulesetStatus::PartiallyEnforced | RulesetStatus::NotEnforced => {
                    Err("the kernel does not enforce all restrictions".to_owned())
                }
            }
        }
    }

    fn file_access() -> BitFlags<AccessFs> {
        AccessFs::from_file(ABI::V5)
    }

    /// Drops all capabilities: those of root would bypass the restrictions above.
    fn drop_capabilities() -> Result<(), String> {
        let none = CapabilitySets {
            effective: CapabilitySet::empty(),
            permitted: CapabilitySet::empty(),
            inheritable: CapabilitySet::empty(),
        };
        set_capabilities(None, none).map_err(|error| format!("cannot drop capabilities: {error}"))
    }

    /// Unshares namespaces. A user other than root needs a new user namespace for that.
    fn unshare_as_user(flags: UnshareFlags) -> std::io::Result<()> {
        let user = geteuid().as_raw();
        let group = getegid().as_raw();
        if user == 0 {
            return unshare(flags);
        }
        unshare(UnshareFlags::NEWUSER | flags)?;
        // Without privileges, the kernel accepts a group map only once `setgroups` is denied.
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
    }

    #[expect(deprecated, reason = "its dangers need threads, and this process has one")]
    fn unshare(flags: UnshareFlags) -> std::io::Result<()> {
        Ok(rustix::thread::unshare(flags)?)
    }
}

#[cfg(not(target_os = "linux"))]
impl SandboxPlan {
    fn apply(&self, _program: &Path) -> Result<(), String> {
        Err("sandboxes are supported on Linux only".to_owned())
    }
}
