"""A rigged, animated character goes in; the same with flesh that moves comes out."""
