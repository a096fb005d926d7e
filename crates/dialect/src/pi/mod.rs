//! The pi family (pi, oh-my-pi, xcsh, and boswell itself): an entry tree in JSON Lines.
