//! A share of a whole, comparable exactly.

use serde::{Deserialize, Serialize};

/// A share between 0 and 1, in thousandths, so that options compare exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio(u16);

impl Ratio {
    /// The share `thousandths / 1000`; more than 1 counts as 1.
    pub const fn from_thousandths(thousandths: u16) -> Self {
        Self(if thousandths > 1_000 { 1_000 } else { thousandths })
    }

    /// That share of `whole`, rounded down.
    pub fn of(self, whole: usize) -> usize {
        whole * usize::from(self.0) / 1_000
    }
}

impl Serialize for Ratio {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(f64::from(self.0) / 1_000.0)
    }
}

impl<'de> Deserialize<'de> for Ratio {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let share = f64::deserialize(deserializer)?;
        if !(0.0..=1.0).contains(&share) {
            return Err(serde::de::Error::custom(format!("{share} is not between 0 and 1")));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
        Ok(Self((share * 1_000.0).round() as u16))
    }
}
