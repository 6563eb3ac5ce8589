//! Face: all servers behind one MCP endpoint; still empty.
