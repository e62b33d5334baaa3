//! Procedural demo shapes and rigs: the same bits on every machine.
