//! The modules of a crate, and which of them uses which.

use crate::imports::{self, Binding, Module};
use crate::repository::Repository;
use std::collections::{BTreeMap, BTreeSet};

/// A module's path from the root of its crate, which itself is empty.
pub type Path = Vec<String>;

/// A module uses another one of the same folder: the files of the two, or files below them.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrow {
    pub folder: Path,
    pub from: String,
    pub to: String,
    /// A file of `from`, and the line of an import in it.
    pub place: String,
}

/// The target of a path.
struct Target {
    /// The module that defines it.
    owner: Path,
    /// The name in the module; `None` for the module itself.
    item: Option<String>,
}

/// The modules of one crate. The roots of its library and of its command are one module.
pub struct Modules {
    /// The package's name, such as `inorder-key`.
    pub package: String,
    modules: BTreeMap<Path, (Module, String)>,
}

/// The maximum number of chained re-exports.
const REEXPORTS_MAX: usize = 16;

impl Modules {
    /// The modules of each crate, without those that only tests have.
    pub fn of_crates(repository: &Repository) -> Vec<Modules> {
        let mut crates: BTreeMap<&str, Modules> = BTreeMap::new();
        for file in repository.rust_files() {
            let Some((folder, path)) = file.in_crate() else {
                continue;
            };
            let Some(path) = path.strip_prefix("src/") else {
                continue;
            };
            let modules = crates.entry(folder).or_insert_with(|| Modules {
                package: package(folder),
                modules: BTreeMap::new(),
            });
            modules.add(module_path(path), imports::read(file.tokens()), &file.path);
        }
        crates.into_values().map(Modules::without_tests).collect()
    }

    fn add(&mut self, path: Path, mut module: Module, file: &str) {
        for (name, inner) in std::mem::take(&mut module.inline) {
            self.add(child(&path, &name), inner, file);
        }
        if let Some((root, _)) = self.modules.get_mut(&path) {
            root.bindings.append(&mut module.bindings);
            root.names.append(module.names);
            root.items.append(&mut module.items);
            root.test_modules.append(&mut module.test_modules);
        } else {
            self.modules.insert(path, (module, file.to_owned()));
        }
    }

    fn without_tests(mut self) -> Self {
        let mut tests: BTreeSet<Path> = BTreeSet::new();
        for (path, (module, _)) in &self.modules {
            tests.extend(module.test_modules.iter().map(|name| child(path, name)));
        }
        self.modules
            .retain(|path, _| !(1..=path.len()).any(|length| tests.contains(&path[..length])));
        self
    }

    /// The modules that the root of the crate declares.
    pub fn top(&self) -> BTreeSet<&str> {
        let firsts = self.modules.keys().filter_map(|path| path.first());
        firsts.map(String::as_str).collect()
    }

    /// Every use of one module of a folder by another, each with its first place.
    ///
    /// The folder's own `mod.rs` is split into its items. Those are both the floor and the roof of the folder: a module that
    /// imports one of them uses every module of the folder that the item leads to.
    pub fn arrows(&self) -> Vec<Arrow> {
        let mut arrows: BTreeMap<(Path, String, String), String> = BTreeMap::new();
        for (from, (module, file)) in &self.modules {
            for (target, line) in self.uses(from, module) {
                let shared = from.iter().zip(&target.owner).take_while(|(a, b)| a == b);
                let folder = from[..shared.count()].to_vec();
                let Some(source) = from.get(folder.len()) else {
                    continue;
                };
                let uses = match target.owner.get(folder.len()) {
                    Some(sibling) => BTreeSet::from([sibling.clone()]),
                    None => self.lead_to(&folder, target.item.as_deref().unwrap_or_default()),
                };
                for to in uses {
                    let key = (folder.clone(), source.clone(), to);
                    let place = || format!("{file}:{line}");
                    arrows.entry(key).or_insert_with(place);
                }
            }
        }
        let arrow = |((folder, from, to), place)| Arrow {
            folder,
            from,
            to,
            place,
        };
        arrows.into_iter().map(arrow).collect()
    }

    /// The modules that a module uses.
    fn uses(&self, from: &Path, module: &Module) -> Vec<(Target, usize)> {
        let imports = module.bindings.iter();
        let imports = imports.filter(|binding| !self.is_mere_reexport(from, module, binding));
        let imports = imports.map(|binding| (&binding.path, binding.line));
        let paths = module.names.paths.iter().map(|(path, line)| (path, *line));
        imports
            .chain(paths)
            .filter_map(|(path, line)| Some((self.resolve(from, path)?, line)))
            .filter(|(target, _)| target.owner != *from && target.item.is_some())
            .collect()
    }

