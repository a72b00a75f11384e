//! Opening what is looked at: files by a guarded memory map, pipes and standard input.
