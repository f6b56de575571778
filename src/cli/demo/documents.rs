//! What the demo works on: this project's own documents, which are part of the program.

/// The documents, by name.
const DOCUMENTS: [(&str, &str); 5] = [
    ("README.md", include_str!("../../../README.md")),
    ("ARCHITECTURE.md", include_str!("../../../docs/ARCHITECTURE.md")),
    ("adding-a-tool.md", include_str!("../../../docs/adding-a-tool.md")),
    ("adding-a-backend-kind.md", include_str!("../../../docs/adding-a-backend-kind.md")),
    ("config.md", include_str!("../../../docs/config.md")),
];

/// The fewest bytes of prose that are worth a summary, how many make a part, and the most.
const FEWEST: usize = 120;
const ENOUGH: usize = 250;
const MOST: usize = 4_000;

/// The most parts that the demo takes.
const PARTS: usize = 40;

/// One part of a document.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Where it is from, such as `README.md: Use it`.
    pub(super) name: String,
    /// Its prose.
    pub(super) text: String,
}

/// The parts of the documents that have enough prose: each section, in several where it is long.
pub(super) fn parts() -> Vec<Part> {
    let all = DOCUMENTS.iter().flat_map(|(document, text)| sections(document, text));
    all.take(PARTS).collect()
}

fn sections(document: &str, text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut part = Part { name: document.to_owned(), text: String::new() };
    let mut is_code = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") {
            is_code = !is_code;
        } else if is_code || line.starts_with('|') || line.starts_with("<!--") {
            // Code and tables have no sentences.
        } else if let Some(heading) = line.strip_prefix('#') {
            let name = format!("{document}: {}", heading.trim_start_matches('#').trim());
            parts.push(std::mem::replace(&mut part, Part { name, text: String::new() }));
        } else {
            let begins = line.is_empty() || line.starts_with("- ");
            if begins && part.text.len() >= ENOUGH {
                let name = part.name.clone();
                parts.push(std::mem::replace(&mut part, Part { name, text: String::new() }));
            }
            part.text.push_str(line.strip_prefix("- ").unwrap_or(line));
            part.text.push('\n');
        }
    }
    parts.push(part);
    parts.retain(|part| part.text.trim().len() >= FEWEST);
    for part in &mut parts {
        let end = part.text.floor_char_boundary(MOST);
        part.text.truncate(end);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_enough_to_show_a_batch() {
        let parts = parts();
        assert!((20..=PARTS).contains(&parts.len()), "{} parts", parts.len());
        assert!(parts.iter().all(|part| (FEWEST..=MOST).contains(&part.text.len())));
    }

    #[test]
    fn a_section_is_its_prose_under_its_heading() {
        let prose = "One sentence of prose that goes on for a while. ".repeat(4);
        let text = format!(
            "# Title\n\n{prose}\n\n```sh\n# no heading\n```\n| a | b |\n## Next one\nshort\n"
        );
        let parts = sections("a.md", &text);
        assert_eq!(parts.len(), 1);
        assert_eq!(parts[0].name, "a.md: Title");
        assert_eq!(parts[0].text.trim(), prose.trim());
    }
}
