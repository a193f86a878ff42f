# SPDX-License-Identifier: Apache-2.0
"""Live runs: a corpus that is served word by word or in slices of audio, agents that translate it.

    corpus --> session (what each sentence has read and written, when) --> scores, files, event log
                  ^
      in process, or through the server and its client: agents

One session object stands behind all ways in. Whatever happens in it is appended to the event log
of `assay.tasks.simul.events`, from which everything can be scored again later.
"""
