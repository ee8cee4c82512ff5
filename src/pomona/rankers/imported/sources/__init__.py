"""Where models of others come from: files, and objects in memory."""
