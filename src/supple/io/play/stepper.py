"""The stepper of a page that runs a reduced model: a twin, in JavaScript, of the compiled one.

``makeStepper({size, groups, mass})`` takes the coefficients of each group's energy (see
``reduction.polynomial.Quartic``) and the reduced mass, row by row. It steps by the implicit Newmark
rule of the subspace StVK paper, App. C, in the layout of ``_kernels.polynomial``, without padding.
"""

STEPPER = r"""
function makeStepper(model) {
"use strict";
const r = model.size, M = model.mass, pairs = r * (r + 1) / 2;
const starts = new Int32Array(r + 1);
for (let b = 0; b < r; b++) starts[b + 1] = starts[b] + (b + 1) * (b + 2) / 2;
const triples = starts[r], total = model.groups[0].length;
const coefficients = new Float64Array(total);
const P = coefficients.subarray(0, pairs), Q = coefficients.subarray(pairs, pairs + triples);
const S = coefficients.subarray(pairs + triples);
const vector = () => new Float64Array(r);
const q = vector(), qb = vector(), v = vector(), a = vector();
const x = vector(), xv = vector(), xa = vector();
const w = vector(), acc = vector(), R = vector(), delta = vector(), none = vector();
const qq = new Float64Array(pairs), F = new Float64Array(triples), G = new Float64Array(pairs);
const K = new Float64Array(r * r), A = new Float64Array(r * r);
const self = {q, v, a, R, K, alpha: 0, beta: 0, iterations: 20, tolerance: 1e-6, settled: false};

// Factors on the Young's modulus of each group (§6.5); the energy is linear in them.
self.stiffen = function (factors) {
  coefficients.fill(0);
  model.groups.forEach((group, g) => {
    const f = factors[g];
    for (let i = 0; i < total; i++) coefficients[i] += f * group[i]; });
  self.settled = false; };

self.set = function (q0, v0) { q.set(q0); v.set(v0); self.settled = false; };

// Blocks of S and of F, one view each: the engine then checks bounds cheaply.
const blocks = [], forms = [];
for (let a = 0, s = 0; a < r; a++) {
  forms.push(F.subarray(starts[a], starts[a + 1]));
  for (let b = 0; b <= a; b++) {
    const n = starts[b + 1] - starts[b];
    blocks.push(S.subarray(s, s + n)); s += n; } }
const block = (a, b) => blocks[a * (a + 1) / 2 + b];

function leading(a, b, e) { K[a * r + b] = e; R[b] += point[a] * e; R[a] += point[b] * e; }
function diagonal(a) {
  const Y = block(a, a), A = forms[a], twice = 2 * point[a], n = Y.length;
  let e = 0;
  for (let t = 0; t < n; t++) { const y = Y[t]; A[t] += twice * y; e += y * qq[t]; }
  K[a * r + a] = e; R[a] += twice * e; }
function single(a, b) {
  const Y = block(a, b), A = forms[a], B = forms[b], qa = point[a], qb = point[b], n = Y.length;
  let e = 0;
  for (let t = 0; t < n; t++) {
    const y = Y[t]; B[t] += qa * y; A[t] += qb * y; e += y * qq[t]; }
  leading(a, b, e); }
function four(a, b) {  // the blocks (a, b), (a, b + 1), (a + 1, b) and (a + 1, b + 1) at once
  const Y = block(a, b), Z = block(a, b + 1), V = block(a + 1, b), W = block(a + 1, b + 1);
  const A = forms[a], C = forms[a + 1], B = forms[b], D = forms[b + 1];
  const qa = point[a], qc = point[a + 1], qb = point[b], qd = point[b + 1];
  const n = Y.length, m = Z.length;
  let ey = 0, ez = 0, ev = 0, ew = 0;
  for (let t = 0; t < n; t++) {
    const y = Y[t], z = Z[t], v = V[t], w = W[t], p = qq[t];
    B[t] += qa * y + qc * v; D[t] += qa * z + qc * w;
    A[t] += qb * y + qd * z; C[t] += qb * v + qd * w;
    ey += y * p; ez += z * p; ev += v * p; ew += w * p; }
  for (let t = n; t < m; t++) {
    const z = Z[t], w = W[t], p = qq[t];
    D[t] += qa * z + qc * w; A[t] += qd * z; C[t] += qd * w; ez += z * p; ew += w * p; }
  leading(a, b, ey); leading(a, b + 1, ez); leading(a + 1, b, ev); leading(a + 1, b + 1, ew); }

// R = grad U and K = its Jacobian at x; each coefficient of S is read once.
let point = q;
self.evaluate = function (x) {
  point = x;
  let t = 0;
  for (let c = 0; c < r; c++) for (let d = 0; d <= c; d++) qq[t++] = x[c] * x[d];
  F.set(Q); G.set(P); R.fill(0);
  for (let a = 0; a < r; a += 2) {
    if (a + 1 < r) {
      for (let b = 0; b < a; b += 2) four(a, b);
      diagonal(a); single(a + 1, a); diagonal(a + 1);
    } else {
      for (let b = 0; b < a; b++) single(a, b);
      diagonal(a); } }
  for (let b = 0; b < r; b++) {
    const fb = starts[b], n = starts[b + 1] - fb, half = .5 * x[b];
    let e = 0;
    for (let t = 0; t < n; t++) {
      const y = Q[fb + t]; G[t] += half * (F[fb + t] + y); e += y * qq[t]; }
    R[b] += e; }
  for (let a = 0; a < r; a++) {
    let t = starts[a];
    const row = a * r;
    for (let c = 0; c <= a; c++) {
      const qc = x[c];
      let e = 0;
      for (let d = 0; d < c; d++) { const y = F[t + d]; e += y * x[d]; K[row + d] += y * qc; }
      K[row + c] += e + 2 * F[t + c] * qc; t += c + 1; } }
  t = 0;
  for (let c = 0; c < r; c++) {
    const qc = x[c];
    let e = 0;
    for (let d = 0; d < c; d++) {
      const y = G[t + d], i = c * r + d;
      K[i] += y; K[d * r + c] = K[i]; e += y * x[d]; R[d] += y * qc; }
    const y = G[t + c], i = c * r + c;
    R[c] += e + 2 * y * qc; K[i] = 2 * (K[i] + y); t += c + 1; } };

// Overwrites b with the solution of A b = b by A = UᵀDU; false if A is not positive definite.
function solve(A, b) {
  for (let k = 0; k < r; k++) {
    const kk = k * r, pivot = A[kk + k];
    if (!(pivot > 0)) return false;
    const inverse = 1 / pivot, bk = b[k];
    A[kk + k] = inverse;
    for (let i = k + 1; i < r; i++) {
      const factor = A[kk + i] * inverse, ii = i * r;
      for (let j = i; j < r; j++) A[ii + j] -= factor * A[kk + j];
      b[i] -= factor * bk; } }
  for (let k = r - 1; k >= 0; k--) {
    let y = b[k];
    for (let i = k + 1; i < r; i++) y -= A[k * r + i] * b[i];
    b[k] = y * A[k * r + k]; }
  return true; }
self.solve = solve;

// A spring {phi (3 r), rest (3), target (3), k, c} pulls the point rest + phi q to the target.
function springForce(spring, x, w, out, sign) {
  for (let d = 0; d < 3; d++) {
    let place = spring.rest[d] - spring.target[d], rate = 0;
    for (let i = 0; i < r; i++) {
      place += spring.phi[d * r + i] * x[i]; rate += spring.phi[d * r + i] * w[i]; }
    const f = sign * (spring.k * place + spring.c * rate);
    for (let i = 0; i < r; i++) out[i] += f * spring.phi[d * r + i]; } }

// delta = f − M a − (α M + β K) v − R, with f the force less that of the spring.
function imbalance(x, w, acc, force, spring) {
  for (let i = 0; i < r; i++) {
    let e = force[i] - R[i];
    for (let j = 0, m = i * r; j < r; j++, m++)
      e -= M[m] * (acc[j] + self.alpha * w[j]) + self.beta * K[m] * w[j];
    delta[i] = e; }
  if (spring) springForce(spring, x, w, delta, -1); }

function correct(cv, ca, force, spring) {
  for (let i = 0; i < r; i++) { w[i] = cv * (x[i] - xv[i]); acc[i] = ca * (x[i] - xa[i]); }
  const kFactor = 1 + cv * self.beta, mFactor = ca + cv * self.alpha;
  let shift = 0, largest = 0;
  for (let attempt = 0; attempt < 12; attempt++) {
    imbalance(x, w, acc, force, spring);
    let sum = 0;
    for (let i = 0; i < r; i++) sum += delta[i];
    if (!isFinite(sum)) return Infinity;
    for (let i = 0; i < r * r; i++) A[i] = kFactor * K[i] + mFactor * M[i];
    if (spring) {
      const s = spring.k + cv * spring.c, f = spring.phi;
      for (let d = 0; d < 3; d++) for (let i = 0; i < r; i++) {
        const y = s * f[d * r + i];
        for (let j = i; j < r; j++) A[i * r + j] += y * f[d * r + j]; } }
    for (let i = 0; i < r; i++) {
      largest = Math.max(largest, Math.abs(A[i * r + i])); A[i * r + i] += shift; }
    if (solve(A, delta)) {
      let size = 0;
      for (let i = 0; i < r; i++) { x[i] += delta[i]; size = Math.max(size, Math.abs(delta[i])); }
      return size; }
    shift = Math.max(10 * shift, 1e-3 * largest); }
  return Infinity; }

// a from M a = f − C v − R, for a state that was set.
function settle(force, spring) {
  self.evaluate(q); imbalance(q, v, none, force, spring);
  A.set(M); solve(A, delta); a.set(delta); qb.set(q); self.settled = true; }

// One step of h seconds; false, and the state as it was, where it cannot be solved.
self.step = function (h, force, spring) {
  if (!self.settled) settle(force, spring);
  const ca = 4 / (h * h), cv = 2 / h;  // β = ¼, γ = ½
  for (let i = 0; i < r; i++) {
    xa[i] = q[i] + h * v[i] + .25 * h * h * a[i];
    xv[i] = xa[i] - (v[i] + .5 * h * a[i]) / cv;
    x[i] = q[i] + (q[i] - qb[i]); }
  let converged = self.iterations === 1;
  for (let k = 0; k < self.iterations; k++) {
    self.evaluate(x);
    const size = correct(cv, ca, force, spring);
    if (!isFinite(size)) return false;
    let scale = 0;
    for (let i = 0; i < r; i++)
      scale = Math.max(scale, Math.abs(x[i]), Math.abs(x[i] - q[i]));
    if (size <= self.tolerance * scale + 1e-250) { converged = true; break; } }
  if (!converged) return false;
  let sum = 0;
  for (let i = 0; i < r; i++) { w[i] = ca * (x[i] - xa[i]); sum += x[i] + w[i]; }
  if (!isFinite(sum)) return false;
  qb.set(q);
  for (let i = 0; i < r; i++) { a[i] = w[i]; v[i] = cv * (x[i] - xv[i]); q[i] = x[i]; }
  return true; };

self.stiffen(model.groups.map(() => 1));
return self;
}
"""
