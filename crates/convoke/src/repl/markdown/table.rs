//! A table in columns, once all of its lines are here.

use unicode_width::UnicodeWidthStr;

use super::inline::Inline;

/// The lines of a table, in aligned columns if these fit, else as they were written.
pub(super) fn shown(lines: &[String], width: usize) -> String {
    let rows: Vec<Vec<String>> = lines.iter().map(|line| cells(line)).collect();
    let count = rows.iter().map(Vec::len).max().unwrap_or_default();
    let is_rule = rows.get(1).is_some_and(|row| row.iter().all(|cell| is_rule(cell)));
    let mut widths = vec![0; count];
    let mut painted = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        if is_rule && index == 1 {
            continue;
        }
        let row: Vec<(String, usize)> = row.iter().map(|cell| paint(cell)).collect();
        for ((_, cells), widest) in row.iter().zip(&mut widths) {
            *widest = (*widest).max(*cells);
        }
        painted.push(row);
    }
    let total = widths.iter().sum::<usize>() + count.saturating_sub(1) * " │ ".width();
    if !is_rule || total > width {
        return lines.iter().map(|line| format!("{line}\n")).collect();
    }
    let mut text = String::new();
    for (index, row) in painted.iter().enumerate() {
        let cell = |(at, width): (usize, &usize)| {
            let (words, cells) = row.get(at).cloned().unwrap_or_default();
            words + &" ".repeat(width.saturating_sub(cells))
        };
        let line: Vec<String> = widths.iter().enumerate().map(cell).collect();
        text.push_str(line.join("\x1b[2m │ \x1b[0m").trim_end());
        text.push('\n');
        if index == 0 {
            let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            text.push_str(&format!("\x1b[2m{}\x1b[0m\n", rule.join("─┼─")));
        }
    }
    text
}

fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = line.strip_suffix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let mut is_escaped = false;
    for letter in line.chars() {
        match letter {
            '|' if !is_escaped => cells.push(String::new()),
            _ => cells.iter_mut().last().into_iter().for_each(|cell| cell.push(letter)),
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

fn is_rule(cell: &str) -> bool {
    cell.contains('-') && cell.chars().all(|letter| matches!(letter, '-' | ':' | ' '))
}

/// A cell with its emphasis, and its width on the terminal.
fn paint(cell: &str) -> (String, usize) {
    let (mut inline, mut out) = (Inline::default(), String::new());
    cell.chars().for_each(|letter| inline.take(letter, &mut out));
    inline.end(&mut out);
    let cells = convoke_api::ansi::plain(&out).width();
    (out, cells)
}
