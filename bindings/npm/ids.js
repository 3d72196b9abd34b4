// Ids made in JavaScript, without SQLite: ULIDs, UUIDs of version 7, TypeIDs, TSIDs and tokens.
//
// Ids of one kind are in the order in which they were made in this thread. A clock that stands still or is set back does not
// change the order. Runs in Node, Deno, Bun and browsers.
"use strict";

const crypto = globalThis.crypto ?? require("node:crypto").webcrypto; // Node 18 has no global one.

const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
// The characters of 10 bits.
const UPPER = Array.from({ length: 1024 }, (_, bits) => DIGITS[bits >> 5] + DIGITS[bits & 31]);
const LOWER = UPPER.map((pair) => pair.toLowerCase());
const PREFIX = /^(?:[a-z](?:[a-z_]{0,61}[a-z])?)?$/;

// Random bytes, taken once and wiped.
const pool = new Uint8Array(4096);
let next = pool.length;

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
// The characters of these milliseconds, in the forms of each kind.
let upper = "";
let lower = "";
let hex = "";

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
  const [high, low] = [Math.floor(ms / 0x1000000), ms % 0x1000000];
  const pairs = [high >> 16, high >> 6 & 1023, (high & 63) << 4 | low >> 20, low >> 10 & 1023, low & 1023];
  upper = pairs.map((pair) => UPPER[pair]).join("");
  lower = upper.toLowerCase();
  const digits = ms.toString(16).padStart(12, "0");
  hex = `${digits.slice(0, 8)}-${digits.slice(8)}-`;
}

/** Clears ten bytes of the pool. */
function wipe(at) {
  for (let i = at; i < at + 10; i += 1) pool[i] = 0;
}

/** Returns the 16 characters of ten bytes of the pool, and wipes them. */
function tail(at, pairs) {
  let text = "";
  for (let i = at; i < at + 10; i += 5) {
    text +=
      pairs[pool[i] << 2 | pool[i + 1] >> 6] + pairs[(pool[i + 1] & 63) << 4 | pool[i + 2] >> 4] +
      pairs[(pool[i + 2] & 15) << 6 | pool[i + 3] >> 2] + pairs[(pool[i + 3] & 3) << 8 | pool[i + 4]];
  }
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
exports.ulid = () => {
  const at = count();
  return upper + tail(at, UPPER);
};

/** Returns a new UUIDv7 as text. */
exports.uuid7 = () => {
  const at = countUuid7();
  const text =
    hex + HEX[pool[at]] + HEX[pool[at + 1]] + "-" + HEX[pool[at + 2]] + HEX[pool[at + 3]] + "-" + HEX[pool[at + 4]] +
    HEX[pool[at + 5]] + HEX[pool[at + 6]] + HEX[pool[at + 7]] + HEX[pool[at + 8]] + HEX[pool[at + 9]];
  wipe(at);
  return text;
};

/** Returns a new TypeID with this prefix. */
exports.typeid = (prefix) => {
  if (!PREFIX.test(prefix)) {
    throw new RangeError(`the prefix of a TypeID has up to 63 characters a to z and _, neither first nor last: ${prefix}`);
  }
  const at = countUuid7();
  return (prefix && `${prefix}_`) + lower + tail(at, LOWER);
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

/** Returns a new TSID. Waits for the next millisecond if this one has none left. */
exports.tsid = (node) => {
  if (node !== undefined && !(Number.isInteger(node) && node >= 0 && node < 1024)) {
    throw new RangeError(`the node of a TSID is 0 to 1023, not ${node}`);
  }
  if (ownNode < 0) ownNode = draw22() & 1023;
  for (;;) {
    const now = Date.now() - TSID_EPOCH_MS;
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
  const pairs = [middle >> 20, middle >> 10, middle, low >> 20, low >> 10, low].map((bits) => UPPER[bits & 1023]);
  return DIGITS[Number(tsid >> 60n)] + pairs.join("");
};

/** Returns random bytes as hex digits. */
exports.token = (size = 20) => {
  if (!(Number.isInteger(size) && size >= 1 && size <= 1024)) {
    throw new RangeError(`a token has 1 to 1024 bytes, not ${size}`);
  }
  const at = draw(size);
  let text = "";
  for (let i = at; i < at + size; i += 1) text += HEX[pool[i]];
  pool.fill(0, at, at + size);
  return text;
};
