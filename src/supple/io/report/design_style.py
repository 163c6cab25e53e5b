"""What the page of a designed damping adds to the style sheet of reports."""

from __future__ import annotations

STYLE = """
.verdict { margin: 24px 0 0; padding: 18px 22px; background: var(--card); border-radius: 14px;
  border: 1px solid var(--rule); border-left: 5px solid var(--c2); }
.verdict.missed { border-left-color: var(--c4); }
.verdict strong { display: block; text-wrap: balance;
  font: 600 clamp(21px, 3.4vw, 28px)/1.25 Georgia, "Iowan Old Style", "Times New Roman", serif; }
.verdict p { margin: 6px 0 0; color: var(--soft); text-wrap: pretty; }
.plots figure:only-child { max-width: 620px; }
.note { color: var(--soft); margin: -6px 0 16px; max-width: 46em; }
#player + .plots { margin-top: 18px; }
#examples { display: grid; gap: 18px; max-width: calc(var(--columns) * 358px - 18px);
  grid-template-columns: repeat(var(--columns), minmax(0, 1fr)); }
#examples figure { padding: 0; overflow: hidden; display: flex; flex-direction: column; }
#examples .shot { background: radial-gradient(ellipse at 50% 42%, var(--stage2), var(--stage) 75%);
  aspect-ratio: 1; }
#examples canvas, #examples img { display: block; width: 100%; height: 100%;
  object-fit: contain; }
#examples canvas { display: none; touch-action: pan-y; cursor: grab; }
#examples canvas:active { cursor: grabbing; }
#examples.live canvas { display: block; } #examples.live img { display: none; }
#examples figcaption { padding: 12px 16px 14px; }
#examples figcaption p { margin: 2px 0 0; }
.line.thin { stroke-width: 1.3; } .line.thin.dashed { stroke-dasharray: 2 4; }
.dot { fill: none; stroke-width: 4.8; } .ring { fill: var(--card); stroke-width: 2.4; }
.legend i.thin { border-top-width: 1.5px; }
.legend i.dot, .legend i.ring { width: 10px; height: 10px; border: 2.4px solid; border-radius: 50%;
  vertical-align: -1px; }
.legend i.dot { width: 9px; height: 9px; border-width: 4.5px; vertical-align: 0; }
.legend i.c1 { border-color: var(--c1); } .legend i.c2 { border-color: var(--c2); }
.legend i.c4 { border-color: var(--c4); } .legend i.c5 { border-color: var(--c5); }
.results tbody th, .results thead th { width: auto; padding-right: 16px; }
.results td { padding-right: 16px; overflow-wrap: normal; }
.results td:nth-child(2) { min-width: 15em; }
.results td:nth-child(n + 3) { white-space: nowrap; }
.results td i { font-style: normal; color: var(--c2); }
.results .missed td i { color: var(--c4); }
.results .missed th, .results .missed td { border-bottom: 0; padding-bottom: 2px; }
.results .reason td { padding-top: 0; color: var(--soft); font-size: 14px; white-space: normal; }
@media (max-width: 620px) {
  #examples { grid-template-columns: repeat(auto-fit, minmax(140px, 1fr)); gap: 12px; }
  #examples figcaption { padding: 10px 12px 12px; }
  #player:has(.names span:nth-child(3)) canvas { height: 230px; }
  .results thead, .results .reason td:first-child { display: none; }
  .results, .results tbody { display: block; }
  .results tr { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 6px 10px;
    padding: 12px 0; border-bottom: 1px solid var(--rule); }
  .results tbody th, .results td { border: 0; padding: 0; }
  .results td:nth-child(n + 3) { white-space: normal; }
  .results th, .results td:nth-child(2) { grid-column: 1 / -1; }
  .results tbody th { font-weight: 600; margin-bottom: -6px; }
  .results td:nth-child(n + 3)::before { content: attr(data-name); display: block;
    color: var(--soft); font-size: 13px; }
  .results small { display: block; font-size: 13px; }
  .results .missed { border-bottom: 0; padding-bottom: 4px; }
  .results .reason { padding-top: 0; } }
"""
