// Ids made in JavaScript, without SQLite: ULIDs, UUIDs of version 7, TypeIDs, TSIDs and tokens.
//
// Ids of one kind are in the order in which they were made in this thread. A clock that stands still or is set back does not
// change the order. Runs in Node, Deno, Bun and, through a bundler, in browsers.
"use strict";

// Node 18 has no global one. Bundlers for browsers leave the module out by the field `browser` of package.json, and not one with `node:`.
const crypto = globalThis.crypto ?? require("crypto").webcrypto;

const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const codes = (digits) => Uint8Array.from(digits, (digit) => digit.charCodeAt(0));
const [UPPER, LOWER, HEX] = [codes(DIGITS), codes(DIGITS.toLowerCase()), codes("0123456789abcdef")];
// The two hex digits of a byte.
const PAIRS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const PREFIX = /^(?:[a-z](?:[a-z_]{0,61}[a-z])?)?$/;

// Random bytes, taken once and wiped.
const pool = new Uint8Array(4096);
let next = pool.length;

// A start-up snapshot of V8 has the pool and the node of the process that built it: each process that starts from it takes others.
try {
  const { startupSnapshot } = require("v8");
  if (startupSnapshot?.isBuildingSnapshot()) {
    startupSnapshot.addDeserializeCallback(() => {
      next = pool.length;
      ownNode = -1;
    });
  }
} catch {
  // No module of this name: not Node.
}

/** Returns where `bytes` new random bytes begin in the pool, at most 4096. */
function draw(bytes) {
  if (next + bytes > pool.length) {
    crypto.getRandomValues(pool);
    next = 0;
  }
  next += bytes;
  return next - bytes;
}

// The last id: milliseconds since 1970, and 16 bits of a counter.
let ms = 0;
let counter = 0;
// The digits of these milliseconds in base 32 and in base 16.
const fives = new Uint8Array(10);
const fours = new Uint8Array(12);

/** Counts on, and returns where the 80 bits after the milliseconds begin in the pool: two bytes of the counter, random bytes. */
function count() {
  const at = draw(10);
  const now = Date.now();
  if (now > ms) {
    // In each millisecond the counter starts below 2^12, at random.
    setTime(now);
    counter = (pool[at] << 8 | pool[at + 1]) & 0xfff;
  } else if (counter === 0xffff) {
    setTime(ms + 1);
    counter = 0;
  } else {
    counter += 1;
  }
  pool[at] = counter >> 8;
  pool[at + 1] = counter;
  return at;
}

function setTime(now) {
  ms = now;
  for (const [digits, base] of [[fives, 32], [fours, 16]]) {
    for (let rest = ms, i = digits.length - 1; i >= 0; rest = Math.floor(rest / base), i -= 1) digits[i] = rest % base;
  }
}

/** Clears ten bytes of the pool. */
function wipe(at) {
  for (let i = at; i < at + 10; i += 1) pool[i] = 0;
}

/** Returns the 26 characters of the milliseconds and of ten bytes of the pool, and wipes these. One call for all of them is the fastest way. */
function base32(at, d) {
  const text = String.fromCharCode(
    d[fives[0]], d[fives[1]], d[fives[2]], d[fives[3]], d[fives[4]], d[fives[5]], d[fives[6]], d[fives[7]], d[fives[8]], d[fives[9]],
    d[pool[at] >> 3], d[(pool[at] & 7) << 2 | pool[at + 1] >> 6], d[pool[at + 1] >> 1 & 31], d[(pool[at + 1] & 1) << 4 | pool[at + 2] >> 4],
    d[(pool[at + 2] & 15) << 1 | pool[at + 3] >> 7], d[pool[at + 3] >> 2 & 31], d[(pool[at + 3] & 3) << 3 | pool[at + 4] >> 5],
    d[pool[at + 4] & 31],
    d[pool[at + 5] >> 3], d[(pool[at + 5] & 7) << 2 | pool[at + 6] >> 6], d[pool[at + 6] >> 1 & 31],
    d[(pool[at + 6] & 1) << 4 | pool[at + 7] >> 4], d[(pool[at + 7] & 15) << 1 | pool[at + 8] >> 7], d[pool[at + 8] >> 2 & 31],
    d[(pool[at + 8] & 3) << 3 | pool[at + 9] >> 5], d[pool[at + 9] & 31],
  );
  wipe(at);
  return text;
}

