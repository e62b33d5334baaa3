// Several samples a pixel.
alias Depths = texture_depth_multisampled_2d;
alias Samples = texture_multisampled_2d<f32>;
const SAMPLES: i32 = 4;
