// SPDX-License-Identifier: Apache-2.0
// One key is one answer. Without this script the buttons of the page do the same, a page at a time.
"use strict";

(() => {
  // The token has become a cookie; it need not stay in the address, to be copied or seen.
  const here = new URL(window.location);
  if (here.searchParams.has("token")) {
    here.searchParams.delete("token");
    window.history.replaceState(null, "", here);
  }
  const work = document.getElementById("work");
  if (!work) return;
  const trouble = document.getElementById("trouble");
  const guidelines = document.getElementById("guidelines");
  const actions = new Map(Object.entries(document.body.dataset).map(([action, key]) => [key, action]));
  const waiting = []; // keys that were pressed while an answer was on its way
  let busy = false;

  const button = (action) => work.querySelector(`button[data-action="${action}"]`);

  async function send(form, submitter) {
    if (busy) return;
    busy = true;
    const fields = new URLSearchParams(new FormData(form, submitter));
    const question = work.querySelector("form.question");
    // Who goes from button to button by keyboard stays where they are.
    const focused = submitter.matches(":focus-visible") && submitter.dataset.action;
    if (form !== question && question) {
      const given = new FormData(question);
      fields.set("at", given.get("at"));
      if (submitter.dataset.action === "skip") fields.set("reason", given.get("reason"));
    }
    try {
      const answer = await fetch(submitter.formAction, {
        method: "POST", body: fields, headers: { "x-part": "1" },
      });
      if (!answer.ok) {
        const told = await answer.json().catch(() => ({}));
        throw new Error(told.error || `the server says ${answer.status}`, { cause: answer });
      }
      work.innerHTML = await answer.text();
      if (focused) button(focused)?.focus();
      trouble.hidden = true;
      document.documentElement.dataset.answers = String(Number(document.documentElement.dataset.answers || 0) + 1);
    } catch (problem) {
      waiting.length = 0;
      trouble.textContent = problem.cause
        ? `That was not kept: ${problem.message}`
        : "The server does not answer, and your last answer may not have been kept. "
        + "Start it again if need be, then repeat the answer: what was kept already is not asked twice.";
      trouble.hidden = false;
    } finally {
      busy = false;
    }
    if (waiting.length) press(waiting.shift());
  }

  function press(action) {
    if (busy) { waiting.push(action); return; }
    if (action === "guidelines") { guidelines.open ? guidelines.close() : guidelines.showModal(); return; }
    if (action === "comment") { work.querySelector("input[name=reason]")?.focus(); return; }
    if (action === "quit") { window.location.assign("/"); return; }
    const found = button(action);
    if (found) found.form.requestSubmit(found);
    else if (waiting.length) press(waiting.shift());
  }

  document.addEventListener("submit", (event) => {
    if (!work.contains(event.target) || !event.submitter) return;
    event.preventDefault();
    send(event.target, event.submitter);
  });

  const give = (reason) => { work.querySelector("input[name=reason]").value = reason.value; };

  document.addEventListener("click", (event) => {
    const reason = event.target.closest("button[data-reason]");
    if (reason) give(reason);
    if (event.target.closest("[data-opens=guidelines]")) guidelines.showModal();
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input")) {
      // Enter ends the reason; the next key answers.
      if (event.key === "Enter" || event.key === "Escape") { event.preventDefault(); event.target.blur(); }
      return;
    }
    if (guidelines.open && event.key !== "Escape" && actions.get(event.key) !== "guidelines") return;
    const reason = /^[1-9]$/.test(event.key) && work.querySelector(`button[data-reason="${event.key}"]`);
    if (reason) { give(reason); return; }
    const action = actions.get(event.key) || actions.get(event.key.toLowerCase());
    if (!action) return;
    event.preventDefault();
    if (event.repeat) return; // a key that is held down is one answer
    press(action);
  });
  document.documentElement.dataset.ready = "1";
})();
