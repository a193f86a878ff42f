# SPDX-License-Identifier: Apache-2.0
"""Sessions of several judges in their browsers.

office    who sits where: one session per judge, opened when it is needed
app       what can be asked of the server
pages     HTML, made on the server
static/   one style sheet and one small script, both optional
"""
