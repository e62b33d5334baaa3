// Several samples a pixel.
alias Samples = texture_multisampled_2d<f32>;
alias WholeSamples = texture_multisampled_2d<u32>;
const SAMPLES: i32 = 4;
// Where the first sample is, from the middle of its pixel. What it shows is there and not in the middle:
// on a slanted surface seen in few pixels that is far enough to put a point in its own shadow.
const FIRST_SAMPLE = vec2f(-0.125, -0.375);
