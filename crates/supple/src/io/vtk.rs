//! VTK legacy polydata.
