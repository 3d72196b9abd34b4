//! npm packages that the tests bring along: axe-core, and the fonts of every page.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// Returns the folder of the npm packages, which are installed by the first call.
pub fn node_modules() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser-modules");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser");
        let modules = folder.join("node_modules");
        let lock = fs::read(source.join("package-lock.json")).unwrap();
        let is_installed = fs::read(folder.join("package-lock.json")).is_ok_and(|old| old == lock);
        if !is_installed || !modules.exists() {
            fs::create_dir_all(&folder).unwrap();
            fs::copy(source.join("package.json"), folder.join("package.json")).unwrap();
            fs::write(folder.join("package-lock.json"), lock).unwrap();
            let installed = Command::new("npm")
                .args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"])
                .current_dir(&folder)
                .status()
                .expect("npm is installed");
            assert!(installed.success(), "npm could not install the packages");
        }
        modules
    })
}

/// Returns a configuration of fontconfig with the DejaVu fonts only. The pages name no font of their own, so heights of
/// lines and breaks of lines would depend on the fonts of the machine. DejaVu is wider than most fonts.
pub fn fonts() -> &'static Path {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    FILE.get_or_init(|| {
        let modules = node_modules();
        let file = modules.with_file_name("fonts.conf");
        let fonts = modules.join("dejavu-fonts-ttf/ttf");
        let cache = modules.with_file_name("font-cache");
        let family = |generic: &str, name: &str| {
            format!(
                "<match target=\"pattern\"><test name=\"family\"><string>{generic}</string></test>\
                 <edit name=\"family\" mode=\"assign\" binding=\"strong\"><string>{name}</string></edit></match>\n"
            )
        };
        let families = [
            family("system-ui", "DejaVu Sans"),
            family("sans-serif", "DejaVu Sans"),
            family("serif", "DejaVu Serif"),
            family("monospace", "DejaVu Sans Mono"),
        ]
        .concat();
        let text = format!(
            "<?xml version=\"1.0\"?>\n<!DOCTYPE fontconfig SYSTEM \"fonts.dtd\">\n<fontconfig>\n\
             <dir>{}</dir>\n<cachedir>{}</cachedir>\n{families}</fontconfig>\n",
            fonts.display(),
            cache.display()
        );
        fs::write(&file, text).unwrap();
        file
    })
}
