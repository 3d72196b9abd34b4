//! Programs whose database files are told by their application id or their tables.

/// What advice means for the file of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reliance {
    /// The format is fixed by a specification or by the program, which may refuse or repair a changed file.
    Format,
    /// The program migrates its schema: it may undo a change when it is upgraded.
    Migrates,
}

/// A program or format.
#[derive(Debug, PartialEq, Eq)]
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// Its `PRAGMA application_id` (`magic.txt` of SQLite's sources lists those that are registered).
    pub application_ids: &'static [i32],
    /// Tables that it has, all of them.
    pub tables: &'static [&'static str],
    /// What advice means for its files.
    pub reliance: Reliance,
}

const fn format(
    name: &'static str,
    application_ids: &'static [i32],
    tables: &'static [&'static str],
) -> Program {
    Program {
        name,
        application_ids,
        tables,
        reliance: Reliance::Format,
    }
}

const fn migrated(name: &'static str, tables: &'static [&'static str]) -> Program {
    Program {
        name,
        application_ids: &[],
        tables,
        reliance: Reliance::Migrates,
    }
}

/// The programs that are known, and the tools that migrate schemas for others. The first that fits counts.
pub const PROGRAMS: &[Program] = &[
    format("Fossil", &[0x0f05_5111, 0x0f05_5112, 0x0f05_5113], &[]),
    format("Fossil", &[], &["blob", "delta", "rcvfrom", "event"]),
    format("Subversion", &[], &["WCROOT", "NODES", "PRISTINE"]),
    format("GeoPackage", &[0x4750_4b47, 0x4750_3130, 0x4750_3131], &[]),
    format(
        "GeoPackage",
        &[],
        &["gpkg_contents", "gpkg_spatial_ref_sys"],
    ),
    format("MBTiles", &[0x4d50_4258], &[]),
    format("MBTiles", &[], &["metadata", "tiles"]),
    format("MBTiles", &[], &["metadata", "map", "images"]),
    format("SpatiaLite", &[], &["spatial_ref_sys", "geometry_columns"]),
    format(
        "PROJ",
        &[],
        &["geodetic_crs", "projected_crs", "alias_name"],
    ),
    format("Bentley BeSQLite", &[0x4265_4462], &[]),
    format("Esri", &[0x4573_7269], &[]),
    format("Monotone", &[0x5f4d_544e], &[]),
    format("Firefox", &[], &["moz_places", "moz_historyvisits"]),
    format("Firefox", &[], &["moz_cookies"]),
    format("Firefox", &[], &["moz_formhistory"]),
    format("Firefox", &[], &["moz_perms"]),
    format("Firefox", &[], &["moz_icons", "moz_pages_w_icons"]),
    format(
        "Firefox",
        &[],
        &["object_store", "object_data", "index_data"],
    ),
    format("Firefox", &[], &["webappsstore2"]),
    format(
        "Thunderbird",
        &[],
        &["folderLocations", "conversations", "messageAttributes"],
    ),
    format("Chromium", &[], &["meta", "urls", "visits"]),
    format("Chromium", &[], &["meta", "cookies"]),
    format("Chromium", &[], &["meta", "autofill", "keywords"]),
    format("Chromium", &[], &["meta", "logins", "stats"]),
    format("Chromium", &[], &["meta", "favicons", "icon_mapping"]),
    format("Chromium", &[], &["meta", "top_sites"]),
    format(
        "Chromium",
        &[],
        &["meta", "nel_policies", "reporting_endpoints"],
    ),
    format("Chromium", &[], &["meta", "eq_classes", "eq_class_members"]),
    format("Anki", &[], &["col", "notes", "cards", "revlog"]),
    format("RPM", &[], &["Packages", "Providename", "Requirename"]),
    format("DNF", &[], &["trans", "trans_item", "rpm"]),
    format(
        "Calibre",
        &[],
        &["books", "books_authors_link", "library_id"],
    ),
    format("digiKam", &[], &["Albums", "Images", "ImageInformation"]),
    migrated(
        "Home Assistant",
        &["schema_changes", "states", "recorder_runs"],
    ),
    migrated("Synapse", &["applied_schema_deltas", "event_json"]),
    migrated("Zotero", &["itemDataValues", "syncDeleteLog"]),
    migrated("Grafana", &["migration_log", "dashboard"]),
    migrated("Django", &["django_migrations"]),
    migrated("Alembic", &["alembic_version"]),
    migrated("Rails", &["schema_migrations", "ar_internal_metadata"]),
    migrated("Prisma", &["_prisma_migrations"]),
    migrated("sqlx", &["_sqlx_migrations"]),
    migrated("Diesel", &["__diesel_schema_migrations"]),
    migrated("Entity Framework", &["__EFMigrationsHistory"]),
    migrated("Knex", &["knex_migrations"]),
    migrated("Flyway", &["flyway_schema_history"]),
    migrated("goose", &["goose_db_version"]),
    migrated("Drizzle", &["__drizzle_migrations"]),
    migrated("TypeORM", &["migrations", "typeorm_metadata"]),
    migrated("Sequelize", &["SequelizeMeta"]),
    migrated("FluentMigrator", &["VersionInfo"]),
    migrated("refinery", &["refinery_schema_history"]),
];

/// The program whose files have this application id, or all the tables or views that `has` tells of.
pub(super) fn of(application_id: i32, has: impl Fn(&str) -> bool) -> Option<&'static Program> {
    PROGRAMS
        .iter()
        .find(|program| match program.application_ids {
            [] => program.tables.iter().all(|name| has(name)),
            ids => ids.contains(&application_id),
        })
}
