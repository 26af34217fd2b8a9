//! How text looks, whatever it says: colour and width, numbers, tables, HTML and XML.

pub(crate) mod markup;
pub mod number;
pub(crate) mod style;
pub mod table;
