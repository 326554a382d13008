//! The table of kernels, from which their structs, checks and contracts are made.

/// Kernels of a module of PTX.
///
/// ```text
/// /// Text.
/// safe Struct(S) [(f32) "symbol_f32", (bf16) "symbol_bf16"] {
///     x: read [S; rows * columns],        an array that is read, with its length
///     out: write [S; rows],               one that is overwritten (update: changed)
///     bias: maybe_read [f32; columns],    one that may be left out, null for the kernel (or maybe_update)
///     rows: size, columns: size,          counts, usize for the host and 32 bits for the kernel
///     seed: u64, factor: f32,
/// }
/// where [rows * columns => 0..=MAX_SIZE]  ranges beyond those of sizes
/// work Work::threads(rows), block Block::Any { usual: 128, most: 1024 };
/// ```
///
/// The parameters are the kernel's, in order. `safe` kernels stay within their arrays whatever these hold; of those that
/// are `trusted` the caller has to know what the arrays hold. Expressions are of `u128`, in which no product of counts
/// overflows.
macro_rules! kernels {
    (module $module:literal; $(
        $(#[$doc:meta])*
        $trust:ident $Kernel:ident($($S:ident)?) [$($(($element:ty))? $symbol:literal),+] $fields:tt
        where $limits:tt work $work:expr, block $block:expr;
    )*) => {
        $(
            kernels! { @define [$(#[$doc])*] $trust $Kernel $module [$($S)?] [$([$($element)?] $symbol),+] $fields $limits
                [$work] [$block] }
        )*

        /// Contracts of the module's kernels.
        pub(super) const CONTRACTS: &[&[&Contract]] = &[$(kernels!(@contracts $Kernel [$($(($element))?),+])),*];
    };

    // One that is generic over its elements: the struct, and the kernel of each type.
    (@define [$($doc:tt)*] $trust:ident $Kernel:ident $module:literal [$S:ident] [$([$element:ty] $symbol:literal),+]
        $fields:tt $limits:tt $work:tt $block:tt) => {
        kernels! { @struct [$($doc)*] $Kernel [, $S] $fields }
        $(kernels! {
            @impl $trust [$Kernel<'_, $element>] $module [type $S = $element;] $symbol $fields $limits $work $block
        })+
    };
    (@define [$($doc:tt)*] $trust:ident $Kernel:ident $module:literal [] [[] $symbol:literal]
        $fields:tt $limits:tt $work:tt $block:tt) => {
        kernels! { @struct [$($doc)*] $Kernel [] $fields }
        kernels! { @impl $trust [$Kernel<'_>] $module [] $symbol $fields $limits $work $block }
    };

    (@struct [$($doc:tt)*] $Kernel:ident [$($generics:tt)*]
        { $($field:ident: $kind:ident $([$element:ty; $length:expr])?),* $(,)? }) => {
        $($doc)*
        pub struct $Kernel<'a $($generics)*> {
            $(
                #[doc = kernels!(@doc $kind $([$length])?)]
                pub $field: kernels!(@type 'a $kind $($element)?),
            )*
        }
    };

    (@impl $trust:ident [$Kernel:ty] $module:literal [$($alias:tt)*] $symbol:literal
        { $($field:ident: $kind:ident $([$element:ty; $length:expr])?),* $(,)? }
        [$($limited:expr => $range:expr),* $(,)?] [$work:expr] [$block:expr]) => {
        // SAFETY: the table says what the kernel's text says, and tests compare it with the PTX and with each kernel's
        // accesses in the emulator.
        unsafe impl Kernel for $Kernel {
            const CONTRACT: &'static Contract = {
                $($alias)*
                &Contract {
                    name: $symbol,
                    module: $module,
                    parameters: &[
                        $(Parameter { name: stringify!($field), kind: kernels!(@kind $kind $($element)?) }),*
                    ],
                    block: $block,
                }
            };

            #[allow(unused_variables, reason = "not every number is a factor of a length")]
            fn describe<'k>(&'k self, call: &mut Call<'k>) -> Result<Work, LaunchError> {
                $(kernels! { @let $kind $field self call })*
                $(call.limit(stringify!($limited), $limited, $range)?;)*
                $(call.$kind(stringify!($field), &self.$field $(, $length)?)?;)*
                Ok($work)
            }
        }
        kernels! { @trust $trust $Kernel }
    };

    (@trust safe $Kernel:ty) => {
        // SAFETY: its addresses depend on its numbers alone.
        unsafe impl Checked for $Kernel {}
    };
    (@trust trusted $Kernel:ty) => {};

    (@contracts $Kernel:ident [$(($element:ty)),+]) => {
        &[$(<$Kernel<'static, $element> as Kernel>::CONTRACT),+]
    };
    (@contracts $Kernel:ident []) => {
        &[<$Kernel<'static> as Kernel>::CONTRACT]
    };

    // Sizes by their names, for lengths and limits.
    (@let size $field:ident $self:ident $call:ident) => {
        let $field = $call.limit(stringify!($field), $self.$field as u128, 0..=MAX_SIZE)?;
    };
    (@let u64 $field:ident $self:ident $call:ident) => {
        let $field = u128::from($self.$field);
    };
    (@let $kind:ident $field:ident $self:ident $call:ident) => {};

    (@type $a:lifetime read $element:ty) => { View<$a, $element> };
    (@type $a:lifetime maybe_read $element:ty) => { Option<View<$a, $element>> };
    (@type $a:lifetime maybe_update $element:ty) => { Option<ViewMut<$a, $element>> };
    (@type $a:lifetime $written:ident $element:ty) => { ViewMut<$a, $element> };
    (@type $a:lifetime size) => { usize };
    (@type $a:lifetime $number:ident) => { $number };

    (@kind size) => { Kind::Size };
    (@kind u64) => { Kind::U64 };
    (@kind f32) => { Kind::F32 };
    (@kind read $element:ty) => { Kind::Pointer { element: size_of::<$element>(), written: false } };
    (@kind maybe_read $element:ty) => { kernels!(@kind read $element) };
    (@kind $written:ident $element:ty) => { Kind::Pointer { element: size_of::<$element>(), written: true } };

    (@doc read [$length:expr]) => { concat!("Read: `", stringify!($length), "` elements.") };
    (@doc write [$length:expr]) => { concat!("Overwritten: `", stringify!($length), "` elements.") };
    (@doc update [$length:expr]) => { concat!("Changed: `", stringify!($length), "` elements.") };
    (@doc maybe_read [$length:expr]) => { concat!("Read, if given: `", stringify!($length), "` elements.") };
    (@doc maybe_update [$length:expr]) => { concat!("Changed, if given: `", stringify!($length), "` elements.") };
    (@doc size) => { "A size, below 2^31." };
    (@doc $number:ident) => { "A number." };
}
pub(super) use kernels;
