"""The look of a report: its style sheet and the frame of its page."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --paper: #faf8f5; --card: #ffffff; --ink: #26221f;
  --soft: #766e66; --rule: #e6e0d8; --accent: #b4532f; --stage: #f1ece4; --stage2: #fdfbf8;
  --c1: #b4532f; --c2: #2f7f86; --c3: #8a6bb0; --c4: #b58a1b; --c5: #403a35; }
@media (prefers-color-scheme: dark) { :root { --paper: #1a1816; --card: #23201d; --ink: #efe9e2;
  --soft: #a89f95; --rule: #3a3530; --accent: #e58a62; --stage: #2a2622; --stage2: #37322d;
  --c1: #e58a62; --c2: #63b9bf; --c3: #b79be0; --c4: #dcb753; --c5: #e6dfd6; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.55;
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  -webkit-text-size-adjust: 100%; }
main { max-width: 1080px; margin: 0 auto; padding: 40px 28px 56px; }
header p { color: var(--soft); margin: 6px 0 0; max-width: 46em; }
h1 { font: 600 clamp(28px, 5vw, 42px)/1.12 Georgia, "Iowan Old Style", "Times New Roman", serif;
  letter-spacing: -.012em; margin: 0; text-wrap: balance; }
h2 { font: 600 21px/1.3 Georgia, "Iowan Old Style", serif; margin: 46px 0 14px; }
h3 { font-size: 15px; font-weight: 600; margin: 0; }
small { font-weight: 400; color: var(--soft); font-size: inherit; }
#player { margin: 26px 0 0; border: 1px solid var(--rule); border-radius: 14px; overflow: hidden;
  background: radial-gradient(ellipse at 50% 42%, var(--stage2), var(--stage) 75%); }
#player .stage { position: relative; }
#player canvas { display: none; width: 100%; height: min(62vh, 520px); touch-action: pan-y;
  cursor: grab; }
#player canvas:active { cursor: grabbing; }
#player.live canvas { display: block; } #player.live .fallback { display: none; }
#player.still canvas { display: none; }
#player .fallback { display: flex; justify-content: space-around; }
#player .fallback img { flex: 1 1 0; min-width: 0; height: min(62vh, 520px);
  object-fit: contain; }
#player .names { display: flex; padding: 2px 0 12px; }
#player .names span { flex: 1; text-align: center; font-size: 14px; color: var(--soft);
  padding: 0 8px; }
#player .bar { display: none; align-items: center; gap: 14px; padding: 10px 16px;
  border-top: 1px solid var(--rule); background: var(--card); }
#player.live .bar { display: flex; }
#player button { font: inherit; font-size: 14px; font-weight: 600; color: #fff; cursor: pointer;
  background: var(--accent); border: 0; border-radius: 8px; padding: 8px 0; width: 76px; }
@media (prefers-color-scheme: dark) { #player button { color: #1a1816; } }
#player input { flex: 1; min-width: 0; accent-color: var(--accent); }
#player output { font-variant-numeric: tabular-nums; font-size: 14px; width: 4.2em;
  text-align: right; color: var(--soft); }
.strip { display: grid; gap: 10px; margin-top: 12px; }
.strip div { display: grid; grid-auto-flow: column; grid-auto-columns: minmax(116px, 1fr);
  gap: 8px; overflow-x: auto; scrollbar-width: thin; }
.strip figure { padding: 8px 4px 6px; text-align: center; background: none; border: 0; }
.strip img { display: block; width: 100%; height: auto; }
.strip figcaption { display: block; font-size: 13px; color: var(--soft); margin: 2px 0 0;
  font-variant-numeric: tabular-nums; }
.strip p { margin: 10px 0 0; font-size: 15px; font-weight: 600; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 15px; }
th, td { text-align: left; vertical-align: top; padding: 8px 18px 8px 0;
  border-bottom: 1px solid var(--rule); }
th { font-weight: 500; color: var(--soft); width: 13em; }
td { font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
thead th { width: auto; font-size: 14px; } .compare tbody th { color: var(--ink); }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(420px, 100%), 1fr));
  gap: 18px; }
figure { margin: 0; padding: 16px 18px 12px; background: var(--card); min-width: 0;
  border: 1px solid var(--rule); border-radius: 12px; }
.plots figcaption { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: baseline;
  margin-bottom: 8px; }
.legend { display: flex; flex-wrap: wrap; gap: 0 13px; margin: 0; padding: 0; list-style: none;
  font-size: 13px; color: var(--soft); }
.legend i { display: inline-block; width: 14px; height: 0; border-width: 2.5px 0 0;
  border-style: solid; vertical-align: 4px; margin-right: 5px; }
.legend i.dashed { border-style: dashed; }
figure p { margin: 6px 0 0; font-size: 13.5px; color: var(--soft); line-height: 1.45; }
svg.plot { display: block; width: 100%; height: auto; overflow: visible; }
svg.plot[data-t0] { cursor: crosshair; }
.grid { stroke: var(--rule); } .axis { stroke: var(--soft); stroke-opacity: .6; }
.tick { fill: var(--soft); font-size: 12.5px; font-variant-numeric: tabular-nums; }
.line { fill: none; stroke-width: 1.9; stroke-linejoin: round; stroke-linecap: round; }
.line.dashed { stroke-dasharray: 5 4; }
.dots { fill: none; stroke-width: 3.2; stroke-linecap: round; stroke-opacity: .65; }
.cursor { stroke: var(--ink); stroke-opacity: .35; stroke-width: 1; display: none; }
.playing .cursor { display: inline; }
.c1 { stroke: var(--c1); border-color: var(--c1); }
.c2 { stroke: var(--c2); border-color: var(--c2); }
.c3 { stroke: var(--c3); border-color: var(--c3); }
.c4 { stroke: var(--c4); border-color: var(--c4); }
.c5 { stroke: var(--c5); border-color: var(--c5); }
details { margin-top: 34px; } summary { cursor: pointer; color: var(--soft); }
pre { overflow-x: auto; background: var(--card); border: 1px solid var(--rule); padding: 14px 16px;
  border-radius: 12px; font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
footer { margin-top: 44px; padding-top: 14px; border-top: 1px solid var(--rule);
  color: var(--soft); font-size: 14px; }
@media (max-width: 620px) { main { padding: 26px 16px 40px; }
  #player canvas, #player .fallback img { height: min(52vh, 340px); }
  figure { padding: 14px 12px 10px; }
  .tick { font-size: 15px; } th { width: 9em; padding-right: 12px; } td { padding-right: 0; }
  .compare td, .compare th { padding-right: 14px; width: auto; } }
@media print { #player .bar, details { display: none; } body { background: none; } }
"""


def page(title: str, body: str, scripts: str, style: str = "") -> str:
    """A whole page that needs nothing but itself; ``style`` goes on from the style sheet."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{STYLE}{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n{scripts}\n</body>\n</html>\n"
    )
