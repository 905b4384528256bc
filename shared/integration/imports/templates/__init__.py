"""Templates: workbooks that users fill in and upload."""
