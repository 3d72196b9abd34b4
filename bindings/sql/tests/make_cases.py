"""Writes cases.tsv: valid and invalid ids in every form. It is shared by the tests of four parsers: the command,
the functions of SQLite, and those of PostgreSQL and MariaDB.

    /usr/bin/python3 bindings/sql/tests/make_cases.py     # after a change here; the tests compare the file with what this makes

A line is a case: what it shows, the type of the value, the value (a text as JSON, a blob as hex digits), what a reader of
ULIDs and one of UUIDs make of it (32 hex digits, null or refused), and its kind as key_kind() says it.
"""

import json
import pathlib
import random
import re

FILE = pathlib.Path(__file__).resolve().parent / "cases.tsv"
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
KSUID_MAX = "aWgEPTl1tmebfsQzFP4bxwgy80V"  # 160 bits in base 62, whose digits are in the order of ASCII.
GROUPS = "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"


def matches(pattern, text):
    return re.fullmatch(pattern, text, re.ASCII) is not None


def read_ulid(text):
    if matches("[0-9A-Fa-f]{32}", text):
        return int(text, 16)
    if matches("[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}", text):
        return sum(CROCKFORD.index(digit) << 5 * i for i, digit in enumerate(reversed(text.upper())))
    return None


def read_uuid(text):
    if matches(f"[0-9A-Fa-f]{{32}}|{GROUPS}|[{{]{GROUPS}[}}]|(?i:urn:uuid:){GROUPS}", text):
        return int(re.sub("(?i)^urn:uuid:|[-{}]", "", text), 16)
    return None


def kind_of_bits(bits, is_for_certain_a_uuid):
    version, is_uuid = bits >> 76 & 15, bits >> 62 & 3 == 2
    if bits in (0, 2**128 - 1):
        return "the max UUID" if bits else "the nil UUID"
    if is_uuid and (1 <= version <= 8 or is_for_certain_a_uuid):
        return f"uuid{version}" if version in (4, 7) else f"UUID version {version}"
    return "UUID of another variant" if is_for_certain_a_uuid else "ulid"


