// The address of this page: what was asked for when it was opened, and what somebody else can open.

const asksForLab = (hash) => new URLSearchParams(hash.slice(1)).has("gl");

// JupyterLab drops the hash from the address while it starts, but how the page was opened stays
// known. Its server may have put a query behind the hash.
export function openedHash() {
  const [opening] = performance.getEntriesByType("navigation");
  const hash =
    asksForLab(location.hash) || !opening ? location.hash : new URL(opening.name, location).hash;
  return hash.split("?")[0];
}

// Where the server's own pages begin: "/", or "/user/NAME/" on a hub.
export function basePath() {
  // JupyterLab, Notebook 7 and Voila have it.
  const config = document.getElementById("jupyter-config-data");
  return (config && JSON.parse(config.textContent).baseUrl) || "/";
}

// The address of a page at a state, for others: without the token and the workspace of its reader.
// A server on a hub is its reader's alone, so there it is the address that launches another one: on
// Binder what begins with `launch`, as `at_launch` of _base/addresses.py says it, else the hub's.
export function addressFor(page, hash, base, launch) {
  const url = new URL(page);
  // Deleting rewrites the whole query, so only where there is something to delete.
  if (url.searchParams.has("token")) url.searchParams.delete("token");
  url.hash = hash;
  url.pathname = url.pathname.replace(/\/(lab|doc)\/workspaces\/[^/]+(?=\/tree\/)/, "/$1");
  const path = url.pathname.slice(base.length) + url.search + url.hash;
  if (launch) return launch + encodeURIComponent(encodeURIComponent(path)).replaceAll("%252F", "/");
  const hub = /^(.*)\/user\/[^/]+\/$/.exec(base);
  return hub ? `${url.origin}${hub[1]}/hub/user-redirect/${path}` : url.href;
}
