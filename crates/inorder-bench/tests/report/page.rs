//! The page: what a browser and its reader rely on.

use super::{report, sample};
use inorder_bench::report::{Format, Options, render_with};

/// Elements without an end tag.
const VOID: &[&str] = &["meta", "br", "link", "img", "input", "hr"];

/// Elements whose end tag may be left out, and is in large tables and lists.
const OPEN_ENDED: &[&str] = &["thead", "tbody", "tr", "th", "td", "li", "dt", "dd"];

/// The page without its style sheet and script, whose text is no markup.
fn markup(page: &str) -> String {
    let mut out = page.to_owned();
    for (start, end) in [("<style>", "</style>"), ("<script>", "</script>")] {
        let from = out.find(start).unwrap() + start.len();
        let to = out.find(end).unwrap();
        out.replace_range(from..to, "");
    }
    out
}

/// The tags of a page: name, whether it ends an element, whether it is closed in itself.
fn tags(markup: &str) -> Vec<(String, bool, bool)> {
    markup
        .split('<')
        .skip(1)
        .map(|rest| &rest[..rest.find('>').expect("a tag ends")])
        .filter(|tag| !tag.starts_with('!'))
        .map(|tag| {
            let name = tag.trim_start_matches('/');
            let name: String = name.chars().take_while(|c| c.is_alphanumeric()).collect();
            (name, tag.starts_with('/'), tag.ends_with('/'))
        })
        .filter(|(name, ..)| !OPEN_ENDED.contains(&name.as_str()))
        .collect()
}

