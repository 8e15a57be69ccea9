// Search when the site is opened from a folder: browsers refuse web workers there, so the search runs in a hidden frame instead.
// MkDocs Material loads a script from elsewhere for this; here no request leaves the page (scripts/docs_links.py swaps it).
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.frame = frame.contentWindow;
      window.addEventListener("message", (event) => {
        if (event.source === this.frame) this.dispatchEvent(new MessageEvent("message", { data: event.data }));
      });
      this.loaded = new Promise((resolve, reject) => {
        const script = frame.contentDocument.createElement("script");
        script.src = new URL(url, document.baseURI);
        script.onload = resolve;
        script.onerror = reject;
        // What the worker's script calls to answer.
        this.frame.postMessage = (data) => window.dispatchEvent(new MessageEvent("message", { data, source: this.frame }));
        frame.contentDocument.body.append(script);
      });
    }
    postMessage(data) {
      this.loaded.then(() => this.frame.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
  window.Worker = window.IFrameWorker;
}
