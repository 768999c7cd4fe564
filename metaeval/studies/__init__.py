"""Studies, one folder per subject: from blocks to results. They know no question."""
