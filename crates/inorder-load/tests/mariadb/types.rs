//! Column types of MariaDB, and values for them.

/// Every type, with what changes which values it takes: sign, width, digits, character set, NOT NULL, a default, a
/// CHECK, a generated value. `{charset}` stands for each of [`CHARSETS`].
pub const TYPES: &[&str] = &[
    "TINYINT",
    "TINYINT UNSIGNED",
    "TINYINT ZEROFILL",
    "SMALLINT",
    "SMALLINT UNSIGNED",
    "SMALLINT ZEROFILL",
    "MEDIUMINT",
    "MEDIUMINT UNSIGNED",
    "MEDIUMINT ZEROFILL",
    "INT",
    "INT UNSIGNED",
    "INT ZEROFILL",
    "INT(5) ZEROFILL",
    "INT NOT NULL",
    "INT NOT NULL DEFAULT 7",
    "INT CHECK (c > 5)",
    "INT INVISIBLE",
    "INT AS (i + 1) VIRTUAL",
    "INT AS (i + 1) PERSISTENT",
    "BIGINT",
    "BIGINT UNSIGNED",
    "BIGINT ZEROFILL",
    "BOOLEAN",
    "DECIMAL(10,0)",
    "DECIMAL(5,2)",
    "DECIMAL(65,30)",
    "DECIMAL(10,3) UNSIGNED",
    "DECIMAL(8,4) ZEROFILL",
    "FLOAT",
    "FLOAT UNSIGNED",
    "FLOAT(7,2)",
    "DOUBLE",
    "DOUBLE UNSIGNED",
    "DOUBLE(10,3)",
    "BIT(1)",
    "BIT(8)",
    "BIT(17)",
    "BIT(64)",
    "BIT(4) NOT NULL",
    "DATE",
    "DATE NOT NULL DEFAULT '2020-02-02'",
    "TIME",
    "TIME(3)",
    "TIME(6)",
    "DATETIME",
    "DATETIME(3)",
    "DATETIME(6)",
    "DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP",
    "TIMESTAMP NULL",
    "TIMESTAMP(6) NULL",
    "TIMESTAMP NOT NULL",
    "TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP",
    "YEAR",
    "YEAR NOT NULL",
    "CHAR(10) {charset}",
    "VARCHAR(10) {charset}",
    "TEXT {charset}",
    "CHAR(3)",
    "VARCHAR(3)",
    "VARCHAR(10) NOT NULL",
    "VARCHAR(10) NOT NULL DEFAULT 'given'",
    "VARCHAR(30) CHECK (length(c) < 5)",
    "VARCHAR(200) COMPRESSED",
    "VARCHAR(99) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    "VARCHAR(99) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin",
    "VARCHAR(20) AS (concat(i, 'x')) VIRTUAL",
    "TINYTEXT",
    "MEDIUMTEXT",
    "LONGTEXT",
    "TEXT COMPRESSED",
    "BINARY(1)",
    "BINARY(4)",
    "BINARY(16)",
    "VARBINARY(4)",
    "VARBINARY(300)",
    "TINYBLOB",
    "BLOB",
    "BLOB NOT NULL",
    "MEDIUMBLOB",
    "LONGBLOB",
    "ENUM('a','b','C d','1','')",
    "ENUM('3','2','1') NOT NULL",
    "ENUM('é','ß','x') CHARACTER SET latin1",
    "SET('a','b','c')",
    "SET('a','b') NOT NULL",
    "SET('x','é') CHARACTER SET latin1",
    "JSON",
    "JSON NOT NULL",
    "INET4",
    "INET6",
    "INET6 NOT NULL",
    "UUID",
    "UUID NOT NULL",
    "POINT",
    "POINT NOT NULL",
    "LINESTRING",
    "POLYGON",
    "MULTIPOINT",
    "MULTILINESTRING",
    "MULTIPOLYGON",
    "GEOMETRYCOLLECTION",
    "GEOMETRY",
];

/// Character sets: of one byte, of several, of fixed width, and none.
pub const CHARSETS: &[&str] = &[
    "latin1", "utf32", "binary", "ascii", "utf8mb3", "utf8mb4", "ucs2", "utf16", "cp1251", "sjis",
    "gbk",
];

/// All types, with each of these character sets.
pub fn types(charsets: &[&str]) -> Vec<String> {
    let with_charsets = |declared: &&str| -> Vec<String> {
        match declared.strip_suffix(" {charset}") {
            None => vec![(*declared).to_owned()],
            Some(plain) => {
                let named = |charset| format!("{plain} CHARACTER SET {charset}");
                charsets.iter().map(named).collect()
            }
        }
    };
    TYPES.iter().flat_map(with_charsets).collect()
}

