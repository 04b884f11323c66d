// The arithmetic of kernels.mjs, four numbers at a time: WebAssembly SIMD. `make kernels` compiles it.
//
// Each function is the twin of the one with its name in kernels.mjs, which says what it computes. Matrices lie row by
// row; every size is right, whole fours are fast. NaN and infinity go through as they do there: the lab sees from them
// that a run has lost its numbers.
#include <wasm_simd128.h>

#define EXPORT(name) __attribute__((export_name(#name))) void name
#define INLINE static inline __attribute__((always_inline))
#define UNROLLED _Pragma("clang loop unroll(full)")
// A tile's sixteen registers keep the adder busy as they are: unrolled, the loop is longer and slower.
#define AS_IT_STANDS _Pragma("clang loop unroll(disable)")

typedef v128_t f4; // four floats

#define load wasm_v128_load
#define store wasm_v128_store
#define splat wasm_f32x4_splat
#define add wasm_f32x4_add
#define sub wasm_f32x4_sub
#define mul wasm_f32x4_mul
#define over wasm_f32x4_div
// The wasm_f32x4_min and _max that order zeros cost eight instructions each, these cost one. A NaN on the left stays.
#define lesser wasm_f32x4_pmin
#define larger wasm_f32x4_pmax

// ---- four numbers, or the last few ----------------------------------------------------------------------------------

INLINE f4 load_some(const float *from, int count, float rest) {
  f4 v = splat(rest);
  if (count > 0) v = wasm_f32x4_replace_lane(v, 0, from[0]);
  if (count > 1) v = wasm_f32x4_replace_lane(v, 1, from[1]);
  if (count > 2) v = wasm_f32x4_replace_lane(v, 2, from[2]);
  return v;
}

INLINE void store_some(float *to, f4 v, int count) {
  if (count > 0) to[0] = wasm_f32x4_extract_lane(v, 0);
  if (count > 1) to[1] = wasm_f32x4_extract_lane(v, 1);
  if (count > 2) to[2] = wasm_f32x4_extract_lane(v, 2);
}

INLINE float sum_of(f4 v) {
  return (wasm_f32x4_extract_lane(v, 0) + wasm_f32x4_extract_lane(v, 1)) +
         (wasm_f32x4_extract_lane(v, 2) + wasm_f32x4_extract_lane(v, 3));
}

INLINE float largest_of(f4 v) {
  v = larger(v, wasm_i32x4_shuffle(v, v, 2, 3, 0, 1));
  return wasm_f32x4_extract_lane(larger(v, wasm_i32x4_shuffle(v, v, 1, 0, 3, 2)), 0);
}

// ---- products -------------------------------------------------------------------------------------------------------

// A tile of C, `rows` by 4 `quads` numbers, in registers: C(r, c) += sum over p of A(r, p) B(p, c).
// A(r, p) stands at a + r a_row + p a_step, which reads A as it is or transposed.
INLINE void tile(const int rows, const int quads, float *c, int c_row, const float *a, int a_row, int a_step,
                 const float *b, int b_row, int k) {
  f4 sum[4][2];
  UNROLLED for (int r = 0; r < rows; r++) UNROLLED for (int q = 0; q < quads; q++) {
    sum[r][q] = load(c + r * c_row + 4 * q);
  }
  AS_IT_STANDS for (int p = 0; p < k; p++) {
    f4 right[2];
    UNROLLED for (int q = 0; q < quads; q++) right[q] = load(b + p * b_row + 4 * q);
    UNROLLED for (int r = 0; r < rows; r++) {
      f4 left = wasm_v128_load32_splat(a + r * a_row + p * a_step);
      UNROLLED for (int q = 0; q < quads; q++) sum[r][q] = add(sum[r][q], mul(left, right[q]));
    }
  }
  UNROLLED for (int r = 0; r < rows; r++) UNROLLED for (int q = 0; q < quads; q++) {
    store(c + r * c_row + 4 * q, sum[r][q]);
  }
}

// C (n, m) += A B over k, in tiles of four rows by eight columns, and smaller ones at the edges.
INLINE void multiply(float *c, const float *a, int a_row, int a_step, const float *b, int n, int k, int m) {
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    int j = 0;
    for (; j + 8 <= m; j += 8) tile(4, 2, c + i * m + j, m, a + i * a_row, a_row, a_step, b + j, m, k);
    for (; j + 4 <= m; j += 4) tile(4, 1, c + i * m + j, m, a + i * a_row, a_row, a_step, b + j, m, k);
  }
  for (; i < n; i++) {
    for (int j = 0; j + 4 <= m; j += 4) tile(1, 1, c + i * m + j, m, a + i * a_row, a_row, a_step, b + j, m, k);
  }
  for (int j = m & ~3; j < m; j++) {
    for (i = 0; i < n; i++) {
      float sum = 0;
      AS_IT_STANDS for (int p = 0; p < k; p++) sum += a[i * a_row + p * a_step] * b[p * m + j];
      c[i * m + j] += sum;
    }
  }
}

