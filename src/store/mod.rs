//! Directories in which agents keep spills: what is there, and when each entry will be deleted.