/// Text: ordinary, at the edges of each type, malformed, and what means something elsewhere.
#[rustfmt::skip]
pub const TEXTS: &[&str] = &[
    // Numbers.
    "", "0", "1", "-1", "+1", "5", "007", "00", "127", "128", "-128", "-129", "255", "256", "32767", "32768",
    "65535", "65536", "8388607", "8388608", "16777215", "16777216", "2147483647", "2147483648", "-2147483648",
    "-2147483649", "4294967295", "4294967296", "99999999999", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616",
    "123456789012345678901234567890123456789012345678901234567890123456789", "1.5", "2.5", "-2.5", "0.5",
    "0.4999999999999999999", "1.005", "123.456", "999.999", "999.994", "99999.99", "-0", "-0.0", "0.1", "1e3",
    "1E-3", "1e", ".5", "5.", "1e10", "3.4e38", "3.5e38", "1.7976931348623157e308", "4.9e-324", "1e-400", "1e400",
    "-1e400", "nan", "inf", "Infinity", "0x1F", "0b101", "1,234.56", "1_000", " 12", "12 ", "\t12", "12abc", "1 2",
    "--1", "1.10", "0.1234567890123456789",
    // Words.
    "true", "false", "TRUE", "t", "f", "yes", "NULL", "null", "\\N", "\\", "a\\b", "\\0", "\\'", "tab\tx", "line\nx",
    "cr\r\nx", "nul\0x", "'", "\"", "`", "a'b\"c", "%s", "?", "'; DROP TABLE t", "\x1a", "a", "b", "A", "c", "a,b",
    "b,a", "a,a", "a,x", "a, b", ",", "C d", "3", "2", "x", "abc", "abc ", "abc   ", "abcd", "Alexander", "   ",
    "deadbeef", "x'41'", "0x41",
    // Characters.
    "é", "É", "ß", "á", "ñandú", "Ж", "日本", "日本語文字列テキスト", "€", "😀", "a😀b", "e\u{301}", "\u{200b}",
    "\u{feff}", "\u{fffd}", "ſ", "\x7f", "\u{80}", "\u{a0}", "表", "ソ\\",
    // Dates and times.
    "2024-01-05", "2024-1-5", "24-1-5", "20240105", "240105", "2024/01/05", "2024.01.05", "2024-13-01", "2024-02-30",
    "2024-02-29", "2023-02-29", "0000-00-00", "2024-00-00", "2024-01-00", "0000-01-01", "9999-12-31", "10000-01-01",
    "1969-12-31 23:59:59", "1970-01-01 00:00:01", "1970-01-01 00:00:00", "2038-01-19 03:14:07",
    "2038-01-19 03:14:08", "2024-01-05 12:34:56", "2024-01-05T12:34:56", "2024-01-05 12:34:56.789",
    "2024-01-05 12:34:56.1234567", "2024-01-05 23:59:59.9999999", "2024-01-05 25:00:00", "2024-01-05 12:60:00",
    "2024-01-05 12:34:56Z", "2024-01-05 12:34:56+02:00", "20240105123456", "2024-03-31 02:30:00", "2024-01-05 12",
    "2024-01-05x", "Jan 5 2024", "12:34:56", "12:34", "1234", "123456", "-12:34:56", "838:59:59", "838:59:59.999999",
    "839:00:00", "1 12:34:56", "12:34:56.5", "12:34:56.1234567", "24:00:00", "12:60", "12:34:56 PM", "1900", "1901",
    "2155", "2156", "70", "69", "99", "100", "2024", "2024.5",
    // JSON, addresses, UUIDs, shapes.
    "{}", "[]", "{\"a\":1}", "{\"a\":1,\"a\":2}", "[1,2,{\"b\":null}]", "{a:1}", "[1,]", "\"s\"", "{\"é\":\"😀\"}",
    "{\"a\":", "127.0.0.1", "255.255.255.255", "256.1.1.1", "127.1", "::1", "::", "2001:db8::1", "2001:DB8::1",
    "::ffff:1.2.3.4", "2001:db8::g", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "017F22E2-79B0-7CC3-98C4-DC0C0C07398F",
    "017f22e279b07cc398c4dc0c0c07398f", "{017f22e2-79b0-7cc3-98c4-dc0c0c07398f}",
    "017f22e2-79b0-7cc3-98c4-dc0c0c07398", "00000000-0000-0000-0000-000000000000",
    "017f22e2-79b0-4cc3-78c4-dc0c0c07398f", "POINT(1 1)", "LINESTRING(0 0,1 1)",
];

/// Lengths of texts at the edges of types.
const LENGTHS: &[(&str, usize)] = &[
    ("x", 255),
    ("x", 256),
    ("é", 128),
    ("y", 300),
    ("z", 70_000),
];

/// All texts; nothing is NULL.
pub fn texts() -> Vec<Option<String>> {
    let texts = TEXTS.iter().map(|text| (*text).to_owned());
    let long = LENGTHS.iter().map(|(text, times)| text.repeat(*times));
    // The long ones first: they are sent once then, whatever is refused after them.
    let all = long.chain(texts).map(Some);
    std::iter::once(None).chain(all).collect()
}

/// Values of JSON that aren't text, as JSON and SQL spell them alike.
#[rustfmt::skip]
pub const JSON: &[&str] = &[
    "null", "true", "false", "0", "1", "-1", "2", "5", "7", "70", "99", "100", "255", "256", "1900", "1901", "2024",
    "2155", "65536", "123456", "240105", "20240105", "20240105123456", "20241301", "2147483647", "2147483648",
    "-2147483649", "4294967296", "9223372036854775807", "-9223372036854775808", "1.5", "-0.5", "123.456", "999.994",
    "1.10", "0.1234567890123456789",
];

/// Values of SQLite, in the SQL of both.
#[rustfmt::skip]
pub const SQLITE: &[&str] = &[
    "NULL", "0", "1", "-1", "2", "5", "69", "70", "255", "256", "1901", "2024", "20240105", "20240105123456",
    "2147483648", "9223372036854775807", "-9223372036854775808", "1.5e0", "2.5e0", "-0.5e0", "1e3", "1e300", "1e-7",
    "123.456e0", "0.1e0", "2e1", "'text'", "'7'", "'2024-01-05'", "'é'", "''", "X''", "X'00'", "X'41'", "X'0102'",
    "X'ff'", "X'c3a9'", "X'c3'", "X'5c'", "X'e3815c'", "X'f09f0a09'", "X'e35c00'", "X'81'", "X'095c6e0a'",
    "X'017f22e279b07cc398c4dc0c0c07398f'", "X'30313766323265322d373962302d376363332d393863342d646330633063303733393866'",
    "X'7f000001'", "X'000000000101000000000000000000f03f000000000000f03f'", "X'0101000000000000000000f03f000000000000f03f'",
];
