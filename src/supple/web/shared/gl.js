// @ts-check
/** What drawing with WebGL 2 takes: programs, buffers and attributes. */

/** Attributes of every program by place: position, normal, colour. */
const ATTRIBUTES = ["p", "q", "c"];

/** A linked program and its uniforms; throws what the driver says where it is refused. */
export class Program {
  /**
   * @param {WebGL2RenderingContext} gl
   * @param {{vertex: string, fragment: string}} shaders
   */
  constructor(gl, { vertex, fragment }) {
    const made = gl.createProgram();
    const add = (/** @type {number} */ kind, /** @type {string} */ text) => {
      const shader = gl.createShader(kind);
      if (!shader) throw new Error("no shader can be made");
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(made, shader);
    };
    add(gl.VERTEX_SHADER, vertex);
    add(gl.FRAGMENT_SHADER, fragment);
    ATTRIBUTES.forEach((name, i) => gl.bindAttribLocation(made, i, name));
    gl.linkProgram(made);
    if (!gl.getProgramParameter(made, gl.LINK_STATUS)) {
      throw new Error(gl.getProgramInfoLog(made) || "a shader was refused");
    }
    this.gl = gl;
    this.made = made;
    /** @type {Record<string, WebGLUniformLocation | null>} */
    this.places = {};
  }

  use() {
    this.gl.useProgram(this.made);
  }

  /** @param {string} name of a uniform */
  at(name) {
    return (this.places[name] ??= this.gl.getUniformLocation(this.made, name));
  }
}

/**
 * A buffer that stays: of vertices or, of Uint32Array, of triangles.
 *
 * @param {WebGL2RenderingContext} gl
 * @param {Float32Array | Uint8Array | Uint32Array} values
 */
export function bufferOf(gl, values) {
  const target = values instanceof Uint32Array ? gl.ELEMENT_ARRAY_BUFFER : gl.ARRAY_BUFFER;
  const buffer = gl.createBuffer();
  gl.bindBuffer(target, buffer);
  gl.bufferData(target, values, gl.STATIC_DRAW);
  return buffer;
}

/** Two triangles over the square from −1 to 1. */
export const SQUARE = new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]);

/**
 * Takes attribute `i` from a buffer; the last, colours, has three bytes a vertex.
 *
 * @param {WebGL2RenderingContext} gl
 * @param {WebGLBuffer} buffer
 * @param {number} i
 * @param {number} size numbers a vertex
 */
export function attribute(gl, buffer, i, size = 3) {
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.enableVertexAttribArray(i);
  gl.vertexAttribPointer(i, size, i === 2 ? gl.UNSIGNED_BYTE : gl.FLOAT, i === 2, 0, 0);
}

/** Triangles whose vertices move; `colors` are three bytes a vertex. */
export class MovingTriangles {
  /**
   * @param {WebGL2RenderingContext} gl
   * @param {Uint32Array} triangles
   */
  constructor(gl, triangles) {
    this.gl = gl;
    this.count = triangles.length;
    this.indices = bufferOf(gl, triangles);
    this.buffers = [gl.createBuffer(), gl.createBuffer()];
  }

  /**
   * Sends where vertices are now, and takes all attributes.
   *
   * @param {Float32Array} positions (3 v)
   * @param {Float32Array} normals (3 v)
   * @param {WebGLBuffer} colors
   */
  send(positions, normals, colors) {
    const { gl } = this;
    [positions, normals].forEach((values, i) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[i]);
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
      attribute(gl, this.buffers[i], i);
    });
    attribute(gl, colors, 2);
  }

  /** Draws with the program and the attributes that are set. */
  draw() {
    const { gl } = this;
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.indices);
    gl.drawElements(gl.TRIANGLES, this.count, gl.UNSIGNED_INT, 0);
  }
}

/**
 * Draws a square on the ground by a program with `m`, to the screen, and `d`, its middle and size.
 *
 * @param {Program} program
 * @param {WebGLBuffer} square
 * @param {Float32Array} m
 * @param {[number, number, number, number]} d [m]
 */
export function drawSquare(program, square, m, d) {
  const { gl } = program;
  gl.disableVertexAttribArray(1);
  gl.disableVertexAttribArray(2);
  attribute(gl, square, 0, 2);
  gl.uniformMatrix4fv(program.at("m"), false, m);
  gl.uniform4f(program.at("d"), ...d);
  gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
}
