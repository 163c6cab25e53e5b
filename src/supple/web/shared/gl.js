// @ts-check
/** What drawing with WebGL 2 takes: programs, buffers and attributes. */

/** Attributes of every program by place: position, normal, colour. */
const ATTRIBUTES = ["p", "q", "c"];

/** A linked program and its uniforms; throws what the driver says where it is refused. */
export class Program {
  /**
   * @param {WebGL2RenderingContext} gl
   * @param {string} vertex shader
   * @param {string} fragment shader
   */
  constructor(gl, vertex, fragment) {
    const made = gl.createProgram();
    /** @type {[number, string][]} */
    const shaders = [
      [gl.VERTEX_SHADER, vertex],
      [gl.FRAGMENT_SHADER, fragment],
    ];
    for (const [kind, text] of shaders) {
      const shader = gl.createShader(kind);
      if (!shader) throw new Error("no shader can be made");
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(made, shader);
    }
    ATTRIBUTES.forEach((name, i) => gl.bindAttribLocation(made, i, name));
    gl.linkProgram(made);
    if (!gl.getProgramParameter(made, gl.LINK_STATUS)) {
      throw new Error(gl.getProgramInfoLog(made) || "a shader was refused");
    }
    this.gl = gl;
    this.made = made;
    /** @type {Map<string, WebGLUniformLocation | null>} */
    this.places = new Map();
  }

  use() {
    this.gl.useProgram(this.made);
  }

  /** @param {string} name of a uniform */
  at(name) {
    let place = this.places.get(name);
    if (place === undefined) {
      place = this.gl.getUniformLocation(this.made, name);
      this.places.set(name, place);
    }
    return place;
  }
}

/**
 * A buffer of vertices with values that stay.
 *
 * @param {WebGL2RenderingContext} gl
 * @param {Float32Array | Uint8Array} values
 */
export function vertexBuffer(gl, values) {
  const buffer = gl.createBuffer();
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
  return buffer;
}

/**
 * A buffer of triangles.
 *
 * @param {WebGL2RenderingContext} gl
 * @param {Uint32Array} triangles
 */
export function indexBuffer(gl, triangles) {
  const buffer = gl.createBuffer();
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffer);
  gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, triangles, gl.STATIC_DRAW);
  return buffer;
}

/** Two triangles over the square from −1 to 1. */
export const SQUARE = new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]);

/**
 * Takes attribute `i` from a buffer.
 *
 * @param {WebGL2RenderingContext} gl
 * @param {WebGLBuffer} buffer
 * @param {number} i
 * @param {number} size numbers a vertex
 */
export function floats(gl, buffer, i, size) {
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.enableVertexAttribArray(i);
  gl.vertexAttribPointer(i, size, gl.FLOAT, false, 0, 0);
}

/**
 * Takes the colours, three bytes a vertex, from a buffer.
 *
 * @param {WebGL2RenderingContext} gl
 * @param {WebGLBuffer} buffer
 */
export function colors(gl, buffer) {
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.enableVertexAttribArray(2);
  gl.vertexAttribPointer(2, 3, gl.UNSIGNED_BYTE, true, 0, 0);
}

/**
 * Sends what changes every frame and takes attribute `i` from it.
 *
 * @param {WebGL2RenderingContext} gl
 * @param {WebGLBuffer} buffer
 * @param {number} i
 * @param {Float32Array} values (3 v)
 */
export function moving(gl, buffer, i, values) {
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
  floats(gl, buffer, i, 3);
}
