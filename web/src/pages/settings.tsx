// How the page looks, and what it may do.

import { about, mayChange } from "../api";
import { changesAllowed } from "../parts";
import { type Theme, density, setDensity, setTheme, theme } from "../state";
import { type Language, type Word, language, setLanguage, w } from "../words";

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
      <div class="field"><b>{w("version")}</b><span class="mono">{about.value?.version}</span></div>
    </div>
  );
}
