"""glTF: motions and characters, in and out."""
