//! The heart: how an agent cuts an output before its model reads it. Pure: bytes in, parts out.
