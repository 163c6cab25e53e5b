"""Pages that tell of runs, designs and characters."""