#[test]
fn tags_are_balanced() {
    let page = report(Format::Html, false, 100);
    let mut open: Vec<String> = Vec::new();
    for (name, is_end, is_closed) in tags(&markup(&page)) {
        if is_end {
            assert_eq!(
                open.pop().as_deref(),
                Some(name.as_str()),
                "inside {open:?}"
            );
        } else if !is_closed && !VOID.contains(&name.as_str()) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn nothing_is_loaded_from_anywhere() {
    let page = report(Format::Html, false, 100);
    // A link to a source is followed by its reader only.
    let (sources, page) = without_sources(&page);
    assert_eq!(sources, 4, "one link for each post");
    for trace in [
        "http:", "https:", "//", "@import", "src=", "<link", "url(data",
    ] {
        // A comment of the script begins with two slashes; an address never stands alone.
        let found = page
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .find(|line| line.contains(trace));
        assert_eq!(found, None, "{trace}");
    }
    assert!(page.contains("default-src 'none'"));
}

/// Returns the number of links to sources in a page, and the page without their addresses.
fn without_sources(page: &str) -> (usize, String) {
    const LINK: &str = "<a class=\"source\" href=\"";
    let mut parts = page.split(LINK);
    let mut out = parts.next().unwrap_or_default().to_owned();
    let mut sources = 0;
    for rest in parts {
        let (url, rest) = rest.split_once('"').expect("an address ends");
        assert!(url.starts_with("https:"), "{url}");
        sources += 1;
        out += rest;
    }
    (sources, out)
}

#[test]
fn every_plot_names_its_units() {
    let page = report(Format::Html, false, 100);
    let drawings: Vec<&str> = page
        .split("<svg ")
        .skip(1)
        .map(|rest| &rest[..rest.find("</svg>").unwrap()])
        .filter(|drawing| drawing.contains("role=\"img\""))
        .collect();
    assert!(drawings.len() > 10, "{}", drawings.len());
    for drawing in drawings {
        let titles: Vec<&str> = drawing
            .split("class=\"axis-title")
            .skip(1)
            .map(|rest| &rest[rest.find('>').unwrap() + 1..rest.find('<').unwrap()])
            .collect();
        assert!(!titles.is_empty());
        for title in titles {
            assert!(title.contains('('), "no unit in `{title}`");
        }
        assert!(!drawing.contains("NaN") && !drawing.contains("inf"));
    }
}

#[test]
fn every_experiment_claim_and_plot_is_there_once() {
    let page = report(Format::Html, false, 100);
    let run = sample::run();
    let sections = run.experiments.iter().map(|e| e.name.clone());
    let claims = sample::CLAIMS
        .iter()
        .map(|claim| format!("claim-{}", claim.id));
    for id in sections.chain(claims) {
        let attribute = format!("id=\"{id}\"");
        assert_eq!(page.matches(&attribute).count(), 1, "{id}");
    }
    let plots = [
        "key-order-bytes-by-rows",
        "key-order-cpu-by-rows",
        "key-order-size",
        "key-order-bytes-by-file",
        "key-order-cpu-by-phase",
        "key-order-latency-point",
        "key-order-latency-range",
        "key-order-fill",
        "cache-engine-bytes-per-row-by-cache-kib",
        "cache-cpu-us-per-row-by-cache-kib",
        "document-index-latency-query",
    ];
    // The ranking and the lines by a factor draw these totals already: one picture per question.
    for repeated in [
        "key-order-bytes-by-file",
        "cache-bytes-by-file",
        "cache-cpu-by-phase",
    ] {
        assert!(
            page.contains(&format!("<details id=\"{repeated}\"")),
            "{repeated}"
        );
    }
    for id in plots {
        assert_eq!(page.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
    }
    // An experiment without trials has no frames without lines.
    assert!(!page.contains("id=\"not-run-"));
    for link in page.split("href=\"#").skip(1) {
        let id = &link[..link.find('"').unwrap()];
        assert!(page.contains(&format!("id=\"{id}\"")), "dead link #{id}");
    }
}

#[test]
fn texts_cannot_become_markup() {
    let mut run = sample::run();
    run.experiments[0].title = "<script>alert(1)</script>".into();
    for cell in &mut run.cells {
        cell.label = format!("\"><i>{}", cell.label);
    }
    let page = render_with(&run, sample::CLAIMS, Format::Html, &Options::default()).unwrap();
    assert!(!page.contains("<script>alert"));
    assert!(!page.contains("\"><i>"));
}

/// Relative luminance and contrast as WCAG 2.2 defines them.
fn contrast(a: &str, b: &str) -> f64 {
    let luminance = |color: &str| {
        let channel = |at: usize| {
            let value = u8::from_str_radix(&color[at..at + 2], 16).unwrap();
            let share = f64::from(value) / 255.0;
            if share <= 0.04045 {
                share / 12.92
            } else {
                ((share + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn colors_have_contrast_in_both_schemes() {
    let page = report(Format::Html, false, 100);
    let color = |name: &str, scheme: usize| -> String {
        let from = page.find(&format!("--{name}: light-dark(")).unwrap();
        let rest = &page[from..from + page[from..].find(')').unwrap()];
        let colors: Vec<&str> = rest.split('#').skip(1).map(|c| &c[..6]).collect();
        format!("#{}", colors[scheme])
    };
    for scheme in [0, 1] {
        for ground in ["page", "card"] {
            for text in ["ink", "soft", "link"] {
                let value = contrast(&color(text, scheme), &color(ground, scheme));
                assert!(value >= 4.5, "{text} on {ground}: {value:.1}");
            }
            for look in 0..8 {
                let name = format!("s{look}");
                let value = contrast(&color(&name, scheme), &color(ground, scheme));
                assert!(value >= 3.0, "{name} on {ground}, {scheme}: {value:.1}");
            }
        }
        for badge in ["good", "bad", "maybe", "idle"] {
            let ground = color(&format!("{badge}-page"), scheme);
            let value = contrast(&color(badge, scheme), &ground);
            assert!(value >= 4.5, "{badge}: {value:.1}");
        }
    }
}

#[test]
fn every_number_of_a_plot_is_in_its_table() {
    let page = report(Format::Html, false, 100);
    let from = page
        .find("id=\"cache-engine-bytes-per-row-by-cache-kib\"")
        .unwrap();
    let plot = &page[from..from + page[from..].find("</figure>").unwrap()];
    assert!(!plot.contains("<title>"), "tooltips come from the table");
    let (_, table) = plot.split_once("<tbody>").unwrap();
    // Five sizes of cache, and beside each median the smallest and the largest of the repetitions.
    assert_eq!(table.matches("<tr>").count(), 5);
    let times = &page[page
        .find("id=\"cache-cpu-us-per-row-by-cache-kib\"")
        .unwrap()..];
    let (_, table) = times.split_once("<tbody>").unwrap();
    let cell = table.split("<td>").nth(2).unwrap();
    assert!(cell.contains(" us (") && cell.contains(" to "), "{cell}");
}

#[test]
fn what_all_experiments_have_is_said_once() {
    let page = report(Format::Html, false, 100);
    assert_eq!(page.matches("<dt>page_size<dd>4096").count(), 1);
    assert_eq!(page.matches("id=\"common\"").count(), 1);
    let mut alone = sample::run();
    alone.experiments.truncate(1);
    let page = render_with(&alone, &[], Format::Html, &Options::default()).unwrap();
    assert!(page.contains("<dt>page_size<dd>4096") && !page.contains("common"));
}
