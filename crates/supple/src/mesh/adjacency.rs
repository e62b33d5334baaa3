//! Who is next to whom, in compressed rows.
