"""What people and programs read: the report, its tables and the command line."""
