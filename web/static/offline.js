// Keeps the pages that are visited for times without a connection, see sw.js.
"use strict";

navigator.serviceWorker?.register(new URL("../sw.js", import.meta.url), { scope: new URL("../../", import.meta.url).pathname });
