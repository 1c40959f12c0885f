"""Results of learners on data sets: read from any form, compared, and shown."""
