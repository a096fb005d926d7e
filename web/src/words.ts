// The words of the page, in two languages with the same keys.

import { signal } from "@preact/signals";
import en from "./words/en.json";
import zh from "./words/zh.json";

export type Word = keyof typeof en;
export type Language = "en" | "zh";

const ALL: Record<Language, Record<Word, string>> = { en, zh };
const stored = localStorage.getItem("boswell.language");

export const language = signal<Language>(
  stored === "en" || stored === "zh" ? stored : navigator.language.startsWith("zh") ? "zh" : "en",
);

/** A word, with values in its places. */
export function w(key: Word, ...values: (string | number)[]): string {
  let text = ALL[language.value][key];
  values.forEach((value, place) => (text = text.replace(`{${place}}`, String(value))));
  return text;
}

export function setLanguage(to: Language): void {
  language.value = to;
  localStorage.setItem("boswell.language", to);
  document.documentElement.lang = to === "zh" ? "zh-CN" : "en";
}

const locale = () => (language.value === "zh" ? "zh-CN" : "en");

export const count = (n: number) => new Intl.NumberFormat(locale()).format(n);

/** A number in a few characters: 41.2 M. */
export const short = (n: number) =>
  new Intl.NumberFormat(locale(), { notation: "compact", maximumFractionDigits: 1 }).format(n);

/** A cost. What is less than a cent is not nothing. */
export function dollars(n: number): string {
  const format = new Intl.NumberFormat(locale(), {
    style: "currency",
    currency: "USD",
    currencyDisplay: "narrowSymbol",
  });
  return n > 0 && n < 0.01 ? `<${format.format(0.01)}` : format.format(n);
}

export function bytes(n: number): string {
  const units = ["B", "kB", "MB", "GB"];
  let unit = 0;
  while (n >= 1000 && unit < 3) {
    n /= 1000;
    unit += 1;
  }
  return `${n >= 100 || unit === 0 ? Math.round(n) : n.toFixed(1)} ${units[unit]}`;
}

/** How long ago, in a few characters. */
export function ago(at: string | null, now = Date.now()): string {
  if (!at) return "–";
  const seconds = Math.max(0, (now - Date.parse(at)) / 1000);
  const relative = new Intl.RelativeTimeFormat(locale(), { style: "narrow", numeric: "auto" });
  if (seconds < 45) return relative.format(0, "second");
  if (seconds < 3600) return relative.format(-Math.max(1, Math.round(seconds / 60)), "minute");
  if (seconds < 86400) return relative.format(-Math.round(seconds / 3600), "hour");
  if (seconds < 86400 * 30) return relative.format(-Math.round(seconds / 86400), "day");
  const isOfThisYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  const parts: Intl.DateTimeFormatOptions = isOfThisYear
    ? { month: "short", day: "numeric" }
    : { year: "2-digit", month: "short", day: "numeric" };
  return new Intl.DateTimeFormat(locale(), parts).format(new Date(at));
}

export const clock = (at: string | null) =>
  at
    ? new Intl.DateTimeFormat(locale(), { hour: "2-digit", minute: "2-digit" }).format(new Date(at))
    : "";

export const moment = (at: string | null) =>
  at
    ? new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short" }).format(
        new Date(at),
      )
    : "";
