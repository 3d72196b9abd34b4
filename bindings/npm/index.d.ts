/** The file of the extension. */
export const path: string;

/**
 * Adds the functions to a database of `better-sqlite3`, or of `node:sqlite` with `allowExtension`, and returns it.
 * Throws if its SQLite is older than 3.34.1. Of a database whose `loadExtension` gives a promise, it is a promise as well: await it.
 */
export function load<T extends { loadExtension(path: string): unknown }>(
  database: T,
): ReturnType<T["loadExtension"]> extends Promise<unknown> ? Promise<T> : T;
