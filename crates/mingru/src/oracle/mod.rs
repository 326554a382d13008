//! Serial references that tests compare against. They share no code with the scan.
