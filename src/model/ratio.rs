//! Shares of a whole and factors, comparable exactly.

use serde::{Deserialize, Serialize};

/// A share between 0 and 1, in thousandths, so that options compare exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ratio(u16);

impl Ratio {
    /// The whole.
    pub const ALL: Self = Self(1_000);

    /// The share `thousandths / 1000`; more than 1 counts as 1.
    pub const fn from_thousandths(thousandths: u16) -> Self {
        Self(if thousandths > 1_000 { 1_000 } else { thousandths })
    }

    /// `share` to the thousandth; less than 0 counts as 0, more than 1 as 1.
    pub fn rounded(share: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
        Self((share.clamp(0.0, 1.0) * 1_000.0).round() as u16)
    }

    /// The share of `part` in `whole`, rounded; nothing of nothing is 0.
    pub fn share(part: usize, whole: usize) -> Self {
        let thousandths = (part * 1_000 + whole / 2).checked_div(whole).unwrap_or(0);
        Self(u16::try_from(thousandths).unwrap_or(1_000).min(1_000))
    }

    /// The share as a number between 0 and 1.
    pub fn as_f32(self) -> f32 {
        f32::from(self.0) / 1_000.0
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
        Ok(Self::rounded(share))
    }
}

/// A factor between 0 and 100, in thousandths, so that options compare exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factor(u32);

impl Factor {
    const MOST: u32 = 100;

    /// The factor `thousandths / 1000`; more than 100 counts as 100.
    pub const fn from_thousandths(thousandths: u32) -> Self {
        let most = Self::MOST * 1_000;
        Self(if thousandths > most { most } else { thousandths })
    }

    /// That many times `number`, rounded down.
    pub fn times(self, number: u64) -> u64 {
        number.saturating_mul(u64::from(self.0)) / 1_000
    }
}

impl Serialize for Factor {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(f64::from(self.0) / 1_000.0)
    }
}

impl<'de> Deserialize<'de> for Factor {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let factor = f64::deserialize(deserializer)?;
        if !(0.0..=f64::from(Self::MOST)).contains(&factor) {
            return Err(serde::de::Error::custom(format!("{factor} is not between 0 and 100")));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100000")]
        Ok(Self((factor * 1_000.0).round() as u32))
    }
}
