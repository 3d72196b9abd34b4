//! The page in a real browser: at every width and in both schemes nothing overlaps, nothing is cut.

use super::report;
use inorder_bench::report::Format;
use std::{path::Path, process::Command};

/// Pixels: a small phone, a phone, a tablet, a desktop.
const WIDTHS: [u32; 4] = [360, 390, 768, 1280];

/// A browser on a busy machine may end before the page is loaded.
const STARTS_MAX: u32 = 3;

/// Looks at the page in a frame of one width and writes down what is wrong with it.
const LOOK: &str = r#"<!doctype html><meta charset="utf-8"><body style="margin:0">
<iframe id="frame" src="page.html#THEME" style="width:WIDTHpx;height:3000px;border:0"></iframe>
<pre id="findings">the page did not load</pre>
<script>
const wrong = [];
addEventListener("error", event => wrong.push("error: " + event.message));
frame.addEventListener("load", () => {
  const page = frame.contentDocument;
  const root = page.documentElement;
  if (root.scrollWidth > root.clientWidth) wrong.push(`the page is ${root.scrollWidth} wide`);
  for (const plot of page.querySelectorAll("svg")) {
    const frame = plot.getBoundingClientRect();
    if (frame.width === 0) continue;
    const texts = [...plot.querySelectorAll("text")].filter(text => text.textContent.trim());
    const boxes = texts.map(text => text.getBoundingClientRect());
    texts.forEach((text, i) => {
      const box = boxes[i], name = text.textContent;
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
        wrong.push(`cut: ${name}`);
      for (let j = 0; j < i; j++) {
        const other = boxes[j];
        const across = Math.min(box.right, other.right) - Math.max(box.left, other.left);
        const down = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
        // Line boxes are taller than their letters: only what overlaps by more than that is seen.
        if (across > 1 && down > box.height * 0.3) wrong.push(`${name} overlaps ${texts[j].textContent}`);
      }
    });
  }
  // What a path of marks says is in the table behind its plot: as many places as cells with a value, and a tooltip each.
  const tip = page.getElementById("tip");
  for (const drawing of page.querySelectorAll(".panel svg")) {
    const figure = drawing.closest("figure"), name = drawing.getAttribute("aria-label");
    const panel = drawing.parentNode.querySelector("h4")?.textContent;
    const rows = [...figure.querySelector("tbody").rows].filter(row => !panel || row.cells[0].textContent.trim() === panel);
    for (const path of drawing.querySelectorAll("[data-c]")) {
      const values = rows.map(row => row.cells[path.dataset.c].textContent.trim()).filter(text => text && text !== "n/a");
      const data = path.getAttribute("d");
      const places = path.classList.contains("bar") ? data.split("M").length - 1 : data.match(/-?\d+/g).length / 2;
      if (places !== values.length) wrong.push(`${name}: ${places} places, ${values.length} values`);
    }
    drawing.dispatchEvent(new frame.contentWindow.KeyboardEvent("keydown", { key: "ArrowRight" }));
    if (tip.hidden || /undefined|NaN/.test(tip.textContent)) wrong.push(`${name}: tooltip "${tip.textContent}"`);
    const ring = drawing.querySelector(".near")?.getBoundingClientRect();
    if (!(ring?.width > 0)) wrong.push(`${name}: no ring around the mark`);
    drawing.dispatchEvent(new frame.contentWindow.KeyboardEvent("keydown", { key: "Escape" }));
    if (!tip.hidden) wrong.push(`${name}: the tooltip stays`);
  }
  const table = page.querySelector(".summary"), body = table.tBodies[0];
  const sorted = at => {
    table.tHead.rows[0].cells[at].querySelector("button").click();
    return [...body.rows].map(row => row.cells[at].textContent);
  };
  const names = sorted(0), turned = sorted(0);
  if (names.length < 2 || names.some((name, i) => i && names[i - 1].localeCompare(name) > 0)) wrong.push(`not sorted: ${names}`);
  if (turned.join() !== [...names].reverse().join()) wrong.push(`not turned round: ${turned}`);
  const field = page.querySelector("input.filter");
  const rows = [...field.nextElementSibling.querySelector("tbody").rows];
  const shown = words => {
    field.value = words;
    field.dispatchEvent(new Event("input"));
    return rows.filter(row => !row.hidden);
  };
  const some = shown("UUID7 without");
  if (some.length === 0 || some.length === rows.length || some.some(row => !row.textContent.includes("uuid7, without")))
    wrong.push(`filtered: ${some.map(row => row.textContent)}`);
  if (shown("").length !== rows.length) wrong.push("rows stay hidden");
  findings.textContent = "looked\n" + wrong.join("\n");
});
</script>"#;

fn look(width: u32, theme: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("page.html"),
        report(Format::Html, false, 100),
    )
    .unwrap();
    let look = LOOK
        .replace("THEME", theme)
        .replace("WIDTH", &width.to_string());
    std::fs::write(folder.path().join("look.html"), look).unwrap();
    let mut said = String::new();
    for _ in 0..STARTS_MAX {
        said = dom(&folder.path().join("look.html"), folder.path());
        let findings = said
            .split_once("<pre id=\"findings\">looked\n")
            .and_then(|(_, rest)| rest.split_once("</pre>"));
        if let Some((findings, _)) = findings {
            return findings.lines().map(str::to_owned).collect();
        }
    }
    panic!("{width} px, {theme}: the browser did not look; it said: {said}");
}

/// The document as it is once its scripts have run.
fn dom(page: &Path, profile: &Path) -> String {
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--no-first-run",
        ])
        .args(["--disable-sync", "--disable-quic", "--hide-scrollbars"])
        // The page and what looks at it are both files here.
        .args([
            "--allow-file-access-from-files",
            "--virtual-time-budget=10000",
        ])
        .arg("--window-size=1400,3200")
        .arg(format!(
            "--user-data-dir={}",
            profile.join("profile").display()
        ))
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("chromium starts");
    let [out, errors] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    match out.is_empty() {
        true => format!("{}: {errors}", output.status),
        false => out,
    }
}

#[test]
#[ignore = "needs a browser"]
fn browser_nothing_overlaps_or_is_cut() {
    for width in WIDTHS {
        for theme in ["light", "dark"] {
            let findings = look(width, theme);
            assert!(
                findings.is_empty(),
                "{width} px, {theme}:\n{}",
                findings.join("\n")
            );
        }
    }
}
