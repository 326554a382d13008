//! One instruction on a table of operands.

use cuda_emu::{Checks, Grid};

use super::{Arg, Bench};

/// Register declarations and loads for an operand of this type.
fn class(ty: &str) -> (&'static str, u32) {
    match ty {
        "pred" => ("pred", 1),
        "b8" | "u8" | "s8" | "b16" | "u16" | "s16" | "f16" | "bf16" => ("b16", 16),
        "b64" | "u64" | "s64" | "f64" => ("b64", 64),
        _ => ("b32", 32),
    }
}

/// What `instruction` gives for each case. Its operands are `d` (destination), `a`, `b`, `c`, written `%d` and so on;
/// `types` has those of `a`, `b`, ... in order. Values are bits; a predicate is 0 or 1.
pub fn eval(instruction: &str, d: &str, types: &[&str], cases: &[&[u64]]) -> Vec<u64> {
    let bench = Bench::new(&kernel(instruction, d, types)).checks(Checks::NONE).threads(1);
    let names = ["a", "b", "c", "x"];
    let mut parameters = vec![Arg::U64(0); 6];
    for (i, _) in names.iter().enumerate().take(types.len()) {
        let column: Vec<u64> = cases.iter().map(|case| case[i]).collect();
        parameters[i] = Arg::U64(bench.buffer(&column));
    }
    let out = bench.buffer(&vec![0xdead_beef_dead_beef_u64; cases.len()]);
    parameters[4] = Arg::U64(out);
    parameters[5] = Arg::U32(cases.len() as u32);
    bench.run("k", &Grid::linear((cases.len() as u32).div_ceil(64), 64), &parameters);
    bench.read::<u64>(out, cases.len())
}

fn kernel(instruction: &str, d: &str, types: &[&str]) -> String {
    let mut text = String::from(
        ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 px, .param .u64 out, .param .u32 n)
{
.reg .pred %outside, %p, %q; .reg .b32 %i, %t, %w; .reg .b64 %at, %base, %wide;
mov.u32 %i, %ctaid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %i, 64, %t; ld.param.u32 %w, [n];
setp.ge.u32 %outside, %i, %w; @%outside ret;
mul.wide.u32 %at, %i, 8;
",
    );
    for (name, ty) in ["a", "b", "c", "x"].iter().zip(types) {
        let (register, bits) = class(ty);
        text += &format!(".reg .{register} %{name}; ld.param.u64 %base, [p{name}]; add.u64 %base, %base, %at;\n");
        text += &match bits {
            1 => format!("ld.global.u32 %w, [%base]; setp.ne.u32 %{name}, %w, 0;\n"),
            bits => format!("ld.global.b{bits} %{name}, [%base];\n"),
        };
    }
    let (register, bits) = class(d);
    text += &format!(".reg .{register} %d;\n{instruction}\nld.param.u64 %base, [out]; add.u64 %base, %base, %at;\n");
    text += &match bits {
        1 => "selp.b64 %wide, 1, 0, %d;\n".to_owned(),
        16 => "cvt.u64.u16 %wide, %d;\n".to_owned(),
        32 => "cvt.u64.u32 %wide, %d;\n".to_owned(),
        _ => "mov.b64 %wide, %d;\n".to_owned(),
    };
    text + "st.global.u64 [%base], %wide;\nret;\n}"
}

/// A table: the outcome for each case must be the last number of its row.
#[track_caller]
pub fn table(instruction: &str, d: &str, types: &[&str], rows: &[&[u64]]) {
    let cases: Vec<&[u64]> = rows.iter().map(|row| &row[..row.len() - 1]).collect();
    let got = eval(instruction, d, types, &cases);
    for (row, got) in rows.iter().zip(got) {
        let wanted = row[row.len() - 1];
        assert_eq!(got, wanted, "{instruction} of {:x?} is {got:#x}, not {wanted:#x}", &row[..row.len() - 1]);
    }
}

/// All pairs (with repeats) of values.
pub fn pairs(values: &[u64]) -> Vec<Vec<u64>> {
    values.iter().flat_map(|&a| values.iter().map(move |&b| vec![a, b])).collect()
}

/// All triples of values.
pub fn triples(values: &[u64]) -> Vec<Vec<u64>> {
    pairs(values).into_iter().flat_map(|p| values.iter().map(move |&c| vec![p[0], p[1], c])).collect()
}

/// Compares with a formula over all given cases.
#[track_caller]
pub fn agrees(instruction: &str, d: &str, types: &[&str], cases: &[Vec<u64>], formula: impl Fn(&[u64]) -> u64) {
    let borrowed: Vec<&[u64]> = cases.iter().map(Vec::as_slice).collect();
    for (case, got) in cases.iter().zip(eval(instruction, d, types, &borrowed)) {
        let wanted = formula(case);
        assert_eq!(got, wanted, "{instruction} of {case:x?} is {got:#x}, not {wanted:#x}");
    }
}

/// The next number of a fixed sequence (splitmix64).
pub fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}
