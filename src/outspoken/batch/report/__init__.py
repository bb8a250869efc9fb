"""The report of a batch: one page of HTML that loads nothing.

- `source`: the folder of results: what it is, and the rows of its parts
- `buckets`: periods of time, or portions of files, that rows are counted by
- `examples`: rows that are kept as examples
- `tally`: the counts of all rows, and the examples; calls with invalid arguments
- `page`: the HTML, by the template `page.html`, and `write_report`
"""
