// A headless Chromium, driven through a pipe by the DevTools protocol.
import { spawn } from "node:child_process";
import { eventually } from "./server.mjs";

const OPTIONS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run", "--disable-sync",
  "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
];

export async function startBrowser(folder) {
  const child = spawn("chromium", [...OPTIONS, `--user-data-dir=${folder}/profile`, "about:blank"], {
    stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
  });
  const [, , , input, output] = child.stdio;
  const waiting = new Map();
  const listeners = [];
  let last = 0;
  let text = "";
  output.on("data", bytes => {
    text += bytes;
    const messages = text.split("\0");
    text = messages.pop();
    for (const message of messages.map(JSON.parse)) {
      const { id, error, result } = message;
      if (id === undefined) listeners.forEach(listener => listener(message));
      else if (error) waiting.get(id).reject(new Error(error.message));
      else waiting.get(id).resolve(result);
      waiting.delete(id);
    }
  });
  const send = (method, params = {}, sessionId = undefined) =>
    new Promise((resolve, reject) => {
      waiting.set(++last, { resolve, reject });
      input.write(JSON.stringify({ id: last, method, params, sessionId }) + "\0");
    });

  const page = async url => {
    const { targetId } = await send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
    const ask = (method, params) => send(method, params, sessionId);
    const wrong = [];
    listeners.push(({ method, params, sessionId: from }) => {
      if (from !== sessionId) return;
      if (method === "Runtime.exceptionThrown") wrong.push(params.exceptionDetails.exception?.description);
      if (method === "Network.requestWillBeSent") requested.push(params.request.url);
      if (method === "Log.entryAdded" && params.entry.source === "security") wrong.push(params.entry.text);
    });
    const requested = [];
    for (const domain of ["Page", "Runtime", "Network", "Log"]) await ask(`${domain}.enable`);
    await ask("Page.navigate", { url });
    const run = async expression => {
      const options = { expression, awaitPromise: true, returnByValue: true };
      const { result, exceptionDetails } = await ask("Runtime.evaluate", options);
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
      return result.value;
    };
    return {
      ask,
      run,
      wrong,
      requested,
      /// Waits until an expression is truthy in the page. A page that is just being replaced answers with an error.
      until: (expression, what = expression) =>
        eventually(what, () => run(`(async () => (${expression}))().catch(() => false)`).catch(() => false)),
      /// Loads the page anew. Returns once the old document is gone.
      reload: async () => {
        await run("globalThis.isOld = true");
        await ask("Page.reload");
        await eventually("the page, loaded anew", () => run("!globalThis.isOld && document.readyState === 'complete'").catch(() => false));
      },
      offline: offline =>
        ask("Network.emulateNetworkConditions", { offline, latency: 0, downloadThroughput: -1, uploadThroughput: -1 }),
    };
  };
  return {
    page,
    async stop() {
      const ended = new Promise(resolve => child.once("exit", resolve));
      await send("Browser.close").catch(() => child.kill());
      await ended;
    },
  };
}
