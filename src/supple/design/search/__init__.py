"""Curves that meet wishes: strengths that are tried by releases, and why some are not met."""
