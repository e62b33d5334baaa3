// One sample a pixel: what would be the index of a sample is the level of the texture.
alias Samples = texture_2d<f32>;
alias WholeSamples = texture_2d<u32>;
const SAMPLES: i32 = 1;
const FIRST_SAMPLE = vec2f(0.0, 0.0);
