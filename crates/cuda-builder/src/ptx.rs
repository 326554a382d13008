//! What a text of PTX holds.

use crate::error::Error;

/// A kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// The types of its parameters in order: `u64` for a pointer, `f32`, `b8[24]` for 24 bytes, ...
    pub parameters: Vec<String>,
}

/// The kernels of `ptx`, sorted by name.
pub fn kernels(ptx: &str) -> Vec<Kernel> {
    let mut kernels = Vec::new();
    let mut lines = ptx.lines();
    while let Some(line) = lines.next() {
        let Some((_, rest)) = line.split_once(".entry ") else { continue };
        let name = rest.split(|c: char| c == '(' || c.is_whitespace()).next().unwrap_or_default().to_owned();
        let mut parameters = Vec::new();
        if !rest.contains(')') {
            for line in lines.by_ref().take_while(|line| !line.trim_start().starts_with(')')) {
                parameters.extend(parameter(line));
            }
        }
        kernels.push(Kernel { name, parameters });
    }
    kernels.sort_by(|a, b| a.name.cmp(&b.name));
    kernels
}

/// The type in a line like `.param .u64 .ptr .align 1 add_param_0,`.
fn parameter(line: &str) -> Option<String> {
    let mut words = line.trim().trim_end_matches(',').strip_prefix(".param ")?.split_whitespace();
    let mut kind = words.next()?;
    if kind == ".align" {
        words.next()?;
        kind = words.next()?;
    }
    let size = words.next_back().and_then(|name| name.find('[').map(|at| &name[at..]));
    Some(format!("{}{}", kind.trim_start_matches('.'), size.unwrap_or_default()))
}

/// Functions that are called rather than inlined, by name in the order of the text. Kernels aren't among them.
pub fn functions(ptx: &str) -> Vec<&str> {
    declarations(ptx).filter(|(_, line, _)| !line.starts_with(".extern")).map(|(_, _, name)| name).collect()
}

/// That every function is defined: `vprintf` and its like, which the driver has, may be missing.
///
/// # Errors
/// [`Error::Unresolved`].
pub fn check_resolved(ptx: &str) -> Result<(), Error> {
    const OF_THE_DRIVER: [&str; 4] = ["vprintf", "malloc", "free", "__assertfail"];
    let missing =
        |&(_, line, name): &(usize, &str, &str)| line.starts_with(".extern") && !OF_THE_DRIVER.contains(&name);
    match declarations(ptx).find(missing) {
        Some((line, _, name)) => Err(Error::Unresolved { symbol: name.to_owned(), line }),
        None => Ok(()),
    }
}

/// Line number, line and name of each `.func`.
fn declarations(ptx: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    ptx.lines().enumerate().filter_map(|(i, line)| {
        let (_, rest) = line.trim().split_once(".func ")?;
        // What it returns stands in parentheses before the name.
        let rest = rest.trim_start();
        let rest = if rest.starts_with('(') { rest.split_once(')')?.1.trim_start() } else { rest };
        let name = rest.split(|c: char| c == '(' || c.is_whitespace()).next()?;
        Some((i + 1, line.trim(), name))
    })
}

/// That every operation on floats is correctly rounded, keeps subnormals, and can't be contracted by the driver.
///
/// # Errors
/// [`Error::NotExact`] with the first instruction that isn't.
pub fn check_exact(ptx: &str) -> Result<(), Error> {
    for (i, line) in ptx.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default().trim();
        let mut words = code.split_whitespace();
        let first = words.next().unwrap_or_default();
        let opcode = if first.starts_with('@') { words.next().unwrap_or_default() } else { first };
        if !is_exact(opcode.trim_end_matches(';')) {
            return Err(Error::NotExact { instruction: code.to_owned(), line: i + 1 });
        }
    }
    Ok(())
}

