// Where the page is, how it looks, and what it said last.

import { signal } from "@preact/signals";

export type Theme = "light" | "dark" | "system";

/** The address behind `#/`: its parts and its parameters. */
export interface Route {
  name: string;
  parts: string[];
  query: URLSearchParams;
}

function parse(): Route {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...parts] = path.split("/").map(decodeURIComponent);
  return { name: name || "sessions", parts, query: new URLSearchParams(query ?? "") };
}

export const route = signal<Route>(parse());
addEventListener("hashchange", () => (route.value = parse()));

export function href(name: string, ...parts: string[]): string {
  return "#/" + [name, ...parts.map(encodeURIComponent)].join("/");
}

export function go(to: string): void {
  location.hash = to;
}

/** Changes parameters without a new step in the history. */
export function setQuery(changes: Record<string, string | null>): void {
  const query = new URLSearchParams(route.value.query);
  for (const [key, value] of Object.entries(changes)) {
    if (value) query.set(key, value);
    else query.delete(key);
  }
  const path = location.hash.split("?")[0] || "#/sessions";
  const text = query.toString();
  history.replaceState(null, "", text ? `${path}?${text}` : path);
  route.value = parse();
}

export const theme = signal<Theme>((localStorage.getItem("boswell.theme") as Theme) ?? "system");
export const density = signal(localStorage.getItem("boswell.density") ?? "comfortable");

export function showTheme(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const shown = theme.value === "system" ? (dark ? "dark" : "light") : theme.value;
  document.documentElement.dataset.theme = shown;
  document.documentElement.dataset.density = density.value;
}

export function setTheme(to: Theme): void {
  theme.value = to;
  localStorage.setItem("boswell.theme", to);
  showTheme();
}

export function setDensity(to: string): void {
  density.value = to;
  localStorage.setItem("boswell.density", to);
  showTheme();
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);

export const said = signal("");
let timer = 0;

/** Says something for a few seconds. */
export function say(text: string): void {
  said.value = text;
  clearTimeout(timer);
  timer = window.setTimeout(() => (said.value = ""), 4000);
}

/** What keys do on the current page. */
export const keys = signal<Record<string, () => void>>({});
