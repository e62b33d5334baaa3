alias Depths = texture_depth_multisampled_2d;
