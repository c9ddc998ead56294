"""Keep what runs measured in one folder, docs/record, row by row, and build its page from the rows.

`rows` holds the tables of rows, `sources` the records of the runs they are from, `restoring` makes
aggregates of them again, `page` shows them, and `writing` updates the folder.
"""
