// @ts-check
/** The shaders of all pages. */

/** A body in a report, lit from where the viewer stands; `m` to the screen, `v` to the viewer. */
export const REPORT_BODY = {
  vertex: `#version 300 es
in vec3 p; in vec3 q; in vec3 c; uniform mat4 m; uniform mat3 v;
out vec3 N; out vec3 C; out float up;
void main() { N = v * q; C = c; up = q.z; gl_Position = m * vec4(p, 1.); }`,
  fragment: `#version 300 es
precision highp float; in vec3 N; in vec3 C; in float up; out vec4 o;
float lamp(vec3 n, vec3 d, float w) { return max((dot(n, normalize(d)) + w) / (1. + w), 0.); }
void main() {
  vec3 n = normalize(N); if (!gl_FrontFacing) n = -n;
  float s = .5 + .5 * clamp(up, -1., 1.);
  vec3 base = pow(C, vec3(2.2));
  vec3 a = s * vec3(.42, .45, .52) + (1. - s) * vec3(.30, .22, .19);
  vec3 key = pow(lamp(n, vec3(-.55, .75, .65), .25), 1.3) * vec3(.98, .92, .82);
  vec3 fill = lamp(n, vec3(.9, .1, .5), .2) * vec3(.12, .14, .19);
  float h = .07 * pow(lamp(n, vec3(-.3, .45, 1.), 0.), 36.);
  float rim = pow(1. - clamp(n.z, 0., 1.), 3.) * s * .22;
  o = vec4(pow(clamp(base * (a + key + fill) + h + rim * (.4 + .6 * base), 0., 1.),
    vec3(1. / 2.2)), 1.); }`,
};

/** The outline of a body, in the one colour `g`. */
export const OUTLINE = {
  vertex: REPORT_BODY.vertex,
  fragment: `#version 300 es
precision highp float; uniform vec4 g; out vec4 o; void main() { o = vec4(g.rgb * g.a, g.a); }`,
};

/** A soft shadow: a disc with centre `d.xyz` and radius `d.w`. */
export const DISC = {
  vertex: `#version 300 es
in vec2 p; uniform mat4 m; uniform vec4 d; out vec2 r;
void main() { r = p; gl_Position = m * vec4(d.xy + p * d.w, d.z, 1.); }`,
  fragment: `#version 300 es
precision highp float; in vec2 r; out vec4 o;
void main() {
  float a = .42 * pow(max(0., 1. - dot(r, r)), 1.6); o = vec4(vec3(.10, .08, .09) * a, a); }`,
};

/** A body on a stage, or, with `thrown` along the light, its shadow on the ground. */
export const STAGE_BODY = {
  vertex: `#version 300 es
in vec3 p; in vec3 q; in vec3 c; uniform mat4 m; uniform vec3 thrown; uniform float ground;
out vec3 N; out vec3 C; out vec3 X;
void main() {
  N = q; C = c; X = p - thrown * max(p.z - ground, 0.); gl_Position = m * vec4(X, 1.); }`,
  fragment: `#version 300 es
precision highp float; in vec3 N; in vec3 C; in vec3 X; uniform vec3 thrown; uniform vec3 eye;
uniform vec3 light; out vec4 o;
void main() {
  if (thrown.z > 0.) { o = vec4(.07, .05, .05, 1.) * .20; return; }
  vec3 n = normalize(N), e = normalize(eye - X);
  if (!gl_FrontFacing) n = -n;
  vec3 base = pow(C, vec3(2.2));
  float up = .5 + .5 * n.z, d = max((dot(n, light) + .28) / 1.28, 0.);
  vec3 ambient = mix(vec3(.27, .22, .20), vec3(.40, .42, .46), up);
  vec3 key = pow(d, 1.25) * vec3(.86, .81, .74);
  float shine = .16 * pow(max(dot(n, normalize(light + e)), 0.), 42.);
  float rim = .22 * pow(1. - max(dot(n, e), 0.), 3.) * up;
  vec3 lit = base * (ambient + key) + shine + rim * (.35 + .65 * base);
  o = vec4(pow(clamp(lit, 0., 1.), vec3(1. / 2.2)), 1.); }`,
};

/** The ground of a stage: a grid that fades with the distance. */
export const GRID = {
  vertex: `#version 300 es
in vec2 p; uniform mat4 m; uniform vec4 d; out vec2 g;
void main() { g = p * d.w; gl_Position = m * vec4(d.xy + g, d.z, 1.); }`,
  fragment: `#version 300 es
precision highp float; in vec2 g; uniform vec4 ink; uniform float step; uniform float far;
uniform vec2 shift; out vec4 o;
float line(vec2 x, float w) {
  vec2 f = fwidth(x), a = abs(fract(x - .5) - .5) / max(f, 1e-6);
  vec2 b = clamp(w + .5 - a, 0., 1.) * clamp(2. - 4. * f, 0., 1.);
  return max(b.x, b.y); }
void main() {
  vec2 x = (g + shift) / step;
  float fade = pow(max(0., 1. - dot(g, g) / (far * far)), 2.);
  float a = (.55 * line(x, .5) + .45 * line(x / 5., .8)) * fade * ink.a;
  o = vec4(ink.rgb * a, a); }`,
};
