//! A campaign's text: [`progress`] while it runs, [`closing`] when it is over, with what [`search`] and [`sampling`] say;
//! many tests ([`suite`]) and many strategies ([`compare`]) side by side; memory orders ([`strength`]).

pub mod closing;
pub mod compare;
pub mod progress;
pub mod sampling;
pub mod search;
pub mod status;
pub mod strength;
pub mod suite;
