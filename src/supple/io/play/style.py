"""The look of a page that runs a reduced model."""

STYLE = """
:root { color-scheme: light dark; --paper: #f1ece4; --paper2: #fdfbf8; --card: #ffffffd9;
  --ink: #26221f; --soft: #766e66; --rule: #e6e0d8; --accent: #b4532f; --on: #ffffff;
  --groove: #e3dcd2; }
@media (prefers-color-scheme: dark) { :root { --paper: #1b1917; --paper2: #37322d;
  --card: #23201dd9; --ink: #efe9e2; --soft: #a89f95; --rule: #3a3530; --accent: #e58a62;
  --on: #1a1816; --groove: #47413b; } }
* { box-sizing: border-box; }
html, body { height: 100%; margin: 0; overflow: hidden; overscroll-behavior: none; }
body { color: var(--ink); user-select: none; -webkit-user-select: none;
  font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  background: radial-gradient(ellipse at 40% 40%, var(--paper2), var(--paper) 78%);
  -webkit-text-size-adjust: 100%; }
#stage, #pull { position: fixed; inset: 0; width: 100%; height: 100%; }
#stage { touch-action: none; cursor: default; outline: 0; }
#stage[data-mode="over"] { cursor: grab; }
#stage[data-mode="pull"] { cursor: grabbing; } #stage[data-mode="turn"] { cursor: move; }
#pull { pointer-events: none; visibility: hidden; } #pull.on { visibility: visible; }
#pull line { stroke: var(--ink); stroke-width: 1.6; stroke-dasharray: 1 5; stroke-linecap: round; }
#pull circle { fill: var(--ink); }
#pull circle:last-child { fill: none; stroke: var(--ink); stroke-width: 1.8; }
header { position: fixed; top: 22px; left: 26px; max-width: calc(100% - 350px);
  pointer-events: none; }
h1 { font: 600 clamp(21px, 3.4vw, 30px)/1.15 Georgia, "Iowan Old Style", "Times New Roman", serif;
  letter-spacing: -.01em; margin: 0; overflow-wrap: anywhere; }
header p { margin: 4px 0 0; color: var(--soft); }
#panel { position: fixed; top: 18px; right: 18px; width: 272px; max-height: calc(100% - 36px);
  overflow-y: auto; padding: 14px 18px 12px; background: var(--card); border-radius: 18px;
  border: 1px solid var(--rule); backdrop-filter: blur(14px); -webkit-backdrop-filter: blur(14px);
  box-shadow: 0 10px 34px #2b1d1017; scrollbar-width: thin; }
summary { font-weight: 600; cursor: pointer; list-style: none; display: flex;
  align-items: center; justify-content: space-between; }
summary::-webkit-details-marker { display: none; }
summary::after { content: ""; width: 7px; height: 7px; margin-right: 3px; opacity: .6;
  border: solid var(--ink); border-width: 0 1.8px 1.8px 0; transform: rotate(45deg); }
[open] > summary::after { transform: translateY(3px) rotate(-135deg); }
.slider { display: grid; grid-template-columns: 1fr auto; gap: 1px 10px; margin-top: 10px; }
.slider span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.slider i { display: inline-block; width: 10px; height: 10px; border-radius: 5px;
  margin-right: 7px; }
output { color: var(--soft); font-variant-numeric: tabular-nums; }
input[type=range] { grid-column: 1 / -1; width: 100%; height: 20px; margin: 0; cursor: pointer;
  appearance: none; -webkit-appearance: none; background: none; }
input[type=range]::-webkit-slider-runnable-track { height: 5px; border-radius: 3px;
  background: linear-gradient(to right, var(--accent) var(--at, 50%), var(--groove) var(--at, 50%));
}
input[type=range]::-moz-range-track { height: 5px; border-radius: 3px; background: var(--groove); }
input[type=range]::-moz-range-progress { height: 5px; border-radius: 3px;
  background: var(--accent); }
input[type=range]::-webkit-slider-thumb { -webkit-appearance: none; width: 17px; height: 17px;
  margin-top: -6px; border-radius: 50%; background: #fff; border: 2px solid var(--accent);
  box-shadow: 0 1px 4px #0002; }
input[type=range]::-moz-range-thumb { width: 13px; height: 13px; border-radius: 50%;
  background: #fff; border: 2px solid var(--accent); }
.check { display: flex; align-items: center; gap: 8px; margin: 12px 0 0; cursor: pointer; }
.check input { width: 16px; height: 16px; margin: 0; accent-color: var(--accent); }
.buttons { display: grid; grid-template-columns: 1fr 1fr; gap: 8px; margin: 14px 0 0; }
button { font: inherit; font-weight: 600; cursor: pointer; padding: 8px 0; border-radius: 11px;
  border: 1px solid var(--rule); background: var(--paper2); color: var(--ink); }
button:hover:not(:disabled) { border-color: var(--accent); }
button:disabled { opacity: .45; cursor: default; }
#poke { background: var(--accent); border-color: var(--accent); color: var(--on); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
#panel p { margin: 10px 0 0; color: var(--soft); font-size: 12.5px; }
#stats { font-variant-numeric: tabular-nums; min-height: 2.9em; }
#hint { position: fixed; bottom: 20px; left: 26px; margin: 0; color: var(--soft);
  pointer-events: none; transition: opacity .6s; }
#hint.gone { opacity: 0; }
.sorry { display: none; position: fixed; inset: 30% 10% auto; text-align: center; margin: 0;
  font-size: 17px; }
.blind .sorry, noscript .sorry { display: block; }
.blind #panel, .blind #hint, .blind #stage { display: none; }
@media (max-width: 680px) {
  header { top: 16px; left: 18px; right: 18px; max-width: none; }
  #panel { inset: auto 10px 10px; width: auto; max-height: 50%; }
  .buttons { grid-template-columns: repeat(4, 1fr); }
  #stats { min-height: 1.45em; }
  #hint { inset: auto 18px 68px; text-align: center; }
}
"""