/** Returns the 36 characters of the milliseconds and of ten bytes of the pool, and wipes these. */
function base16(at) {
  const text = String.fromCharCode(
    HEX[fours[0]], HEX[fours[1]], HEX[fours[2]], HEX[fours[3]], HEX[fours[4]], HEX[fours[5]], HEX[fours[6]], HEX[fours[7]], 45,
    HEX[fours[8]], HEX[fours[9]], HEX[fours[10]], HEX[fours[11]], 45,
    HEX[pool[at] >> 4], HEX[pool[at] & 15], HEX[pool[at + 1] >> 4], HEX[pool[at + 1] & 15], 45,
    HEX[pool[at + 2] >> 4], HEX[pool[at + 2] & 15], HEX[pool[at + 3] >> 4], HEX[pool[at + 3] & 15], 45,
    HEX[pool[at + 4] >> 4], HEX[pool[at + 4] & 15], HEX[pool[at + 5] >> 4], HEX[pool[at + 5] & 15],
    HEX[pool[at + 6] >> 4], HEX[pool[at + 6] & 15], HEX[pool[at + 7] >> 4], HEX[pool[at + 7] & 15],
    HEX[pool[at + 8] >> 4], HEX[pool[at + 8] & 15], HEX[pool[at + 9] >> 4], HEX[pool[at + 9] & 15],
  );
  wipe(at);
  return text;
}

/** Makes room in ten bytes of the pool for the version, 7, and for the variant, the two bits 10. */
function countUuid7() {
  const at = count();
  pool[at + 2] = 0x80 | (counter & 15) << 2 | pool[at + 2] & 3;
  pool[at + 1] = counter >> 4;
  pool[at] = 0x70 | counter >> 12;
  return at;
}

/** Returns a new ULID. */
exports.ulid = () => base32(count(), UPPER);

/** Returns a new UUIDv7 as text. */
exports.uuid7 = () => base16(countUuid7());

/** Returns a new TypeID with this prefix. */
exports.typeid = (prefix) => {
  if (typeof prefix !== "string") {
    throw new TypeError(`the prefix of a TypeID is a string, not ${prefix === null ? "null" : typeof prefix}`);
  }
  if (!PREFIX.test(prefix)) {
    throw new RangeError(`the prefix of a TypeID has up to 63 characters a to z and _, neither first nor last: ${prefix}`);
  }
  return (prefix && `${prefix}_`) + base32(countUuid7(), LOWER);
};

// 2020-01-01T00:00:00Z in milliseconds since 1970: millisecond 0 of TSIDs.
const TSID_EPOCH_MS = 1_577_836_800_000;
// A clock that lags further behind the last TSID was set back.
const TSID_WAIT_MS_MAX = 100;
// The last TSID: milliseconds since 2020, and 12 bits of a counter.
let tsidMs = 0;
let tsidCounter = 0;
let ownNode = -1;

/** Returns 22 random bits. */
function draw22() {
  const at = draw(3);
  return (pool[at] & 63) << 16 | pool[at + 1] << 8 | pool[at + 2];
}

/** Returns a new TSID. Waits for the next millisecond if this one has none left. Throws if the clock is before 2020 at the first one, or after 2089. */
exports.tsid = (node) => {
  if (node !== undefined && !(Number.isInteger(node) && node >= 0 && node < 1024)) {
    throw new RangeError(`the node of a TSID is 0 to 1023, not ${node}`);
  }
  if (ownNode < 0) ownNode = draw22() & 1023;
  for (;;) {
    const now = Date.now() - TSID_EPOCH_MS;
    if (now < 0 && tsidMs === 0 || now >= 2 ** 41) {
      throw new RangeError(`a TSID has a time from 2020 until September 2089, and the clock is at ${new Date().toISOString()}`);
    }
    const isLater = now > tsidMs;
    const isFull = tsidCounter === 0xfff;
    const ahead = (isFull ? tsidMs + 1 : tsidMs) - now;
    if (!isLater && ahead > 0 && ahead <= TSID_WAIT_MS_MAX) continue;
    tsidCounter = isLater ? draw22() & 0x7ff : isFull ? 0 : tsidCounter + 1;
    tsidMs = isLater ? now : isFull ? tsidMs + 1 : tsidMs;
    return BigInt(tsidMs) << 22n | BigInt((node ?? ownNode) << 12 | tsidCounter);
  }
};

/** Returns the 13 characters of a TSID. */
exports.tsidText = (tsid) => {
  if (typeof tsid !== "bigint" || tsid < 0n || tsid >= 1n << 63n) {
    throw new RangeError(`a TSID is 0n to 9223372036854775807n, not ${tsid}`);
  }
  const low = Number(tsid & 0x3fffffffn);
  const middle = Number(tsid >> 30n & 0x3fffffffn);
  let text = DIGITS[Number(tsid >> 60n)];
  for (const bits of [middle, low]) {
    for (let shift = 25; shift >= 0; shift -= 5) text += DIGITS[bits >> shift & 31];
  }
  return text;
};

/** Returns random bytes as hex digits. */
exports.token = (size = 20) => {
  if (!(Number.isInteger(size) && size >= 1 && size <= 1024)) {
    throw new RangeError(`a token has 1 to 1024 bytes, not ${size}`);
  }
  const at = draw(size);
  let text = "";
  for (let i = at; i < at + size; i += 1) text += PAIRS[pool[i]];
  pool.fill(0, at, at + size);
  return text;
};
