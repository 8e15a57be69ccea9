//! What program runs on what machine.

use optimist::ENGINE_VERSION;
use serde::Serialize;

/// The program and the machine it runs on.
#[derive(Serialize)]
pub struct Machine {
    version: &'static str,
    engine: u32,
    build: &'static str,
    target: String,
    program: Option<String>,
    cores: usize,
    /// Those that decide how fast suggestions are made, and how sums are rounded.
    cpu_features: Vec<&'static str>,
    /// Variables that change what commands do, without their values: there may be passwords in them.
    variables: Vec<String>,
}

impl Machine {
    /// The running program, and the machine it runs on.
    pub fn this() -> Self {
        let libc = match () {
            () if cfg!(target_env = "musl") => "-musl",
            () if cfg!(target_env = "gnu") => "-gnu",
            () => "",
        };
        let program = std::env::current_exe().ok();
        let set = |name: &String| {
            name.starts_with("OPTIMIST_") || name.starts_with("PG") || name == "RAYON_NUM_THREADS"
        };
        let mut variables: Vec<String> =
            std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).filter(set).collect();
        variables.sort_unstable();
        Self {
            version: env!("CARGO_PKG_VERSION"),
            engine: ENGINE_VERSION,
            build: if cfg!(debug_assertions) { "debug" } else { "release" },
            target: format!("{}-{}{libc}", std::env::consts::ARCH, std::env::consts::OS),
            program: program.map(|program| program.display().to_string()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            cpu_features: cpu_features(),
            variables,
        }
    }

    /// Rows of a table: what, and its value.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let listed = |words: &[String]| if words.is_empty() { "none".to_owned() } else { words.join(", ") };
        let features: Vec<String> = self.cpu_features.iter().map(|word| (*word).to_owned()).collect();
        vec![
            ("optimist", format!("{} ({} build), engine {}", self.version, self.build, self.engine)),
            ("target", self.target.clone()),
            ("program", self.program.clone().unwrap_or_else(|| "unknown".to_owned())),
            ("cores", self.cores.to_string()),
            ("CPU features", listed(&features)),
            ("variables set", listed(&self.variables)),
        ]
    }
}

#[cfg(target_arch = "x86_64")]
fn cpu_features() -> Vec<&'static str> {
    let features = [
        ("sse4.2", is_x86_feature_detected!("sse4.2")),
        ("avx2", is_x86_feature_detected!("avx2")),
        ("fma", is_x86_feature_detected!("fma")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
    ];
    features.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn cpu_features() -> Vec<&'static str> {
    if cfg!(target_feature = "neon") { vec!["neon"] } else { Vec::new() }
}
