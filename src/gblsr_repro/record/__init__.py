"""Keep what every seed measured in one folder, docs/record, and build its page from these values.

`values` holds the tables of values and of runs, `sources` what the runs wrote of their conditions,
`restoring` makes aggregates of them again, `page` shows them, and `writing` updates the folder.
"""