    /// Whether a `pub use` passes on what a module below has, without using it.
    fn is_mere_reexport(&self, from: &Path, module: &Module, binding: &Binding) -> bool {
        let target = self.resolve(from, &binding.path);
        let is_below = target.is_some_and(|target| target.owner.starts_with(from));
        binding.is_public && is_below && !module.names.words.contains(&binding.name)
    }

    /// The modules of a folder that an item of its `mod.rs` uses, also through other items of it.
    fn lead_to(&self, folder: &Path, item: &str) -> BTreeSet<String> {
        let module = &self.modules[folder].0;
        let mut found = BTreeSet::new();
        let (mut waiting, mut seen) = (vec![item.to_owned()], BTreeSet::new());
        while let Some(item) = waiting.pop() {
            let Some(names) = module.items.get(&item) else {
                continue;
            };
            if !seen.insert(item) {
                continue;
            }
            let bound = module.bindings.iter();
            let bound = bound.filter(|binding| names.words.contains(&binding.name));
            let paths = bound.map(|binding| &binding.path);
            let paths = paths.chain(names.paths.iter().map(|(path, _)| path));
            let owners = paths.filter_map(|path| Some(self.resolve(folder, path)?.owner));
            let below = owners.filter(|owner| owner.starts_with(folder));
            found.extend(below.filter_map(|owner| owner.get(folder.len()).cloned()));
            waiting.extend(names.words.iter().cloned());
        }
        found
    }

    /// Resolves a path of a module; `None` for names of other crates and of the module itself.
    fn resolve(&self, from: &Path, path: &[String]) -> Option<Target> {
        self.resolve_within(from, path, REEXPORTS_MAX)
    }

    fn resolve_within(&self, from: &Path, path: &[String], budget: usize) -> Option<Target> {
        let (first, rest) = path.split_first()?;
        let root = Path::new();
        match first.as_str() {
            "crate" => self.descend(&root, rest, budget),
            "self" => self.descend(from, rest, budget),
            "super" => {
                let ups = path.iter().take_while(|name| *name == "super").count();
                let parent = from[..from.len().checked_sub(ups)?].to_vec();
                self.descend(&parent, &path[ups..], budget)
            }
            name if name == self.package.replace('-', "_") => self.descend(&root, rest, budget),
            _ if self.modules.contains_key(&child(from, first)) => self.descend(from, path, budget),
            _ => {
                let bindings = &self.modules[from].0.bindings;
                let binding = bindings.iter().find(|binding| binding.name == *first)?;
                // The first name of `use a::b as a` is a crate.
                let is_itself = binding.path.first() == Some(first);
                let budget = budget.checked_sub(1).filter(|_| !is_itself)?;
                self.resolve_within(from, &[&binding.path, rest].concat(), budget)
            }
        }
    }

    /// Follows a path down from a module, through what its modules re-export.
    fn descend(&self, module: &Path, path: &[String], budget: usize) -> Option<Target> {
        let owner = module.clone();
        let Some((first, rest)) = path.split_first() else {
            return Some(Target { owner, item: None });
        };
        let below = child(module, first);
        if self.modules.contains_key(&below) {
            return self.descend(&below, rest, budget);
        }
        let bindings = &self.modules.get(module)?.0.bindings;
        let Some(binding) = bindings.iter().find(|binding| binding.name == *first) else {
            let item = Some(first.clone());
            return Some(Target { owner, item });
        };
        let path = [&binding.path, rest].concat();
        self.resolve_within(module, &path, budget.checked_sub(1)?)
    }
}

/// The package in a crate's folder.
fn package(folder: &str) -> String {
    let name = folder.rsplit('/').next().unwrap_or(folder);
    match name.strip_prefix("inorder-") {
        Some(_) => name.to_owned(),
        None => format!("inorder-{name}"),
    }
}

/// The module of a file, by its path below `src/`.
fn module_path(file: &str) -> Path {
    let path = file.strip_suffix(".rs").unwrap_or(file);
    let mut path: Path = path.split('/').map(str::to_owned).collect();
    let is_root = path.len() == 1 && matches!(path[0].as_str(), "lib" | "main");
    if is_root || path.last().is_some_and(|name| name == "mod") {
        path.pop();
    }
    path
}

fn child(path: &Path, name: &str) -> Path {
    let mut path = path.clone();
    path.push(name.to_owned());
    path
}
