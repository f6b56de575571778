//! What a writer left for others to fill in: `<name>` and `{{ name }}`.

use std::collections::BTreeSet;

/// The placeholders of some lines, sorted, each once.
pub(super) fn placeholders<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut found = BTreeSet::new();
    for line in lines {
        let mut at = 0;
        while let Some(next) = line[at..].find(['<', '{']).map(|step| at + step) {
            let length = angled(line, next).or_else(|| braced(&line[next..]));
            if let Some(length) = length {
                found.insert(line[next..next + length].to_owned());
            }
            at = next + length.unwrap_or(1);
        }
    }
    found.into_iter().collect()
}

/// The length of `<name>` at a place. `<<EOF>` and `<in>>out` are redirections.
fn angled(line: &str, at: usize) -> Option<usize> {
    let name = line[at..].strip_prefix('<')?;
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-'))?;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let rest = name[end..].strip_prefix('>')?;
    (is_name && !line[..at].ends_with('<') && !rest.starts_with('>')).then_some(end + 2)
}

/// The length of `{{ name }}` at the start of a text.
fn braced(text: &str) -> Option<usize> {
    let name = text.strip_prefix("{{")?.trim_start();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return None;
    }
    let rest =
        name.trim_start_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-'));
    let rest = rest.trim_start().strip_prefix("}}")?;
    Some(text.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_told_from_redirections_and_templates() {
        let found = |line: &'static str| placeholders([line].into_iter());
        assert_eq!(found("ssh <host> -p <port> <host>"), ["<host>", "<port>"]);
        assert_eq!(
            found("echo {{ user.name }} {{{id}}} é<a-b>"),
            ["<a-b>", "{{ user.name }}", "{{id}}"]
        );
        for line in [
            "cat <<EOF>out",
            "cat <in>>out",
            "sort < in > out",
            "docker ps --format '{{.Names}}'",
            "docker inspect -f '{{json .State}}'",
            "<1st> {{ }} <é>",
            "{{",
            "<",
        ] {
            assert_eq!(found(line), [""; 0], "{line}");
        }
    }
}
