/** A new ULID, 26 characters, greater than all before. */
export function ulid(): string;

/** A new UUID of version 7 (RFC 9562), 36 characters, greater than all before. */
export function uuid7(): string;

/**
 * A new TypeID: a UUID of version 7 with a prefix, such as `user_01h455vb4pex5vsknk084sn02q`.
 * Throws a `RangeError` if the prefix is not up to 63 characters a to z and _, neither first nor last,
 * and a `TypeError` if it is no string.
 */
export function typeid(prefix: string): string;

/**
 * A new TSID, an integer of 63 bits, greater than all before of this node. `node` is the number of this process or worker, 0 to
 * 1023; without it, one is drawn at random. A millisecond has 2,048 to 4,096 ids; after them the function waits.
 */
export function tsid(node?: number): bigint;

/** The 13 characters of a TSID. */
export function tsidText(tsid: bigint): string;

/** Random bytes as hex digits: 1 to 1024 of them, 20 if not given. */
export function token(size?: number): string;
