"""What every package builds on: types, checks, errors, files, threads, sparse matrices."""
