"""Reading rows: files, frames, streams and arrays become pieces of checked rows."""
