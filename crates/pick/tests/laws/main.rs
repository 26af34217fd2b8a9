//! What the papers say about the pickers, tried on toy programs with fixed seeds. The arithmetic is in the
//! comments.

mod allocations;
mod fairness;
mod orders;
mod pairs;
mod priorities;
mod reads;
mod repeats;
mod toy;

use raddle_model::{Amount, Counting, Depth, Family, Giving, PickerSpec, PlaceOrder, Smax};

/// One of each.
const PICKERS: [PickerSpec; 20] = [
    PickerSpec::Nonpreemptive,
    PickerSpec::Walk,
    PickerSpec::Rstest { per_mille: 200, giving: Giving::DEFAULT },
    PickerSpec::Stride(Smax::Fixed(5)),
    PickerSpec::Stride(Smax::Ratio { per_mille: 2_900, counting: Counting::All }),
    PickerSpec::Stride(Smax::Measured { per_mille: 3_450, counting: Counting::Contended }),
    PickerSpec::Pct(Depth::Fixed(1)),
    PickerSpec::Pct(Depth::Fixed(3)),
    PickerSpec::Pct(Depth::Drawn),
    PickerSpec::Pct(Depth::Guaranteed(3_338)),
    PickerSpec::Rpro { depth: Depth::Fixed(3), radius: Amount::Fixed(50) },
    PickerSpec::Pos,
    PickerSpec::Surw,
    PickerSpec::Urw,
    PickerSpec::Delay(Amount::Fixed(2)),
    PickerSpec::Delay(Amount::Drawn),
    PickerSpec::Sticky { per_mille: 900 },
    PickerSpec::Order { newest_first: true },
    PickerSpec::Sites,
    PickerSpec::Directed {
        family: Family::Order,
        orders: [PlaceOrder { first: 1, second: 2 }, PlaceOrder::NONE],
    },
];
