"""A study loaded from its run folders and analysed: what report and later commands share."""