EXPORT(addProduct)(float *c, const float *a, const float *b, int n, int k, int m) { multiply(c, a, k, 1, b, n, k, m); }

EXPORT(addTransposedProduct)(float *c, const float *a, const float *b, int n, int k, int m) {
  // 64 rows at a time: what they and their tiles touch stays in the nearest cache.
  for (int p = 0; p < n; p += 64) multiply(c, a + p * k, 1, k, b + p * m, k, n - p < 64 ? n - p : 64, m);
}

// ---- functions of one number ----------------------------------------------------------------------------------------

// x = n log(2) + r with a whole n and |r| <= log(2) / 2; `power` is 2^n, and exp(r) - 1 comes back, from the polynomial
// of Cephes's single-precision exponential. x has to lie between -87 and 88, where 2^n is an ordinary float.
INLINE f4 split_exponential(f4 x, f4 *power) {
  // Added to 1.5 2^23, a number is rounded to a whole one, which then stands in the lowest bits.
  const f4 shifter = splat(12582912.0f);
  f4 shifted = add(mul(x, splat(1.44269504088896341f)), shifter);
  f4 n = sub(shifted, shifter);
  *power = wasm_i32x4_shl(wasm_i32x4_add(shifted, wasm_i32x4_splat(127)), 23);
  f4 r = sub(sub(x, mul(n, splat(0.693359375f))), mul(n, splat(-2.12194440e-4f)));
  f4 p = splat(1.9875691500e-4f);
  p = add(mul(p, r), splat(1.3981999507e-3f));
  p = add(mul(p, r), splat(8.3334519073e-3f));
  p = add(mul(p, r), splat(4.1665795894e-2f));
  p = add(mul(p, r), splat(1.6666665459e-1f));
  p = add(mul(p, r), splat(5.0000001201e-1f));
  return add(mul(mul(p, r), r), r);
}

// exp(x) for x <= 0; 0 below -87, where float32 has no ordinary number left.
INLINE f4 exponential(f4 x) {
  f4 power;
  f4 p = split_exponential(larger(x, splat(-87.0f)), &power);
  return wasm_v128_andnot(add(mul(p, power), power), wasm_f32x4_lt(x, splat(-87.0f)));
}

// tanh(x) = e / (e + 2) with e = exp(2x) - 1, which keeps its digits near 0: there n = 0 and e = p.
INLINE f4 tangent(f4 x) {
  const f4 far = splat(22.0f); // tanh(22) is 1 in single precision
  f4 z = lesser(larger(x, wasm_f32x4_neg(far)), far);
  f4 power;
  f4 p = split_exponential(add(z, z), &power);
  f4 e = add(mul(p, power), sub(power, splat(1.0f)));
  return over(e, add(e, splat(2.0f)));
}

EXPORT(tanhInPlace)(float *v, int length) {
  int i = 0;
  for (; i + 4 <= length; i += 4) store(v + i, tangent(load(v + i)));
  store_some(v + i, tangent(load_some(v + i, length - i, 0)), length - i);
}

EXPORT(backThroughTanh)(float *d, const float *h, int length) {
  int i = 0;
  AS_IT_STANDS for (; i + 4 <= length; i += 4) {
    f4 s = load(h + i);
    store(d + i, mul(load(d + i), sub(splat(1.0f), mul(s, s))));
  }
  AS_IT_STANDS for (; i < length; i++) d[i] *= 1 - h[i] * h[i];
}

EXPORT(softmaxRows)(float *v, int n, int m, float *tops, float *sums) {
  const float lowest = -__builtin_inff();
  const int m4 = m & ~3;
  for (int row = 0; row < n; row++, v += m) {
    f4 most = load_some(v + m4, m - m4, lowest);
    AS_IT_STANDS for (int j = 0; j < m4; j += 4) most = larger(most, load(v + j));
    tops[row] = largest_of(most);
    f4 top = splat(tops[row]);
    f4 last = exponential(sub(load_some(v + m4, m - m4, lowest), top));
    f4 total = last;
    AS_IT_STANDS for (int j = 0; j < m4; j += 4) {
      f4 e = exponential(sub(load(v + j), top));
      store(v + j, e);
      total = add(total, e);
    }
    sums[row] = sum_of(total);
    f4 share = splat(1.0f / sums[row]);
    AS_IT_STANDS for (int j = 0; j < m4; j += 4) store(v + j, mul(load(v + j), share));
    store_some(v + m4, mul(last, share), m - m4);
  }
}

