// Passkeys. The forms are shown where the browser has them, at the address that they belong to.
"use strict";
(() => {
  const bytes = text => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), letter => letter.charCodeAt(0));
  const text = buffer => btoa(Array.from(new Uint8Array(buffer), byte => String.fromCharCode(byte)).join(""))
    .replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

  const create = async options => {
    options.user.id = bytes(options.user.id);
    for (const known of options.excludeCredentials) known.id = bytes(known.id);
    const { response } = await navigator.credentials.create({ publicKey: options });
    return {
      clientDataJSON: text(response.clientDataJSON),
      authenticatorData: text(response.getAuthenticatorData()),
      publicKey: text(response.getPublicKey()),
      algorithm: response.getPublicKeyAlgorithm(),
    };
  };
  const get = async options => {
    const { rawId, response } = await navigator.credentials.get({ publicKey: options });
    return {
      id: text(rawId),
      clientDataJSON: text(response.clientDataJSON),
      authenticatorData: text(response.authenticatorData),
      signature: text(response.signature),
      userHandle: text(response.userHandle),
    };
  };

  const reason = error => {
    if (error.name === "NotAllowedError") return words("passkey-not-done");
    return error.name === "InvalidStateError" ? words("passkey-there") : words("passkey-failed");
  };

  const send = async form => {
    const problem = form.querySelector(".problem");
    problem.hidden = true;
    try {
      const body = new URLSearchParams(new FormData(form));
      const answer = await fetch(`${form.getAttribute("action")}/begin`, { method: "POST", body, credentials: "same-origin" });
      const options = await answer.json();
      if (options.problem) {
        problem.textContent = options.problem;
      } else {
        options.challenge = bytes(options.challenge);
        const made = await (options.user ? create(options) : get(options));
        form.elements.credential.value = JSON.stringify(made);
        // It was checked, and is sent once.
        if (form.elements.confirm) form.elements.confirm.value = "";
        return form.submit();
      }
    } catch (error) {
      problem.textContent = reason(error);
    }
    problem.hidden = false;
  };

  const hasPasskeys = typeof window.PublicKeyCredential?.prototype === "object"
    && "getPublicKey" in (window.AuthenticatorAttestationResponse?.prototype ?? {});
  for (const form of document.querySelectorAll("form[data-passkeys]")) {
    if (!hasPasskeys || location.origin !== form.dataset.passkeys) continue;
    form.hidden = false;
    for (const hint of document.querySelectorAll("[data-no-passkeys]")) hint.hidden = true;
    form.addEventListener("submit", event => {
      event.preventDefault();
      send(form);
    });
  }
})();
