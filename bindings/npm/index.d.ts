/** The file of the extension. */
export const path: string;

/**
 * Adds the functions to a database of `better-sqlite3`, or of `node:sqlite` with `allowExtension`, and returns it.
 * Throws if its SQLite is older than 3.34.1.
 */
export function load<T extends { loadExtension(path: string): unknown }>(database: T): T;