def kind_of_text(text):
    if matches("0|-?[1-9][0-9]*", text) and -(2**63) <= int(text) < 2**63:
        return "integer"
    if matches("[a-z]([a-z_]{0,61}[a-z])?_[0-7][0-9a-hjkmnp-tv-z]{25}", text):
        return "TypeID"
    if matches("[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{12}", text):
        return "tsid"
    if matches("[0-9A-Za-z]{27}", text) and text <= KSUID_MAX:
        return "KSUID"
    if len(text) == 26:
        return "no id" if read_ulid(text) is None else "ulid"
    if read_uuid(text) is not None:
        return kind_of_bits(read_uuid(text), "-" in text)
    return kind_of_token(len(text) // 2) if matches("([0-9A-Fa-f]{2})+", text) else "no id"


def kind_of_token(length):
    return {0: "no id", 12: "ObjectId", 20: "token160"}.get(length, f"token of {length} bytes")


def mixed(text):
    return "".join(c.upper() if i % 3 else c.lower() for i, c in enumerate(text))


def hex_of(bits):
    return f"{bits:032x}"


def uuid_of(bits):
    h = hex_of(bits)
    return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"


def ulid_of(bits):
    return "".join(CROCKFORD[bits >> 5 * i & 31] for i in reversed(range(26)))


class Cases:
    def __init__(self):
        self.lines, self.seen = [], set()

    def add(self, what, type, value, ulid, uuid, kind):
        if (type, value) not in self.seen:
            self.seen.add((type, value))
            said = [hex_of(bits) if isinstance(bits, int) else bits or "refused" for bits in (ulid, uuid)]
            self.lines.append("\t".join([what, type, value, *said, kind]))

    def text(self, what, text):
        self.add(what, "text", json.dumps(text), read_ulid(text), read_uuid(text), kind_of_text(text))

    def right(self, what, text, ulid, uuid):
        assert (read_ulid(text), read_uuid(text)) == (ulid, uuid), text
        self.text(what, text)

    def wrong(self, what, text):
        self.right(what, text, None, None)

    def blob(self, blob):
        bits = int.from_bytes(blob, "big") if len(blob) == 16 else None
        kind = kind_of_token(len(blob)) if bits is None else kind_of_bits(bits, False)
        self.add(f"blob of {len(blob)} bytes", "blob", blob.hex(), bits, bits, kind)


# Vectors of RFC 9562 and of the ULID specification, the minimum and maximum, and one with every kind of digit.
IDS = [
    0x01563E3AB5D3D6764C61EFB99302BD5B, 0x017F22E279B07CC398C4DC0C0C07398F, 0x919108F752D14320 << 64 | 0x9BACF847DB4148A8,
    0xC232AB00941411ECB3C89F6BDECED846, 0x2489E9AD2EE28E008EC932D5F69181C0, 0, 2**128 - 1, 1, 2**127,
    sum(i << 5 * i for i in range(25)) | 5 << 125,
]


def right_forms(cases):
    for bits in IDS:
        for case in (str.lower, str.upper, mixed):
            cases.right("ULID", case(ulid_of(bits)), bits, None)
            cases.right("32 hex digits", case(hex_of(bits)), bits, bits)
            cases.right("UUID", case(uuid_of(bits)), None, bits)
            cases.right("UUID in braces", "{" + case(uuid_of(bits)) + "}", None, bits)
            for urn in ("urn:uuid:", "URN:UUID:", "Urn:uUID:"):
                cases.right("URN", urn + case(uuid_of(bits)), None, bits)
    for version in range(16):
        for variant in range(16):
            bits = 0x01563E3AB5D306760C61EFB99302BD5B | version << 76 | variant << 60
            for form in (ulid_of, hex_of, uuid_of):
                cases.text(f"version {version}, variant {variant >> 1:03b}", form(bits))
            cases.blob(bits.to_bytes(16, "big"))


def wrong_forms(cases):
    for bits in IDS[:3]:
        uuid, ulid, digits = uuid_of(bits), ulid_of(bits), hex_of(bits)
        for text in (
            "{%s}" % digits, "{%s}" % ulid, "urn:uuid:" + digits, "urn:uuid:" + ulid, "urn:ulid:" + ulid, "uuid:" + uuid,
            "urn:" + uuid, "urn:uuid:{%s}" % uuid, "{urn:uuid:%s}" % uuid, "urn:uuid:" * 2 + uuid, "urn:uuid" + uuid,
            "urn_uuid_" + uuid, "{%s" % uuid, "%s}" % uuid, "{{%s}}" % uuid, "}%s{" % uuid, "(%s)" % uuid, "[%s]" % uuid,
            '"%s"' % uuid, '"%s"' % ulid, "0x" + digits, "\\x" + digits, uuid + "}}", "{-" + digits + "-}", uuid + uuid,
            ulid + ulid, ulid + "," + ulid, uuid + ";",
        ):
            cases.wrong("other wrappings", text)
        for at in range(1, 32):
            cases.wrong("one hyphen", digits[:at] + "-" + digits[at:])
            cases.wrong("one hyphen in a ULID", ulid[:at] + "-" + ulid[at:])
        cases.wrong("groups of four", "-".join(digits[i : i + 4] for i in range(0, 32, 4)))
        for at in (8, 13, 18, 23):
            cases.wrong("hyphen too early", uuid[: at - 1] + "-" + uuid[at - 1] + uuid[at + 1 :])
            cases.wrong("hyphen too late", uuid[:at] + uuid[at + 1] + "-" + uuid[at + 2 :])
            cases.wrong("hyphen twice", uuid[:at] + "-" + uuid[at:])
            cases.wrong("hyphen missing", uuid[:at] + uuid[at + 1 :])
            cases.wrong("hyphen for a digit", uuid[: at - 2] + "-" + uuid[at - 1 :])
            for other in "_:. 0\u2010\u2011\u2012\u2013\u2212\u00ad\ufe63\uff0d\u30fc":
                cases.wrong("other hyphens", uuid[:at] + other + uuid[at + 1 :])
    for at in (0, 7, 25):
        for c in map(chr, range(32, 127)):
            ulid = ulid_of(IDS[0])
            cases.text(f"{c!r} in a ULID", ulid[:at] + c + ulid[at + 1 :])
    for at in (0, 8, 9, 20, 35):
        for c in map(chr, range(32, 127)):
            uuid, digits = uuid_of(IDS[1]), hex_of(IDS[1])
            cases.text(f"{c!r} in a UUID", uuid[:at] + c + uuid[at + 1 :])
            cases.text(f"{c!r} in 32 hex digits", digits[: min(at, 31)] + c + digits[min(at, 31) + 1 :])
    for c in "IiLlOoUu":
        for at in range(26):
            cases.wrong("look-alikes of Crockford", ulid[:at] + c + ulid[at + 1 :])
    for c in "89ABCDEFGHJKMNPQRSTVWXYZabcz":
        for rest in "0Zf9":
            cases.wrong("more than 128 bits", c + rest * 25)


def lengths(cases):
    for length in range(70):
        for c in "0Zf1a7{":
            cases.text(f"length {length}", c * length)
        cases.text(f"length {length}", ("-" + "0" * length)[:length])
    cases.text("length 5000", "a" * 5000)
    for length in [*range(70), 128, 255, 256, 1024]:
        cases.blob(bytes(length))
        cases.blob(bytes(range(1, 256)) * 5 if length == 0 else random.Random(length).randbytes(length))
    for text in (ulid_of(IDS[0]), hex_of(IDS[0]), uuid_of(IDS[0])):
        cases.blob(text.encode())


# Characters that resemble a digit, or equal one in some collation or case folding.
LOOK_ALIKES = {
    "S": "\u017f\uff33\u0405\U0001d412", "K": "\u212a\uff2b\u039a\u041a", "A": "\uff21\u0391\u0410\u00c5\u212b", "B": "\u0392\u0412\uff22",
    "C": "\u0421\uff23", "E": "\u0415\uff25\u00c9", "0": "\uff10\u0660\u06f0\u0966\u2070\U0001d7ce\u041e", "1": "\uff11\u0661\u00b9\u2488\U0001d7cf",
    "3": "\uff13\u0663\u00b3\u0417", "5": "\uff15\u2075\U0001d7d3", "X": "\uff38\u0425\u2169", "f": "\uff46\u0192", "d": "\uff44\u217e", "a": "\u00aa\uff41\u0430",
}


def unicode(cases):
    ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAX"
    for text in (ulid, ulid.lower(), uuid_of(IDS[0]), hex_of(IDS[0]), hex_of(IDS[0]).upper()):
        for ascii, others in LOOK_ALIKES.items():
            for own in {ascii, ascii.lower()}:
                at = text.find(own)
                for other in others if at >= 0 else "":
                    cases.wrong("look-alikes of Unicode", text[:at] + other + text[at + 1 :])
                    # The bytes number as many as the characters of an id.
                    shorter = text[:at] + other + text[at + len(other.encode()) :]
                    cases.wrong("look-alikes of Unicode, in bytes", shorter)
        for other in "\u200b\u200c\u200d\u2060\ufeff\u00ad\u0301\u034f\u202e\ufe0f\u0131\u0130\U000e0031":
            for at in (0, 1, 10, len(text)):
                cases.wrong("invisible", text[:at] + other + text[at:])
                cases.wrong("invisible for a digit", text[:at] + other + text[at + 1 :])
        cases.wrong("full width", "".join(chr(ord(c) + 0xFEE0) for c in text))


def blanks(cases):
    for text in (ulid_of(IDS[0]), uuid_of(IDS[0]), hex_of(IDS[0]), "{" + uuid_of(IDS[0]) + "}", "urn:uuid:" + uuid_of(IDS[0])):
        for blank in (" ", "\t", "\n", "\r", "\r\n", "\v", "\f", "\0", "\x1f", "\x7f", "\u0085", "\u00a0", "\u2003", "\u2028", "\u3000"):
            for other in (blank + text, text + blank, blank + text + blank, text[:10] + blank + text[10:],
                          text[:10] + blank + text[11:], text[:-1] + blank, blank + text[1:], "x" * 3 + blank + text):
                cases.wrong("blanks", other)
    for blank in (" ", "\n", "\t ", "  "):
        cases.wrong("only blanks", blank)
    for text in (" 17", "17 ", "17\n", "1 7", "abcd ", " abcd", "abcd\n"):
        cases.wrong("blanks", text)


def numbers(cases):
    for text in ("0", "1", "-1", "+1", "007", "-0", "-", "1.0", "1e3", "0x10", "1_000", "1,000", "\u0661\u0662", "\u00b2", "NaN", "inf",
                 "17", "1645557742000", "0017", "12345678901234567890", "9223372036854775807", "9223372036854775808",
                 "-9223372036854775808", "-9223372036854775809", "99999999999999999999", "NULL", "null", "true", "hello"):
        cases.wrong("numbers and words", text)
    cases.add("NULL", "null", "", "null", "null", "null")
    for number in (0, 1, -1, 17, 2**53, 2**63 - 1, -(2**63)):
        cases.add("a number", "integer", str(number), None, None, "integer")
    for number in ("17.0", "0.0", "-3.0", "1645557742000.0"):
        cases.add("a whole real number", "real", number, None, None, "integer")
    for number in ("0.5", "-1.25", "1e+300"):
        cases.add("a real number", "real", number, None, None, "no id")


def other_formats(cases):
    suffix = ulid_of(IDS[1]).lower()
    for prefix in ("user", "a", "ab", "a_b", "pre_fix", "a__b", "z" * 63, "a" + "_" * 61 + "b", "", "_", "_a", "a_", "A", "Ab", "a1", "1",
                   "a.b", " a", "a b", "pr\u00e9fix", "z" * 64, "a" + "_" * 62 + "b", "urn:uuid:", "{", "a-b"):
        cases.text("prefixes of a TypeID", f"{prefix}_{suffix}")
        cases.text("prefixes of a TypeID, without _", prefix + suffix)
    for other in (suffix.upper(), suffix[:-1], suffix + "0", "8" + suffix[1:], "7" + suffix[1:], "i" + suffix[1:], suffix[:-1] + "u", suffix[:-1] + "l",
                  suffix[:9] + "-" + suffix[10:], suffix[:-1] + " ", " " + suffix[1:], mixed(suffix), uuid_of(IDS[1]), hex_of(IDS[1]), "", "\uff10" + suffix[1:]):
        cases.text("suffixes of a TypeID", f"user_{other}")
        cases.text("suffixes of a TypeID", f"user__{other}")
    for text in ("0ujtsYcgvSTl8PAuAdqWYSMnLOv", "0ujsswThIGTUYm2K8FjOOfXtY1K", "0" * 27, KSUID_MAX, KSUID_MAX[:-1] + "W", "z" * 27, "aWgEPTl1tmebfsQzFP4bxwgy8", KSUID_MAX + "0",
                 "0ujtsYcgvSTl8PAuAdqWYSMnLO-", "0ujtsYcgvSTl8PAuAdqWYSMnLO_", " ujtsYcgvSTl8PAuAdqWYSMnLOv", "0ujtsYcgvSTl8PAuAdqWYSMnL\u00e9", "AWgEPTl1tmebfsQzFP4bxwgy80V"):
        cases.text("KSUID", text)
    for text in ("507f1f77bcf86cd799439011", "507F1F77BCF86CD799439011", "507f1f77bcf86cd79943901g", "507f1f77bcf86cd7994390", "f" * 24, "0" * 24):
        cases.text("ObjectId", text)
    for text in ("0HZY2J0Q7M1RC", "0hzy2j0q7m1rc", "7ZZZZZZZZZZZZ", "8000000000000", "8ZZZZZZZZZZZZ", "0HZY2J0Q7M1RU", "0HZY2J0Q7M1R", "0HZY2J0Q7M1RCC", "0000000000000",
                 "0000000000001", "1645557742000", "-164555774200", "0HZY2J0Q7M1R\uff10", "01645557742000", "0645557742000", "7ffffffffffff"):
        cases.text("TSID", text)


def noise(cases):
    draw = random.Random(9562)
    for alphabet, least, most in (("0123456789abcdefABCDEF-", 31, 37), (CROCKFORD + CROCKFORD.lower(), 25, 27),
                                  ("0123456789abcdef", 1, 45), ("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-{}:", 24, 46)):
        for _ in range(120):
            cases.text("noise", "".join(draw.choices(alphabet, k=draw.randint(least, most))))
    for _ in range(60):
        bits = draw.getrandbits(128)
        for form in (ulid_of, hex_of, uuid_of):
            cases.text("random id", form(bits))
        cases.blob(bits.to_bytes(16, "big"))


def make():
    cases = Cases()
    for part in (right_forms, wrong_forms, lengths, unicode, blanks, numbers, other_formats, noise):
        part(cases)
    return "\n".join(["what\ttype\tvalue\tulid\tuuid\tkind", *cases.lines]) + "\n"


if __name__ == "__main__":
    FILE.write_text(make())