// ---- rows and columns -----------------------------------------------------------------------------------------------

EXPORT(lookUpRows)(float *out, const float *w, const float *b, const int *index, int n, int m) {
  for (int i = 0; i < n; i++, out += m) {
    const float *row = w + index[i] * m;
    int j = 0;
    AS_IT_STANDS for (; j + 4 <= m; j += 4) store(out + j, add(load(row + j), load(b + j)));
    AS_IT_STANDS for (; j < m; j++) out[j] = row[j] + b[j];
  }
}

INLINE void add_to(float *sum, const float *v, int length) {
  int j = 0;
  AS_IT_STANDS for (; j + 4 <= length; j += 4) store(sum + j, add(load(sum + j), load(v + j)));
  AS_IT_STANDS for (; j < length; j++) sum[j] += v[j];
}

EXPORT(addToRows)(float *w, const int *index, const float *d, int n, int m) {
  for (int i = 0; i < n; i++) add_to(w + index[i] * m, d + i * m, m);
}

EXPORT(addAllRows)(float *sum, const float *d, int n, int m) {
  for (int i = 0; i < n; i++) add_to(sum, d + i * m, m);
}

// ---- gradients and parameters as one vector -------------------------------------------------------------------------

__attribute__((export_name("sumOfSquares"))) double sumOfSquares(const float *v, int length) {
  v128_t even = wasm_f64x2_splat(0), odd = even; // in double precision: a large gradient's square is beyond a float
  int i = 0;
  AS_IT_STANDS for (; i + 4 <= length; i += 4) {
    v128_t low = wasm_f64x2_promote_low_f32x4(load(v + i));
    v128_t high = wasm_f64x2_promote_low_f32x4(wasm_i32x4_shuffle(load(v + i), load(v + i), 2, 3, 0, 1));
    even = wasm_f64x2_add(even, wasm_f64x2_mul(low, low));
    odd = wasm_f64x2_add(odd, wasm_f64x2_mul(high, high));
  }
  even = wasm_f64x2_add(even, odd);
  double sum = wasm_f64x2_extract_lane(even, 0) + wasm_f64x2_extract_lane(even, 1);
  AS_IT_STANDS for (; i < length; i++) sum += (double)v[i] * v[i];
  return sum;
}

EXPORT(scale)(float *v, float factor, int length) {
  int i = 0;
  AS_IT_STANDS for (; i + 4 <= length; i += 4) store(v + i, mul(load(v + i), splat(factor)));
  AS_IT_STANDS for (; i < length; i++) v[i] *= factor;
}

EXPORT(addScaled)(float *v, float factor, const float *u, int length) {
  int i = 0;
  AS_IT_STANDS for (; i + 4 <= length; i += 4) store(v + i, add(load(v + i), mul(splat(factor), load(u + i))));
  AS_IT_STANDS for (; i < length; i++) v[i] += factor * u[i];
}

INLINE f4 adam_step(f4 g, f4 *mean, f4 *square, float step, float spread) {
  *mean = add(*mean, mul(splat(0.1f), sub(g, *mean)));
  *square = add(*square, mul(splat(0.001f), sub(mul(g, g), *square)));
  return over(mul(splat(step), *mean), add(mul(wasm_f32x4_sqrt(*square), splat(spread)), splat(1e-8f)));
}

EXPORT(adamUpdate)(float *v, const float *g, float *mean, float *square, float step, float spread, int length) {
  int i = 0;
  AS_IT_STANDS for (; i + 4 <= length; i += 4) {
    f4 m = load(mean + i), s = load(square + i);
    store(v + i, sub(load(v + i), adam_step(load(g + i), &m, &s, step, spread)));
    store(mean + i, m);
    store(square + i, s);
  }
  int rest = length - i;
  f4 m = load_some(mean + i, rest, 0), s = load_some(square + i, rest, 0);
  store_some(v + i, sub(load_some(v + i, rest, 0), adam_step(load_some(g + i, rest, 0), &m, &s, step, spread)), rest);
  store_some(mean + i, m, rest);
  store_some(square + i, s, rest);
}
