// Several samples a pixel.
alias Samples = texture_multisampled_2d<f32>;
const SAMPLES: i32 = 4;
