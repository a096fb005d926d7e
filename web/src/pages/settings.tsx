// How the page looks, and what it may do.

import { about, mayChange } from "../api";
import { Meter, change, changesAllowed } from "../parts";
import { type Theme, say, density, setDensity, setTheme, theme } from "../state";
import { run, works } from "../work";
import { type Language, type Word, count, language, setLanguage, w } from "../words";

function Choice({ label, values, value, set }: { label: Word; values: [string, string][]; value: string; set: (to: string) => void }) {
  return (
    <div class="field">
      <b>{w(label)}</b>
      <div class="seg" role="group" aria-label={w(label)}>
        {values.map(([key, text]) => <button aria-pressed={value === key} onClick={() => set(key)}>{text}</button>)}
      </div>
    </div>
  );
}

const update = () => change(async () => {
  await run("index", "POST", "/v1/index", new AbortController().signal, (event) => {
    if (event.name === "index") say(w("indexed", count(event.data.sources)));
  });
});

export function Settings() {
  return (
    <div class="wide narrow">
      <h1>{w("settings")}</h1>
      <Choice label="theme" value={theme.value} set={(to) => setTheme(to as Theme)} values={[["system", w("system")], ["light", w("light")], ["dark", w("dark")]]} />
      <Choice label="language" value={language.value} set={(to) => setLanguage(to as Language)} values={[["en", "English"], ["zh", "中文"]]} />
      <Choice label="density" value={density.value} set={setDensity} values={[["comfortable", w("comfortable")], ["dense", w("dense")]]} />
      <div class="field">
        <b>{w("access")}<small>{w("accessText")}</small></b>
        {mayChange() ? <span class="badge good">{w("allowed")}</span> : <span class="badge">{w("readsOnly")}</span>}
        {about.value?.may_allow_changes && !mayChange() && <button class="btn" onClick={() => void changesAllowed()}>{w("allow")}</button>}
      </div>
      <div class="field">
        <b>{w("index")}<small>{w("indexText")}</small></b>
        <Meter name="index" />
        <button class="btn" disabled={works.value.some((it) => it.name === "index")} onClick={() => void update()}>{w("update")}</button>
      </div>
      <div class="field"><b>{w("version")}</b><span class="mono">{about.value?.version}</span></div>
    </div>
  );
}
