//! Model vendors behind one interface; still empty.
