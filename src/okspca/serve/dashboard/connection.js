// Events of one model, for as long as the page is open: it comes back after the server does.

const LONGEST_WAIT = 10, QUIET_MS = 30000, ANSWER_MS = 8000;

// A request that gives up in the end; 401 means the session is over.
export const ask = async (path, options = {}) => {
  const answer = await fetch(path, {cache: "no-store", ...options, signal: AbortSignal.timeout(ANSWER_MS)});
  if (answer.status === 401) location.replace(`login${location.hash}`);
  return answer;
};

export class Connection {
  // Calls take(state), gone(), and tell(state, seconds): "live", "waiting" for so many seconds.
  constructor(calls) {
    this.calls = calls;
    this.attempts = 0;
    setInterval(() => this.look(), 5000);
  }

  open(model) {
    this.close();
    this.model = model;
    this.attempts = 0;
    this.connect();
  }

  close() {
    if (this.source) this.source.close();
    clearTimeout(this.timer);
    this.source = this.model = null;
  }

  get path() {
    return `models/${encodeURIComponent(this.model)}`;
  }

  connect() {
    const source = this.source = new EventSource(`${this.path}/events`);
    source.addEventListener("state", event => {
      if (source !== this.source) return;
      this.attempts = 0;
      this.heard = Date.now();
      this.calls.tell("live");
      this.calls.take(JSON.parse(event.data));
    });
    source.addEventListener("gone", () => {
      if (source === this.source) this.end();
    });
    source.addEventListener("error", () => {
      if (source === this.source) this.lost();
    });
  }

  end() {
    this.close();
    this.calls.gone();
  }

  // The browser's own way back tells neither the time it takes nor the reason it gives up.
  lost() {
    this.source.close();
    this.source = null;
    this.attempts += 1;
    this.wait(Math.min(1 + this.attempts, LONGEST_WAIT));
  }

  wait(seconds) {
    this.calls.tell("waiting", seconds);
    this.timer = setTimeout(() => seconds > 1 ? this.wait(seconds - 1) : this.again(), 1000);
  }

  async again() {
    const model = this.model;
    this.calls.tell("waiting", 0);
    const answer = await ask(this.path).catch(() => null);
    if (model !== this.model) return;
    if (answer && answer.status === 404) this.end();
    else if (answer && answer.ok) this.connect();
    else if (!answer || answer.status !== 401) {
      this.attempts += 1;
      this.wait(Math.min(1 + this.attempts, LONGEST_WAIT));
    }
  }

  // Nothing may have changed, or the line may be dead without a word: asking tells.
  async look() {
    if (!this.source || Date.now() - this.heard < QUIET_MS) return;
    const source = this.source, answer = await ask(this.path).catch(() => null);
    if (source !== this.source) return;
    if (answer && answer.ok) this.heard = Date.now();
    else this.lost();
  }
}
