//! Counts of launches as a table in a document.

use cuda_emu::Counters;
use std::fmt::Write as _;
use std::path::Path;

/// Before and after the table.
const MARKS: [&str; 2] = ["<!-- counts -->", "<!-- /counts -->"];
/// Bytes of a sector.
const SECTOR: u64 = 32;

/// A launch, and the least that the work of it needs.
#[derive(Clone, Debug)]
pub struct Row {
    /// The kernel's name.
    pub kernel: String,
    /// Shapes.
    pub case: String,
    /// What the emulator counted.
    pub counters: Counters,
    /// Bytes of the operands: each input read once, each output written once. `None` where the work doesn't say which
    /// bytes it needs, as for a search.
    pub least_bytes: Option<u64>,
}

impl Row {
    /// A row.
    pub fn new(kernel: &str, case: impl Into<String>, counters: Counters, least_bytes: Option<u64>) -> Self {
        Self { kernel: kernel.to_owned(), case: case.into(), counters, least_bytes }
    }

    /// Bytes of the sectors that its loads and stores touched; what a cache keeps of them counts each time.
    pub fn bytes(&self) -> u64 {
        SECTOR * (self.counters.global_load_sectors + self.counters.global_store_sectors)
    }

    /// Bytes moved over the least; `None` without a least.
    pub fn excess(&self) -> Option<f64> {
        self.least_bytes.map(|least| self.bytes() as f64 / least as f64)
    }

    /// Sectors of a request: loads, stores. 0 without requests.
    pub fn sectors_per_request(&self) -> [f64; 2] {
        let c = &self.counters;
        [(c.global_load_sectors, c.global_load_requests), (c.global_store_sectors, c.global_store_requests)]
            .map(|(sectors, requests)| if requests == 0 { 0.0 } else { sectors as f64 / requests as f64 })
    }

    fn line(&self) -> String {
        let c = &self.counters;
        let [loads, stores] = self.sectors_per_request();
        let (least, excess) = match (self.least_bytes, self.excess()) {
            (Some(least), Some(excess)) => (least.to_string(), format!("{excess:.3}")),
            _ => ("-".to_owned(), "-".to_owned()),
        };
        format!(
            "| `{}` | {} | {} | {} | {} | {loads:.2} / {stores:.2} | {} | {least} | {excess} | {} | {} | {} |",
            self.kernel,
            self.case,
            c.instructions,
            c.longest_warp,
            c.longest_chain,
            self.bytes(),
            c.shared_bank_conflicts,
            c.divergent_branches,
            c.atomics,
        )
    }
}

/// The rows in Markdown.
fn markdown(rows: &[Row]) -> String {
    let mut text = String::from(
        "| kernel | case | instructions of warps | of the longest warp | longest chain, cycles \
         | sectors a request: loads / stores | bytes moved | least | ratio | bank conflicts | divergent branches | atomics |\n\
         | --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n",
    );
    for row in rows {
        writeln!(text, "{}", row.line()).expect("a string has room");
    }
    text
}

/// Panics unless the table in the document is that of the rows. With `LOCKSTEP_BLESS` set it is written instead.
///
/// # Panics
/// If it isn't, or the document can't be read or has no marks.
pub fn assert_documented(document: &Path, rows: &[Row]) {
    let name = document.display();
    let text = std::fs::read_to_string(document).unwrap_or_else(|error| panic!("{name}: {error}"));
    let (before, rest) = text.split_once(MARKS[0]).unwrap_or_else(|| panic!("{name} has no {}", MARKS[0]));
    let (old, after) = rest.split_once(MARKS[1]).unwrap_or_else(|| panic!("{name} has no {}", MARKS[1]));
    let new = markdown(rows);
    if std::env::var_os("LOCKSTEP_BLESS").is_some() {
        let text = format!("{before}{}\n{new}{}{after}", MARKS[0], MARKS[1]);
        std::fs::write(document, text).unwrap_or_else(|error| panic!("{name}: {error}"));
        return;
    }
    let lines = old.trim().lines().zip(new.trim().lines()).find(|(old, new)| old != new);
    if let Some((old, new)) = lines {
        panic!("{name} says\n{old}\nbut the count is\n{new}\n(LOCKSTEP_BLESS=1 writes the table)");
    }
    assert_eq!(
        old.trim().lines().count(),
        new.trim().lines().count(),
        "{name}: rows (LOCKSTEP_BLESS=1 writes the table)"
    );
}
