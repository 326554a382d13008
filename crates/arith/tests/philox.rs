//! The known-answer vectors of Random123 (Salmon et al., SC 2011; file `kat_vectors`, philox4x32 10).

use arith::philox::philox4x32_10;

#[test]
fn known_answers() {
    let all = u32::MAX;
    for (key, counter, want) in [
        ([0; 2], [0; 4], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
        ([all; 2], [all; 4], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
        (
            [0xa409_3822, 0x299f_31d0],
            [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
        ),
    ] {
        assert_eq!(philox4x32_10(key, counter), want);
    }
}

/// A stream is Philox under another address: the key is the seed, the counter is (index, stream), low words first.
#[test]
fn the_address_of_a_block() {
    let stream = arith::random::Stream::new(0x299f_31d0_a409_3822, 0x0370_7344_1319_8a2e);
    assert_eq!(stream.block(0x85a3_08d3_243f_6a88), [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]);
    assert_eq!(stream.word((0x05a3_08d3_243f_6a88 << 2) | 2), stream.block(0x05a3_08d3_243f_6a88)[2]);
}
