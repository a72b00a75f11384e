//! Every policy of the engine against a naive second implementation written from the documents.
mod naive;
