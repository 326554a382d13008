//! Run-time choice of the instruction set.
//!
//! A [`Kernel`] is plain scalar code in an `#[inline(always)]` function; [`Isa::run`] compiles it once for each
//! instruction set and LLVM vectorizes each copy. The bits cannot differ: every operation is correctly rounded and
//! nothing is contracted or reordered.
//!
//! Whatever isn't inlined into a copy is compiled for the baseline, and its `fma` is a call. So inside a kernel loops
//! are written as loops, and parts are handed over as traits with `#[inline(always)]` methods: closures, functions
//! passed as arguments and `std` adapters that loop (`fold`, `for_each`, `array::map`) may stay outside.

#[cfg(feature = "std")]
use core::sync::atomic::{AtomicU8, Ordering};

/// What [`Isa::detect`] found; 0 before its first call.
#[cfg(feature = "std")]
static DETECTED: AtomicU8 = AtomicU8::new(0);

/// Work that is compiled once for each instruction set. `run` must be `#[inline(always)]`, and so must all it calls.
pub trait Kernel {
    /// What the work returns.
    type Output;
    /// Does the work.
    fn run(self) -> Self::Output;
}

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Isa {
    /// The target's baseline.
    Scalar,
    /// AVX2 and FMA.
    Avx2,
    /// AVX-512 F, VL, BW and DQ.
    Avx512,
}

impl Isa {
    /// The best one that this machine has: one relaxed load after the first call. Without `std`, which has the
    /// detection, always the baseline.
    ///
    /// The environment variable `LOCKSTEP_ISA`, read once, sets an upper limit: `scalar`, `avx2` or `avx512`; any
    /// other value sets none. It is there to compare whole programs, which must give the same bits under each.
    #[inline]
    pub fn detect() -> Self {
        #[cfg(feature = "std")]
        return match DETECTED.load(Ordering::Relaxed) {
            1 => Self::Scalar,
            2 => Self::Avx2,
            3 => Self::Avx512,
            _ => Self::detect_slowly(),
        };
        #[cfg(not(feature = "std"))]
        Self::Scalar
    }

    #[cfg(feature = "std")]
    #[cold]
    fn detect_slowly() -> Self {
        let mut best = Self::Scalar;
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("bmi2") {
                best = Self::Avx2;
                if is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                {
                    best = Self::Avx512;
                }
            }
        }
        let limit = match std::env::var("LOCKSTEP_ISA").as_deref() {
            Ok("scalar") => Self::Scalar,
            Ok("avx2") => Self::Avx2,
            _ => Self::Avx512,
        };
        let best = best.min(limit);
        let code = match best {
            Self::Scalar => 1,
            Self::Avx2 => 2,
            Self::Avx512 => 3,
        };
        DETECTED.store(code, Ordering::Relaxed);
        best
    }

    /// Whether this machine can run it.
    #[inline]
    pub fn is_available(self) -> bool {
        self <= Self::detect()
    }

    /// Runs `kernel`, compiled for this instruction set (for the best one below it, where the machine lacks it).
    #[inline]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        {
            #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,bmi2")]
            unsafe fn avx512<K: Kernel>(kernel: K) -> K::Output {
                kernel.run()
            }
            #[target_feature(enable = "avx2,fma,bmi2")]
            unsafe fn avx2<K: Kernel>(kernel: K) -> K::Output {
                kernel.run()
            }
            match self.min(Self::detect()) {
                // SAFETY: `detect` saw the features.
                Self::Avx512 => return unsafe { avx512(kernel) },
                // SAFETY: `detect` saw the features.
                Self::Avx2 => return unsafe { avx2(kernel) },
                Self::Scalar => {}
            }
        }
        kernel.run()
    }
}
