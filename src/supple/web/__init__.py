"""Scripts, style sheets and templates of pages, and how they become one file."""
