# SPDX-License-Identifier: Apache-2.0
"""Human judgement that is kept, found again and trusted: for the predictions of any task.

verdict     one answer of one person about one prediction
appending   files that are only added to: flushed to the device one by one, locked
records     files of such records, torn last lines and all
log         one person's verdicts on disk
sheets      verdicts in CSV files of the old kind, read in place and written
store       a folder of logs and sheets: who said what, conflicts, look-up
agreement   how far people agree, corrected for chance, with intervals
sample      which items were drawn, by which seed, from which frame
estimate    from the judged sample to the whole set
evidence    is one system better: may be looked at after every verdict
queue       what one person is asked, in which order
session     answers, undo, redo, skip, back
terminal    a session at a keyboard or a pipe
browser     sessions of several people in their browsers
"""