fn is_exact(opcode: &str) -> bool {
    let mut parts = opcode.split('.');
    let operation = parts.next().unwrap_or_default();
    let parts: Vec<_> = parts.collect();
    let has = |part: &str| parts.contains(&part);
    if operation.is_empty() || has("approx") || has("ftz") || has("full") {
        return operation.is_empty();
    }
    let on_floats = ["f16", "f16x2", "bf16", "bf16x2", "f32", "f32x2", "f64"].iter().any(|kind| has(kind));
    let rounded = ["rn", "rz", "rm", "rp"].iter().any(|rounding| has(rounding));
    match operation {
        // Without a rounding these may become part of a fused operation (PTX ISA, add, sub and mul).
        "add" | "sub" | "mul" | "mad" | "div" | "sqrt" | "rcp" if on_floats => rounded,
        // There is no other form of these.
        "ex2" | "lg2" | "sin" | "cos" | "tanh" | "rsqrt" => false,
        // The order of concurrent additions isn't determined.
        "atom" | "red" if on_floats => !has("add"),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
.version 6.3
.target sm_75
.extern .func  (.param .b32 func_retval0) vprintf
(
	.param .b64 vprintf_param_0
)
;
.func  (.param .b32 func_retval0) __unnamed_1(
	.param .b64 __unnamed_1_param_0
)
.visible .entry sum_f32(
	.param .u64 .ptr .align 1 sum_f32_param_0,
	.param .f32 sum_f32_param_1,
	.param .align 8 .b8 sum_f32_param_2[24]
)                                       // @sum_f32
{
	add.rn.f32 	%r1, %r2, %r3;
}
.visible .entry nothing()
";

    #[test]
    fn kernels_have_names_and_parameters() {
        let expected = [("nothing", vec![]), ("sum_f32", vec!["u64", "f32", "b8[24]"])];
        let expected = expected.map(|(name, parameters)| Kernel {
            name: name.to_owned(),
            parameters: parameters.into_iter().map(str::to_owned).collect(),
        });
        assert_eq!(kernels(TEXT), expected);
    }

    #[test]
    fn functions_are_told_from_declarations() {
        assert_eq!(functions(TEXT), ["__unnamed_1"]);
        assert!(check_resolved(TEXT).is_ok());
        let text = TEXT.replace("vprintf", "fmaf");
        let error = check_resolved(&text).unwrap_err();
        assert!(matches!(&error, Error::Unresolved { symbol, line: 3 } if symbol == "fmaf"), "{error}");
    }

    #[test]
    fn inexact_instructions_are_found() {
        for exact in [
            "add.rn.f32",
            "fma.rn.f32",
            "div.rn.f64",
            "sqrt.rn.f32",
            "add.s64",
            "mul.wide.u32",
            "mad.lo.s32",
            "mul.hi.u64",
            "abs.f32",
            "min.f32",
            "setp.gt.f32",
            "cvt.rn.f32.f64",
            "ld.param.b32",
            "atom.global.add.u64",
            "ret",
            "{",
            ".reg",
            "sub.rz.f32",
            "div.u32",
            "atom.global.max.u32",
            "st.global.v4.f32",
        ] {
            assert!(is_exact(exact), "{exact}");
        }
        for inexact in [
            "add.f32",
            "mul.f64",
            "sub.f32",
            "add.rn.ftz.f32",
            "div.full.f32",
            "div.approx.f32",
            "ex2.approx.f32",
            "tanh.approx.f32",
            "rcp.approx.ftz.f32",
            "mad.f32",
            "sqrt.approx.f32",
            "atom.global.add.f32",
            "red.global.add.f64",
            "add.f16x2",
            "lg2.approx.f32",
        ] {
            assert!(!is_exact(inexact), "{inexact}");
        }
        assert!(check_exact(TEXT).is_ok());
        let error = check_exact(&TEXT.replace("add.rn.f32", "@%p1 mul.f32")).unwrap_err();
        assert!(matches!(error, Error::NotExact { line: 17, .. }), "{error}");
        assert!(check_exact("// ex2.approx.f32\n\tret; // add.f32").is_ok());
    }
}
