"""The report of a batch: one page of HTML that loads nothing.

- `source`: the folder of results: what it is, and its parts as chunks of rows
- `buckets`: periods of time, or portions of files, that rows are counted by
- `arguments`: calls with invalid arguments
- `examples`: rows that are kept as examples
- `tally`: the counts of all rows, and the examples
- `page`: the HTML, by the template `page.html`
- `write`: `write_report`
"""
