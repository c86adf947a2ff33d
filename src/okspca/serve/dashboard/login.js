// Gives a token for a session.

const SAID = {
  401: "This token is not known.",
  403: "This token may not look at models.",
  429: "Too many attempts; wait a little.",
};
const form = document.getElementById("login");
const trouble = document.getElementById("trouble");

form.addEventListener("submit", async event => {
  event.preventDefault();
  trouble.textContent = "";
  const body = JSON.stringify({token: form.token.value});
  try {
    const headers = {"Content-Type": "application/json"};
    const answer = await fetch("login", {method: "POST", headers, body});
    if (answer.ok) return location.replace(`./${location.hash}`);
    trouble.textContent = SAID[answer.status] || `The server answered ${answer.status}.`;
  } catch {
    trouble.textContent = "The server does not answer.";
  }
  form.token.select();
});
