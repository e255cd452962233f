//! Rows as people read them.

use super::row::Row;

/// One line a row under a heading, in aligned columns.
pub fn table(rows: &[Row]) -> String {
    let heading = ["", "figure", "reference", "", "ratio", "goal", ""].map(str::to_owned);
    let lines: Vec<[String; COLUMNS]> =
        std::iter::once(heading).chain(rows.iter().map(cells)).collect();
    let widths: [usize; COLUMNS] = std::array::from_fn(|column| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    });
    let mut text = String::new();
    for line in &lines {
        let padded =
            line.iter().zip(widths).zip(ALIGNMENT).map(|((cell, width), side)| match side {
                Side::Left => format!("{cell:<width$}"),
                Side::Right => format!("{cell:>width$}"),
            });
        text.push_str(padded.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

const COLUMNS: usize = 7;

#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

/// Text to the left, numbers to the right.
const ALIGNMENT: [Side; COLUMNS] =
    [Side::Left, Side::Right, Side::Right, Side::Left, Side::Right, Side::Left, Side::Left];

fn cells(row: &Row) -> [String; COLUMNS] {
    let reference = row.reference.as_ref();
    let verdict = row.is_met().map_or("", |met| if met { "met" } else { "MISSED" });
    [
        row.name.clone(),
        row.unit.show(row.figure),
        reference.map(|it| row.unit.show(it.figure)).unwrap_or_default(),
        reference.map(|it| it.name.clone()).unwrap_or_default(),
        row.ratio().map(|ratio| format!("{ratio:.2}")).unwrap_or_default(),
        row.goal.map(|goal| goal.show(row.unit)).unwrap_or_default(),
        verdict.to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::row::{Goal, Unit};
    use super::*;

    #[test]
    fn columns_are_aligned_and_a_missed_goal_is_seen() {
        let rows = [
            Row::new("append: one prompt", Unit::PerSecond, 4321.0)
                .against("three statements", 5000.0)
                .goal(Goal::RatioAtLeast(0.7)),
            Row::new("list: größte", Unit::Seconds, 0.0031).goal(Goal::AtMost(0.002)),
            Row::new("written", Unit::Bytes, 0.0),
        ];
        insta::assert_snapshot!(table(&rows), @r"
                             figure  reference                    ratio  goal
        append: one prompt  4,321/s    5,000/s  three statements   0.86  ≥ 0.7 ×  met
        list: größte         3.1 ms                                      ≤ 2 ms   MISSED
        written                   0
        ");
    }
}
