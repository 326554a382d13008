//! Plain code that tests compare against.
