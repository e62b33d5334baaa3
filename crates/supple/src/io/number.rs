//! Numbers of binary files: what they are, and how their bytes become values.

/// The type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Number {
    /// Bytes of one.
    pub(super) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Values from bytes, integers beyond 2⁵³ rounded; what is left over after the last whole one is not looked at.
    pub(super) fn decode<T>(
        self,
        bytes: &[u8],
        big_endian: bool,
        convert: impl Fn(f64) -> T,
    ) -> Vec<T> {
        macro_rules! each {
            ($kind:ty, $size:literal, $wide:expr) => {
                bytes
                    .as_chunks::<$size>()
                    .0
                    .iter()
                    .map(|&b| {
                        let x = if big_endian {
                            <$kind>::from_be_bytes(b)
                        } else {
                            <$kind>::from_le_bytes(b)
                        };
                        convert(($wide)(x))
                    })
                    .collect()
            };
        }
        match self {
            Self::I8 => each!(i8, 1, f64::from),
            Self::U8 => each!(u8, 1, f64::from),
            Self::I16 => each!(i16, 2, f64::from),
            Self::U16 => each!(u16, 2, f64::from),
            Self::I32 => each!(i32, 4, f64::from),
            Self::U32 => each!(u32, 4, f64::from),
            Self::I64 => each!(i64, 8, |x| x as f64),
            Self::U64 => each!(u64, 8, |x| x as f64),
            Self::F32 => each!(f32, 4, f64::from),
            Self::F64 => each!(f64, 8, f64::from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_byte_orders_give_the_same_values() {
        let little = [1.5_f64, -2.0].map(f64::to_le_bytes).concat();
        let big = [1.5_f64, -2.0].map(f64::to_be_bytes).concat();
        assert_eq!(Number::F64.decode(&little, false, |x| x), [1.5, -2.0]);
        assert_eq!(Number::F64.decode(&big, true, |x| x), [1.5, -2.0]);
        assert_eq!(Number::I16.decode(&[0xff, 0xfe, 9], true, |x| x), [-2.0]);
    }
}
