//! Serial references that tests compare against: the definitions, unit by unit, with every intermediate in memory.
//! They share no code with the scan.
//!
//! [`contract`] rounds to f32 as the contract says, and the scan must give its bits. [`double`] is f64 throughout, and
//! bounds the error of both.
pub mod contract;
pub mod double;
pub mod stack;

/// Operands of a scan, and gradients of a loss to its results.
#[derive(Clone, Debug)]
pub struct Case<T> {
    /// B, T, H.
    pub shape: (usize, usize, usize),
    /// (B, T, 3H).
    pub combined: Vec<T>,
    /// (B, T, H).
    pub x: Vec<T>,
    /// (B, T).
    pub keep: Vec<T>,
    /// (B, H).
    pub h0: Vec<T>,
    /// (B, T, H).
    pub d_out: Vec<T>,
    /// (B, H).
    pub d_h_last: Vec<T>,
}

/// All results of a scan and its backward pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Results<T> {
    /// (B, T, H): the states.
    pub h: Vec<T>,
    /// (B, T, H).
    pub out: Vec<T>,
    /// (B, H).
    pub h_last: Vec<T>,
    /// (B, T, 3H).
    pub d_combined: Vec<T>,
    /// (B, T, H).
    pub d_x: Vec<T>,
    /// (B, H).
    pub d_h0: Vec<T>,
}

impl<T: Copy> Case<T> {
    /// The same case with every number converted.
    pub fn map<U>(&self, f: impl Fn(T) -> U) -> Case<U> {
        let convert = |v: &[T]| v.iter().map(|&a| f(a)).collect();
        Case {
            shape: self.shape,
            combined: convert(&self.combined),
            x: convert(&self.x),
            keep: convert(&self.keep),
            h0: convert(&self.h0),
            d_out: convert(&self.d_out),
            d_h_last: convert(&self.d_h_last),
        }
    }
}
