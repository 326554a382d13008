//! Text that can't be loaded: the error and its line. And text of any kind: no panic.

mod common;

use common::eval::next;
use cuda_emu::{LoadError, Module};

fn error(body: &str) -> LoadError {
    let text = format!(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{{\n{body}\n}}\n");
    Module::load(&text).map(|_| ()).expect_err(&text)
}

#[test]
fn errors_name_their_line() {
    let declared = ".reg .b32 %r<4>; .reg .pred %p; .reg .b64 %rd;\n";
    for (body, line) in [
        ("frobnicate.u32 %r1, %r2;", 7),
        ("\n\nadd.u33 %r1, %r2, %r3;", 9),
        ("add.wide.u32 %r1, %r2, %r3;", 7),
        ("add.ftz.u32 %r1, %r2, %r3;", 7),
        ("add.u32 %r1, %r2;", 7),
        ("add.u32 %r1, %r2, %r4;", 7),
        ("/* over\ntwo lines */ bra nowhere;", 8),
        ("@%r1 ret;", 7),
        ("add.u64 %r1, %rd, %rd;", 7),
        ("ld.global.u32 %r1, %r2;", 7),
        ("shfl.sync.down.b32 %r1, %r2, 1, 31;", 7),
        ("mov.u32 %r1, 0f12;", 7),
        (".reg .b32 %r1x; .reg .b32 %r1x;", 7),
        ("call missing, ();", 7),
        ("ret", 8),
        ("bar.sync;", 7),
        ("tex.2d.v4.f32.f32 {%r1, %r1, %r1, %r1}, [t, {%r1, %r1}];", 7),
    ] {
        let error = error(&format!("{declared}{body}"));
        assert_eq!(error.line(), line, "{body}: {error}");
        assert!(error.to_string().starts_with(&format!("line {line}: ")), "{error}");
    }
    assert!(matches!(error("frob.u32 %r1;"), LoadError::UnknownInstruction { .. }));
    assert!(matches!(error(".reg .b32 %r; mov.u32.sat %r, 1;"), LoadError::UnknownInstruction { .. }));
    assert!(
        matches!(error(".reg .b32 %r; add.frob.u32 %r, %r, 1;"), LoadError::UnknownModifier { modifier, .. } if modifier == "frob")
    );
    assert!(matches!(error(".reg .b32 %r; mov.u32 %r, %s;"), LoadError::Undeclared { name, .. } if name == "%s"));
}

#[test]
fn scopes_hide_names_and_debug_information_is_passed_over() {
    let text = "
.version 8.7
.target sm_90, debug
.address_size 64
.file 1 \"kernel.cu\"
.visible .entry k(.param .align 8 .b8 p[16], .param .u64 .ptr .global .align 4 q)
.maxntid 128, 1, 1
.minnctapersm 2
{
    .reg .b32 %r<3>;
    .pragma \"nounroll\";
    .loc 1 3 5
    mov.u32 %r1, 1;
    { .reg .b32 %r1; .reg .pred %p; mov.u32 %r1, 2; setp.eq.u32 %p, %r1, 2; @%p bra inner; inner: }
    { inner: }
    ld.param.u32 %r2, [p+8];
    bra.uni inner2;
    .loc 1 4 1, function_name $L__info_string0, inlined_at 1 2 3
inner2:
    ret;
}
.section .debug_str { $L__info_string0: .b8 107, 0 }
.alias other, function;
.func function() { ret; }
";
    let text = text.replace(
        ".alias other, function;\n.func function() { ret; }",
        ".func function() { ret; }\n.alias other, function;",
    );
    let module = Module::load(&text).unwrap();
    let info = module.kernel("k").unwrap();
    assert_eq!((info.parameters, info.parameter_bytes, info.max_threads), (vec![(0, 16), (16, 8)], 24, Some(128)));
}

/// Seeds of the mutations: all that other tests run.
const SEEDS: [&str; 8] = [
    include_str!("ptx/vector_add.ptx"),
    include_str!("ptx/gemm_tiled.ptx"),
    include_str!("ptx/reduce.ptx"),
    include_str!("ptx/scan.ptx"),
    include_str!("ptx/histogram.ptx"),
    include_str!("ptx/calls.ptx"),
    include_str!("ptx/loops.ptx"),
    include_str!("nvcc/ordinary.ptx"),
];

#[test]
fn no_text_makes_the_loader_panic() {
    let mut state = 11;
    let mut draw = |n: usize| (next(&mut state) % n.max(1) as u64) as usize;
    let pieces = [
        ";",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        ",",
        "|",
        "!",
        "@",
        "-",
        "+",
        ".",
        "%r1",
        "0x",
        "0f",
        "0d",
        "99999999999999999999",
        ".v4",
        ".b128",
        ".reg .b32 %r<4000000000>;",
        ".param",
        ".local .align 3 .b8 x[5];",
        "bra",
        "call",
        "\"",
        "/*",
        "é",
        "\0",
        "18446744073709551615",
        "-9223372036854775808",
        ".shared",
        "mov.b64",
        "_",
        "<",
        ".pred",
        "ld",
        "setp",
        "{{{{{{{{",
    ];
    let mut loaded = 0;
    for round in 0..1500 {
        // A window of the long ones, so that many rounds are possible.
        let seed = SEEDS[draw(SEEDS.len())];
        let start = if seed.len() > 6000 { draw(seed.len() - 5000) } else { 0 };
        let mut text: Vec<u8> = seed.as_bytes()[start..(start + 5000).min(seed.len())].to_vec();
        for _ in 0..draw(6) {
            let at = draw(text.len());
            match draw(5) {
                0 => {
                    text.truncate(at);
                }
                1 => {
                    let end = (at + draw(12)).min(text.len());
                    text.drain(at..end);
                }
                2 => text[at] = (draw(96) + 32) as u8,
                3 => {
                    let piece = pieces[draw(pieces.len())];
                    text.splice(at..at, piece.bytes());
                }
                _ => {
                    let (from, length) = (draw(text.len()), draw(40));
                    let copy: Vec<u8> = text[from..(from + length).min(text.len())].to_vec();
                    text.splice(at..at, copy);
                }
            }
            if text.is_empty() {
                break;
            }
        }
        let text = String::from_utf8_lossy(&text);
        match Module::load(&text) {
            Ok(_) => loaded += 1,
            Err(error) => assert!(error.line() as usize <= text.lines().count() + 1, "round {round}: {error}"),
        }
    }
    assert!(loaded > 50, "{loaded} texts were loaded: mutations hit too hard to reach the lowering");
}

#[test]
fn deep_nesting_is_refused() {
    let deep = "{".repeat(100_000);
    assert!(matches!(error(&deep), LoadError::Syntax { .. }));
    let deep = format!(".reg .b32 %r; mov.b32 %r, {};", "{".repeat(100_000));
    assert!(matches!(error(&deep), LoadError::Syntax { .. }));
    // Many branches and labels in a row: the order of blocks is found without recursion.
    let mut long = String::from(".reg .pred %p;\n");
    for i in 0..20_000 {
        long += &format!("@%p bra l{};\nl{i}:\n", (i * 7919) % 20_000);
    }
    let text = format!(".version 8.0\n.target sm_80\n.visible .entry k()\n{{\n{long}ret;\n}}");
    Module::load(&text).unwrap();
}
